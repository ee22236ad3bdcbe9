"""Options, columns and the warning about people in both files."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest

from attacks.made import CONTROL, ORIGINAL, OTHERS
from sdckit import Scenario
from sdckit.attacks import attack_files as nearest_rows
from sdckit.attacks.attack_files import (
    AttackFiles,
    Outcome,
    all_variables,
    attack_releases,
    draw_nearest,
    draw_targets,
    encode_files,
    file_notes,
    numeric_columns,
    open_attack,
    options,
    some_of,
    subgroups,
)
from sdckit.cells.pair import open_files, open_pair
from sdckit.errors import ColumnError, DataError, SdcWarning
from sdckit.numerics.search.neighbours import pairwise, prepare

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


def of_few_values(rng: np.random.Generator, n: int) -> pl.DataFrame:
    """People of whom nine in ten have the same values as others of their file."""
    return pl.DataFrame({"age": (rng.gamma(8, 5, n) // 5).astype(int), "educ": rng.integers(0, 5, n)})


def test_other_people_of_few_values_are_not_said_to_be_in_the_file():
    """Of 200 files made alike 94 were, by the coverage of the smaller file; people of the original still are."""
    rng, roles = np.random.default_rng(1), {"variables": ["age", "educ"]}
    said = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SdcWarning)
        for _ in range(200):
            original, control = of_few_values(rng, 300), of_few_values(rng, 100)
            said += opened(original, original, control, roles).control_state != "apart"
        assert said <= 4
        for seed in range(20):
            alone = pl.DataFrame({"age": range(100, 140), "educ": [1] * 40})
            original = pl.concat([of_few_values(rng, 800), alone], how="vertical_relaxed")
            files = opened(original, original, original.sample(400, seed=seed), roles)
            assert files.control_state == "overlapping"


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_chance_is_that_of_a_random_split(share):
    """One split of a hundred is beyond it, or few more; where every group is in both files it always is."""
    rng = np.random.default_rng(1)
    group = np.repeat(np.arange(240), rng.choice([1, 1, 1, 2, 3, 6], 240))
    k, beyond = int(group.max()) + 1, 0
    for _ in range(2000):
        control = rng.permutation(len(group)) < share * len(group)
        beyond += nearest_rows._is_beyond_chance(
            np.bincount(group[~control], minlength=k), np.bincount(group[control], minlength=k)
        )
    assert 0 < beyond <= 40
    assert nearest_rows._is_beyond_chance(np.full(k, 1), np.full(k, 2))


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
    files = [pl.DataFrame({"x": rng.integers(0, levels, 200), "y": rng.integers(0, 12, 200)}) for _ in range(3)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opened(*files, roles={"variables": ["x", "y"]})


# Nearest rows by brute force, and ties that are drawn evenly.


ROWS_NAMES = ORIGINAL.columns


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("names", [ROWS_NAMES, ["größe", "age in years"], ["True"]])
def test_the_nearest_are_drawn(names, k, monkeypatch):
    monkeypatch.setattr(nearest_rows, "LISTED", 500)
    files = AttackFiles(open_pair(ORIGINAL, OTHERS, CONTROL, categories={"x": names}, attack=True))
    own, base, _ = encode_files(files, names, [name for name in names if files.ordered(name)], 0)
    rows = draw_nearest(prepare(base), base, own, k, np.random.default_rng(1))
    away = pairwise(own, base)
    assert rows.shape == (300, k)
    drawn = np.sort(np.take_along_axis(away, rows, axis=1), axis=1)
    assert drawn == pytest.approx(np.sort(away, axis=1)[:, :k], abs=1e-9)
    assert all(len(set(row)) == k for row in rows.tolist())


def test_ties_have_the_same_chance():
    base = pl.DataFrame({"x": [0.0, 1.0, 1.0, 3.0, 1.0]})
    asked = pl.DataFrame({"x": [1.0] * 3000 + [0.4] * 3000})
    files = AttackFiles(open_pair(asked, base, None, categories={"x": ["x"]}, attack=True))
    own, release = encode_files(files, ["x"], ["x"], 0)
    rows = draw_nearest(prepare(release), release, own, 1, np.random.default_rng(1))[:, 0]
    assert np.bincount(rows[:3000], minlength=5)[[1, 2, 4]] / 3000 == pytest.approx(np.full(3, 1 / 3), abs=0.05)
    assert set(rows[3000:].tolist()) == {0}
    two = draw_nearest(prepare(release), release, own, 2, np.random.default_rng(1))[3000:]
    assert (two == 0).any(axis=1).all()  # the closer one is always there
    assert np.bincount(two[two > 0])[[1, 2, 4]] / 3000 == pytest.approx(np.full(3, 1 / 3), abs=0.05)


def test_missing_is_equal_to_missing():
    known = pl.DataFrame({"x": [None, 5.0], "y": ["a", None]})
    release = pl.DataFrame({"x": [1.0, None, 9.0], "y": ["a", "a", None]})
    files = AttackFiles(open_pair(known, release, None, categories={"x": ["x", "y"]}, attack=True))
    own, base = encode_files(files, ["x", "y"], ["x"], 0)
    assert pairwise(own, base).tolist() == [[0.5, 0.0, 1.0], [0.75, 1.0, 0.25]]


@pytest.mark.parametrize(("n", "k"), [(1, 1), (5, 2), (50, 3), (9, 9)])
def test_some_of_many_are_different_and_even(n, k):
    found = some_of(n, k, 4000, np.random.default_rng(1))
    assert found.shape == (4000, k)
    assert all(len(set(row)) == k for row in found.tolist())
    share = np.bincount(found.ravel(), minlength=n) / 4000
    assert share == pytest.approx(np.full(n, k / n), abs=0.05)


# Who is attacked.


FILES = AttackFiles(open_pair(ORIGINAL, [OTHERS, OTHERS], CONTROL, categories={"x": ["größe", "True"]}, attack=True))


def test_as_many_as_asked_for_each_once():
    notes = {}
    targets = draw_targets(FILES, options(50, 0.95, None, 1), notes)
    assert len(np.unique(targets.members)) == len(np.unique(targets.others)) == 50
    assert targets.members.max() < 300
    assert notes == {}
    again = draw_targets(FILES, options(50, 0.95, None, 1), {})
    assert (again.members == targets.members).all()


def test_no_more_than_there_are():
    notes = {}
    targets = draw_targets(FILES, options(290, 0.95, None, 1), notes)
    assert (len(targets.members), len(targets.others)) == (290, 280)
    assert "the control file has 280 records" in notes["n_control"]
    targets = draw_targets(FILES, options(500, 0.95, None, 1), notes)
    assert targets.members.tolist() == list(range(300))
    assert "500 attacks asked for, 300 records there are" in notes["n_attacks"]
    balanced = draw_targets(FILES, options(500, 0.95, None, 1), notes, balanced=True)
    assert "the smaller file has 280 records: as many of either" in notes["n_attacks"]
    assert len(balanced.members) == len(balanced.others) == 280


def test_subgroups():
    targets = draw_targets(FILES, options(20, 0.95, ["größe", "True"], 1), {})
    assert [part.labels for part in targets.parts] == [
        (),
        *FILES.pair.group_labels(["größe", "True"], control=True).values(),
    ]
    for part in targets.parts[1:]:
        rows = ORIGINAL[targets.members[part.members].tolist()]
        assert {(sex, str(true)) for sex, true in rows.select("größe", "True").rows()} == {part.labels}
        assert len(rows) == 20


def test_tallied():
    asked = options(20, 0.95, "größe", 1)
    targets = draw_targets(FILES, asked, {})

    def attack(j):
        members = np.arange(len(targets.members)) % 2 == j % 2
        return Outcome(members, np.zeros(len(targets.others), bool), np.full(len(members), 0.25))

    per_release, groups, hits = attack_releases(targets, FILES, attack, asked, {})
    assert [one["success_rate"] for one in per_release] == [0.5, 0.5]
    assert per_release[0]["baseline_rate"] == 0.25
    assert [group.release for group in groups] == [1, 1, 2, 2]
    assert [len(set(rows.tolist())) for rows, _ in hits] == [20, 20]
    assert (np.mean([found for _, found in hits], axis=0) == 0.5).all()


def test_numbers_of_people_that_nobody_chose_are_named():
    numbered = ORIGINAL.with_row_index("pid")
    opened = open_files(numbered, numbered[::-1])
    with pytest.warns(SdcWarning, match="^pid: says whose a row is"):
        assert "pid" in all_variables(opened, None, None, {})
    assert all_variables(opened, ["pid"], None, {}) == ("pid",)
    keys = ORIGINAL.columns[:2]
    assert all_variables(opened, None, Scenario(keys=keys), {}) == tuple(keys)
