"""What keys lost by coarsening, as one figure: by hand, with a key left out, moved, or in bands, in every engine."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from sdckit.errors import DataError
from sdckit.workflow.recipes.recipe_figures import COARSENING, CoarseningLoss

DATA = pl.DataFrame({"age": [10, 20, 30, 40], "sex": ["f", "m", "f", "m"], "pay": [1, 2, 3, 4]})
SCENARIO = sdc.Scenario(keys=["age", "sex"])


def loss(release: Any, figure: str = "loss", data: Any = DATA) -> float:
    return CoarseningLoss(figure, SCENARIO)(data, release)


def test_the_file_itself_lost_nothing() -> None:
    least = {"discernibility": 4.0, "average_class_size": 1.0, "ambiguity": 1.0}
    assert {figure: loss(DATA, figure) for figure in COARSENING} == {**dict.fromkeys(COARSENING, 0.0), **least}


@pytest.mark.parametrize("engine", ["polars", "pandas", "pyarrow"])
def test_bands_count_by_width_and_a_key_left_out_lost_all(engine: str) -> None:
    bands = sdc.recode(DATA, column="age", bands=[10, 30, None]).data.drop("sex")
    turn = {"polars": lambda frame: frame, "pandas": pl.DataFrame.to_pandas, "pyarrow": pl.DataFrame.to_arrow}[engine]
    data, release = turn(DATA), turn(bands)
    assert loss(release, data=data) == pytest.approx(((20 + 10) / 2 / 30 + 1) / 2)
    assert loss(release, "precision", data) == pytest.approx((0.5 + 1) / 2)
    assert loss(release, "discernibility", data) == 2**2 + 2**2


def test_a_key_that_was_changed_otherwise_has_no_loss_of_coarsening() -> None:
    with pytest.raises(DataError, match="sex"):
        loss(DATA.with_columns(sex=pl.Series(["f", "f", "m", "m"])))
