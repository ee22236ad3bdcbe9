"""The picture of a step passes the gate: rare values are pooled, small counts hidden."""

from __future__ import annotations

import json

import polars as pl
import pytest

from sdckit.errors import DataError
from sdckit.report.step_picture import picture_blocks, plain_picture
from sdckit.workflow.recipes.step_picture import picture_of

JOBS = pl.DataFrame(
    {"job": ["cook"] * 63 + ["smith"] * 41 + ["queen", "king"], "age": [*range(20, 50)] * 3 + [40] * 16}
)
BANDED = JOBS.with_columns(job=pl.when(pl.col("job").is_in(["queen", "king"])).then(None).otherwise("job"))


def test_a_rare_value_is_not_named_nor_a_small_count_told() -> None:
    plain = plain_picture(picture_of(JOBS, BANDED, "job"))
    assert "queen" not in json.dumps(plain)
    assert [(one["level"], one["n"]["text"]) for one in plain["before"]["rows"]] == [
        ("cook", "65"), ("smith", "40"), ("other", "<5"),
    ]  # fmt: skip
    assert plain["after"]["missing"]["text"] == "<5"


def test_exact_figures_are_for_the_room_only() -> None:
    plain = plain_picture(picture_of(JOBS, BANDED, "job"), internal=True)
    assert {"level": "queen", "n": 1} in [
        {"level": one["level"], "n": one["n"]["value"]} for one in plain["before"]["rows"]
    ]


def test_bins_add_up_in_the_ledger_and_are_drawn_for_both_sides() -> None:
    picture = picture_of(JOBS, JOBS.with_columns(age=pl.col("age") // 5 * 5), "age")
    drawn = picture_blocks(plain_picture(picture))
    assert [one.kind for one in drawn] == ["chart", "chart"]
    texts = [row["n"]["text"] for row in drawn[0].data["rows"]]  # type: ignore[union-attr]
    assert all(text.startswith("<") or int(text) % 5 == 0 for text in texts)


def test_a_variable_that_is_gone_is_told_in_words() -> None:
    blocks = picture_blocks(plain_picture(picture_of(JOBS, JOBS.drop("age"), "age")))
    assert blocks[1].kind == "paragraph"


def test_few_records_give_no_picture() -> None:
    with pytest.raises(DataError, match="fewer than 50 records"):
        plain_picture(picture_of(JOBS.head(20), None, "job"))
