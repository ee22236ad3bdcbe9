"""Estimates of plans; that they are those in memory is tried in `tests/utility/test_sums_of_plans.py`."""

from __future__ import annotations

import polars as pl

from sdckit.cells.pair import open_files
from sdckit.utility.models.compare_estimates import plan_estimates

FILE = pl.DataFrame({"x": [1.0, 2.0, 3.0], "c": ["a", "b", "b"]})


def test_a_file_in_memory_or_a_column_of_words_is_left_to_others():
    assert plan_estimates(open_files(FILE, FILE), "mean", ["x"], None, 0.5, 0.95) is None
    assert plan_estimates(open_files(FILE.lazy(), FILE.lazy()), "mean", ["c"], None, 0.5, 0.95) is None


def test_proportions_name_their_levels_and_how_they_are_published():
    (names, files), published = plan_estimates(
        open_files(FILE.lazy(), FILE.lazy()), "proportion", ["c"], None, 0.5, 0.95
    )
    assert (names, published) == (("c=a", "c=b"), ["c=rare", "c=rare"])
    assert files[0].value.round(12).tolist() == [round(1 / 3, 12), round(2 / 3, 12)]
