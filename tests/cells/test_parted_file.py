"""One file of several whose cells were dealt out together: the figures of its own cells in memory, and no records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from cells import test_parted_pair
from cells.test_parted_pair import KEYS, files
from engines.comparing import assert_same_figures, quiet
from sdckit.cells.pair import Pair
from sdckit.cells.parted_file import CellsOfWords, file_of
from sdckit.cells.parted_pair import deal_out
from sdckit.workflow.opened_release import count_ahead

opened = test_parted_pair.opened
SENSITIVE = ["ill", "job"]
CLOSE = (sdc.t_closeness, sdc.beta_likeness, sdc.delta_disclosure, sdc.alpha_k, sdc.l_diversity)


def test_figures_are_those_of_memory(opened: Callable[..., Pair]) -> None:
    original, releases = files()
    half = original.filter(pl.col("id") % 2 == 0)
    pair = opened(original, releases)
    count_ahead(pair, sdc.Scenario(keys=KEYS, sensitive=SENSITIVE))
    for at, frame in enumerate((original, *releases)):
        cells: Any = file_of(pair, at, keys=KEYS, sensitive=SENSITIVE)
        assert isinstance(cells, CellsOfWords)
        expected = quiet(sdc.k_anonymity, frame, keys=KEYS, missing="category")
        assert_same_figures(expected.to_dict()["figures"], quiet(sdc.k_anonymity, cells).to_dict()["figures"])
        for measure in CLOSE:
            expected = quiet(measure, frame, keys=KEYS, sensitive=SENSITIVE)
            found = quiet(measure, cells, sensitive=SENSITIVE)
            assert_same_figures(expected.to_dict()["figures"], found.to_dict()["figures"], measure.__name__)
    for measure in (sdc.k_map, sdc.delta_presence):
        expected = quiet(measure, half, original, keys=KEYS)
        found = quiet(measure, half, file_of(pair, 0, keys=KEYS), keys=KEYS)
        assert_same_figures(expected.to_dict()["figures"], found.to_dict()["figures"], measure.__name__)


def test_a_variable_may_lie_between_the_keys(opened: Callable[..., Pair]) -> None:
    """Files that were dealt out by fewer keys before: the variable's bits are above those of the last key."""
    original, releases = files()
    pair = opened(original, releases)
    deal_out(pair, ("age", "region", "ill", "size"), ("age", "region"))
    cells: Any = file_of(pair, 0, keys=KEYS, sensitive=["ill"])
    assert isinstance(cells, CellsOfWords)
    expected = quiet(sdc.l_diversity, original, keys=KEYS, sensitive="ill", missing="category")
    found = quiet(sdc.l_diversity, cells, sensitive="ill")
    assert_same_figures(expected.to_dict()["figures"], found.to_dict()["figures"])


def test_nothing_is_told_of_records(opened: Callable[..., Pair]) -> None:
    original, releases = files()
    pair = opened(original, releases)
    quiet(sdc.attribute_disclosure, pair, keys=KEYS, target="ill")
    cells = file_of(pair, 0, keys=KEYS, sensitive=["ill"])
    with pytest.raises(sdc.DataError, match="nothing of single records"):
        _ = quiet(sdc.k_anonymity, cells).records
    with pytest.raises(sdc.ColumnError, match="'job' is none of the variables"):
        quiet(sdc.t_closeness, cells, sensitive="job")
    bare = original.with_columns(size=pl.lit(None, pl.Float64))
    empty = opened(bare, [bare])
    deal_out(empty, tuple(KEYS), tuple(KEYS))
    with pytest.raises(sdc.DataError, match="'size' has no value in any record"):
        file_of(empty, 0, keys=KEYS)
    assert not isinstance(file_of(pair, 0, keys=["region"], sensitive=["job"]), CellsOfWords)
