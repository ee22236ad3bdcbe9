"""Columns of a generalised file: the level of each value, bits lost in one step and in two, widths of bands."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sdckit import DataError
from sdckit.cells.pair import open_files, read_pair
from sdckit.data.hierarchy import as_hierarchy
from sdckit.utility.losses.generalization_loss import SUPPRESSED, Column, entropy_in_steps, lattice_of, read_column

TOWNS = {"Graz": ["South", "*"], "Linz": ["North", "*"], "Wels": ["North", "*"]}


def column(before: list[object], after: list[object], levels: object = TOWNS) -> Column:
    files = open_files(pl.DataFrame({"x": before}), pl.DataFrame({"x": after}, schema_overrides={}))
    pair = read_pair(files, {"x": ("x",)}, aligned=True)
    return read_column(pair, "x", 0, as_hierarchy(levels) if levels else None, None)


def test_a_level_is_that_of_all_values_where_there_is_one() -> None:
    names = {"Other": ["Other", "*"], "A": ["Group", "*"], "B": ["Group", "*"]}
    of = column(["Other", "A", "B"], ["Other", "Group", "Group"], names)
    assert of.level.tolist() == [1, 1, 1]
    assert of.together == 1
    mixed = column(["Other", "A", "B"], ["Other", "A", "Group"], names)
    assert sorted(mixed.level.tolist()) == [0, 0, 1]
    assert mixed.together is None


def test_the_top_beside_other_values_is_suppressed_and_alone_is_a_level() -> None:
    assert column(["Graz", "Linz"], ["*", "North"]).level.tolist() == [SUPPRESSED, 1]
    assert column(["Graz", "Linz"], [None, "Linz"]).level.tolist() == [SUPPRESSED, 0]
    assert column(["Graz", "Linz"], ["*", "*"]).level.tolist() == [2, 2]
    assert column(["Graz", "Linz"], [None, None]).together == 0


def test_bits_are_lost_at_once_or_in_two_steps() -> None:
    of = column(["Graz", "Graz", "Linz", "Wels"], ["South", None, "North", "North"])
    half = -np.log2(2 / 4)
    assert of.entropy == pytest.approx(0 + half + 2)  # Linz and Wels a bit each, a suppressed Graz one of two
    gone = np.where(of.level == SUPPRESSED, of.times, 0)
    assert entropy_in_steps(of.leaf, 1, of.times, gone, of.lattice) == pytest.approx(2.0)  # South alone is suppressed
    assert of.most_entropy == pytest.approx(2 * half + 2 * 2)


def test_what_no_hierarchy_says_is_read_from_the_files() -> None:
    of = column([1, 2, 3, 3], ["low", "low", "3", None], None)
    assert of.lattice.height == 2  # above what they became one name for all
    assert of.lattice.size.tolist() == [1, 1, 1, 2, 1, 3]
    assert of.level.tolist() == [1, 1, 0, SUPPRESSED]
    with pytest.raises(DataError, match="became several"):
        column([1, 1], ["low", "high"], None)


def test_bands_of_numbers_count_by_their_width() -> None:
    levels = as_hierarchy({0: ["low"], 5: ["low"], 10: ["high"], 100: ["high"]})
    lattice, names = lattice_of(levels, (0.0, 10.0, 200.0))
    assert lattice.share[[names[1]["low"], names[1]["high"]]].tolist() == [0.1, 0.9]
    assert lattice.share[: len(names[0])].tolist() == [0.0] * 4


def test_what_is_no_generalisation_is_refused() -> None:
    with pytest.raises(DataError, match="no generalisation"):
        column(["Graz"], ["North"])
    with pytest.raises(DataError, match="no value in the original"):
        column([None, None], ["Graz", None])
    with pytest.raises(DataError, match="in no line of its hierarchy"):
        column(["Enns"], ["North"])


def test_missing_values_of_the_original_are_not_judged() -> None:
    of = column(["Graz", None, "Linz"], ["Graz", None, None])
    assert of.of_record.tolist().count(-1) == 1
    assert of.loss == 0.5
