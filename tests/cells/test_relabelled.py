"""Which columns of a release are spelt or coded otherwise than in its original."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from sdckit.cells.relabelled import relabelled
from sdckit.data.frames import open_frame

BEFORE = pl.DataFrame({"race": ["white", "black", None, "white"], "age": [30, 40, 50, 60], "born": [True, False] * 2})


@pytest.mark.parametrize("of", [pl.DataFrame.clone, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow, pl.DataFrame.lazy])
@pytest.mark.parametrize(
    ("changed", "names"),
    [
        ({}, ()),
        ({"race": ["White", "black", None, None]}, ("race",)),
        ({"race": [None, None, None, "white"]}, ()),
        ({"race": pl.Series(["black", "black", "white", None], dtype=pl.Enum(["white", "black", "other"]))}, ()),
        ({"race": ["white", "black", "white", "asian"]}, ("race",)),
        ({"age": [61, 62, 60, 30]}, ()),
        ({"age": [61, 61, 61, 61]}, ()),
        ({"age": [61, 62, 63, 30]}, ("age",)),
        ({"age": [None, None, 28.0, 29.0]}, ("age",)),
        ({"age": [None, None, None, None]}, ()),
        ({"age": [float("nan"), float("nan"), float("nan"), 30.0]}, ()),
        ({"age": ["30", "40", "50", "60"]}, ()),
        ({"born": [False, False, None, False]}, ()),
    ],
)
def test_columns_with_other_labels(of: Callable[[pl.DataFrame], Any], changed: dict[str, Any], names: Any) -> None:
    after = BEFORE.with_columns(**{name: pl.Series(name, values) for name, values in changed.items()})
    files = open_frame(of(BEFORE)), open_frame(of(after))
    assert relabelled(*files, ["race", "age", "born", "absent"]) == names


def test_an_original_without_values_tells_nothing_of_numbers() -> None:
    empty = BEFORE.with_columns(age=pl.lit(None, pl.Int64))
    assert relabelled(open_frame(empty), open_frame(BEFORE), ["age"]) == ()


def test_a_few_texts_that_are_new_are_no_other_labels() -> None:
    """A file made from a declared domain has some; one that is spelt otherwise is the original's."""
    many = pl.concat([BEFORE] * 20)
    for new, names in (("asian", ()), ("WHITE", ("race",))):
        after = many.with_columns(race=pl.when(pl.int_range(pl.len()) == 1).then(pl.lit(new)).otherwise("race"))
        assert relabelled(open_frame(many), open_frame(after), ["race"]) == names
