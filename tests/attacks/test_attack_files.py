"""Options, columns and the warning about people in both files."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest

from attacks.made import CONTROL, ORIGINAL, OTHERS
from sdckit import Scenario
from sdckit.attacks.attack_files import (
    all_variables,
    file_notes,
    numeric_columns,
    open_attack,
    options,
    subgroups,
)
from sdckit.cells.pair import open_files
from sdckit.errors import ColumnError, DataError, SdcWarning

NAMES = tuple(ORIGINAL.columns)
ROLES = {"variables": NAMES}


def opened(original=ORIGINAL, released=OTHERS, control=CONTROL, roles=ROLES):
    return open_attack(open_files(original, released, control), roles=roles)


def test_options():
    found = options(20, 0.9, "größe", 7)
    assert (found.n_attacks, found.level, found.by) == (20, 0.9, ("größe",))
    assert found.rng.random() == np.random.default_rng(7).random()
    rng = np.random.default_rng(1)
    assert options(20, 0.9, None, rng).rng is rng


@pytest.mark.parametrize("n", [0, -1, 2.5, True, None, "10"])
def test_a_count_is_whole(n):
    with pytest.raises(DataError, match=r"n_attacks is how many .* whole number of 1 or more"):
        options(n, 0.95, None, None)


@pytest.mark.parametrize("level", [0, 1, 95, True, "0.95"])
def test_a_level_is_between_0_and_1(level):
    with pytest.raises(DataError, match="level is the confidence"):
        options(10, level, None, None)


@pytest.mark.parametrize("seed", [-1, 1.5, True, "x"])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(DataError, match="seed= takes a whole number"):
        options(10, 0.95, None, seed)


def test_one_column_of_subgroups_stands_without_a_list():
    found = subgroups("sex", ["rate"]), subgroups(["a", "b"], ["rate"]), subgroups(None, ["rate"])
    assert found == (("sex",), ("a", "b"), ())
    with pytest.raises(ColumnError, match="by"):
        subgroups(7, [])
    for name in ("release", "Rate"):
        with pytest.raises(ColumnError, match=f"by: '{name}' is the name of a result column"):
            subgroups(name, ["rate"])


def test_which_variables():
    notes = {}
    assert all_variables(open_files(ORIGINAL, OTHERS, CONTROL, id="day"), None, None, notes) == NAMES[:-1]
    assert notes == {}
    wide = ORIGINAL.with_columns(extra=1)
    assert all_variables(open_files(wide, OTHERS, CONTROL), None, None, notes) == NAMES
    assert notes == {"variables": "not in every file, left out: extra"}
    scenario = Scenario(keys=["True"], sensitive=["day"])
    assert all_variables(open_files(ORIGINAL, OTHERS), None, scenario, {}) == ("True", "day")
    with pytest.raises(ColumnError, match="variables= is empty"):
        all_variables(open_files(ORIGINAL, OTHERS), [], None, {})


def test_which_are_numeric():
    files = opened()
    assert numeric_columns(files, NAMES, None) == (NAMES[0], NAMES[1], NAMES[2], "day")
    assert numeric_columns(files, NAMES, ["day"]) == ("day",)
    scenario = Scenario(keys=["True"], numeric=[NAMES[0]])
    assert numeric_columns(files, NAMES, None, scenario) == (NAMES[0],)
    with pytest.raises(ColumnError, match="'days' is none of the columns used"):
        numeric_columns(files, NAMES, ["days"])
    with pytest.raises(DataError, match="numeric 'größe' holds text"):
        numeric_columns(files, NAMES, ["größe"])


def test_long_whole_numbers_are_no_distances():
    """2**60 and 2**60 + 1 are one number as floats."""
    long = pl.DataFrame({"id": [2**60 + i for i in range(9)], "x": range(9)})
    files = opened(long, long.with_columns(pl.col("id") + 1), None, roles={"variables": ["id"]})
    assert numeric_columns(files, ["id", "x"], None) == ("x",)
    with pytest.raises(DataError, match="whole numbers of 16 digits or more"):
        numeric_columns(files, ["id", "x"], ["id"])


def test_an_identical_release_is_said():
    notes = {}
    file_notes(opened(released=[OTHERS, ORIGINAL]), NAMES, notes)
    assert notes["released"].startswith("1 of 2 releases have the original's values")


@pytest.mark.parametrize("shared", [1, 40])
def test_people_in_both_files_are_counted(shared):
    control = pl.concat([CONTROL, ORIGINAL.head(shared)])
    with pytest.warns(SdcWarning, match=f"^{shared} of {280 + shared} records of the control file equal"):
        files = opened(control=control)
    notes = {}
    file_notes(files, NAMES, notes)
    assert notes["control"].startswith(f"{shared} of {280 + shared} records")
    assert ("residual" in notes) == (shared == 40)
    assert files.control_state == ("overlapping" if shared == 40 else "shared")


def test_the_state_of_the_control_file():
    assert (opened(control=None).control_state, opened().control_state) == ("none", "apart")


def test_the_original_itself_as_control_is_no_coincidence():
    rng = np.random.default_rng(1)
    coarse = pl.DataFrame({"x": rng.integers(0, 3, 200)})
    with pytest.warns(SdcWarning, match="^200 of 200 records"):
        opened(coarse, coarse.reverse(), coarse, roles={"variables": ["x"]})


@pytest.mark.parametrize("levels", [2, 12, 40])
def test_coincidences_are_no_warning(levels):
    rng = np.random.default_rng(levels)
    files = [
        pl.DataFrame({"x": rng.integers(0, levels, 200), "y": rng.integers(0, 12, 200)}) for _ in range(3)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opened(*files, roles={"variables": ["x", "y"]})
