"""Steps as a recipe file holds them."""

from __future__ import annotations

import tomllib

import numpy as np
import polars as pl
import pytest

from sdckit.data.columns import code_column
from sdckit.data.frames import open_frame
from sdckit.identity.contributions.recode_steps import along, grouped, in_bands, other, step_text


def coded(values):
    return code_column(open_frame(pl.DataFrame({"x": values}))["x"])


def test_names_and_values_are_quoted():
    labels = ['a "b"', "c, d", "e = f"]
    step = other("x y", coded(labels), labels, np.array([0, 0, 1]))
    found = tomllib.loads(step_text(step))["steps"][0]
    assert found == {
        "method": "recode", "column": "x y", "groups": {"other": ['a "b"', "c, d"]}, "outside": "keep",
    }  # fmt: skip
    assert step_text(None) == ""


def test_a_level_called_other():
    labels = ["other", "b", "c"]
    assert list(other("x", coded(labels), labels, np.array([0, 0, 1]))["groups"]) == ["other_"]


def test_numbers_become_text_so_all_are_named():
    step = other("x", coded([1, 2, 3]), ["1", "2", "3"], np.array([0, 0, 1]))
    assert step["groups"] == {"other": [1, 2], "3": [3]}
    assert "outside" not in step


@pytest.mark.parametrize("values", [[b"a", b"b"], [1.5, 2.5], [f"v{i}" for i in range(300)]])
def test_what_a_recipe_cannot_name(values):
    one = coded(values)
    labels = one.labels(np.arange(len(values)))
    assert grouped("x", one, labels, np.zeros(len(values), int)) is None
    assert other("x", one, labels, np.zeros(len(values), int)) is None


def test_hierarchies_need_a_file_and_text_beside_what_is_kept():
    text, numbers = coded(["11", "12"]), coded([11, 12])
    assert along("x", text, "", 1, missed=False) is None
    assert along("x", numbers, "t.csv", 1, missed=True) is None
    assert along("x", numbers, "t.csv", 2, missed=False) == {
        "method": "recode", "column": "x", "hierarchy": "t.csv", "level": 2,
    }  # fmt: skip
    assert along("x", text, "t.csv", 1, missed=True)["outside"] == "keep"


def test_bands_are_open():
    text = step_text(in_bands("pay", np.array([0.5, 1.0])))
    assert tomllib.loads(text)["steps"][0]["bands"] == [float("-inf"), 0.5, 1, float("inf")]
