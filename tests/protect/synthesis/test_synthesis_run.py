"""The sequence: what is shared between releases, and what is counted of them."""

from __future__ import annotations

import numpy as np
import polars as pl

from sdckit.data.frames import open_frame
from sdckit.protect.synthesis.synthesis_models import Settings, read_models
from sdckit.protect.synthesis.synthesis_run import Plan, changed_values, copied_rows, draw_releases, fit_all
from sdckit.protect.synthesis.synthesis_variables import NEW, Values, read_variable

FRAME = pl.DataFrame({"sex": ["f", "m"] * 20, "age": [20, 60] * 20, "x": [1.0, 2.0, 3.0, 4.0] * 10})
V = {name: read_variable(open_frame(FRAME)[name]) for name in FRAME.columns}


def plan(models="cart", proper=False, rows=tuple(range(40))):
    order = ("age", "x")
    return Plan(
        variables=V, order=order, predictors={"age": ("sex",), "x": ("sex", "age")},
        chosen=read_models(models, [V[name] for name in order], dict.fromkeys(order, 0.0)), rules={},
        rows=np.array(rows), fit_rows=np.arange(40), settings=Settings(5, 3, proper),
    )  # fmt: skip


def test_fits_are_shared_unless_releases_differ_in_parameters():
    assert set(fit_all(plan(), 3, np.random.default_rng(0))) == {("age", 0), ("x", 0)}
    assert len(fit_all(plan(proper=True), 3, np.random.default_rng(0))) == 6
    assert len(fit_all(plan({"x": "normal"}, proper=True), 3, np.random.default_rng(0))) == 4


def test_only_the_records_asked_for_are_drawn():
    some = plan(rows=np.array([0, 3]))
    (made,) = draw_releases(some, fit_all(some, 1, np.random.default_rng(0)), 1, np.random.default_rng(1))
    assert made["age"].number.tolist() == [20, 60]
    assert changed_values(some, made)["age"] == 0


def test_counts():
    some = plan(rows=np.array([0, 1, 2]))
    made = {
        "age": V["age"].of_levels(np.array([0, 1, 1])),
        "x": Values(np.array([0, 0, NEW]), np.array([1.0, 1.0, 1.5])),
    }
    assert changed_values(some, made) == {"age": 1, "x": 2}
    assert copied_rows(some, made, ("age", "x")) == 1  # an age of 60 never goes with an x of 1
    assert copied_rows(some, made, ("age",)) == 3
