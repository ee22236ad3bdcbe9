"""One release against one before it: what is looked for, and what is said where it cannot be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from attacks.differencing.several import KEYS, people, possible, together, with_gaps
from sdckit.attacks.differencing.compare_releases import (
    Candidates,
    EarlierRelease,
    candidates_there,
    certain_together,
    compare_counts,
    own_candidates,
    shown_by_link,
    shown_by_match,
    told_by_difference,
)
from sdckit.attacks.differencing.linked_releases import coding_of, link_rows, open_sketch
from sdckit.attacks.differencing.release_ledger import Earlier, OpenedRelease, open_release, sketch_release
from sdckit.data.ledger.digests import Digester

DATA = people(200)
OF = {"keys": KEYS, "sensitive": ["job"]}


@pytest.fixture
def ledger(tmp_path: Path) -> sdc.ReleaseLedger:
    made = sdc.ReleaseLedger.create(tmp_path / "ledger", key=tmp_path / "ledger.key", survey="Survey")
    return made.add(DATA.drop("id"), name="first", people="wave 1", date="2023", **OF)  # type: ignore[arg-type]


def against(new: pl.DataFrame, **given: object) -> EarlierRelease:
    (entry,) = sdc.differencing(new, **{**OF, **given}).entries  # type: ignore[arg-type]
    return entry


def test_a_sketch_without_ids_says_that_candidates_were_not_looked_for(ledger: sdc.ReleaseLedger) -> None:
    few = {"keys": KEYS[:1], "sensitive": ["job"]}  # that link nobody together either
    found = against(DATA.head(199), ledger=ledger, **few)
    assert (found.name, found.date, found.source, found.linked) == ("first", "2023", "sketch", 0)
    assert found.relation == "subset"
    assert found.related == "the release has all of its records but 1"
    result = sdc.differencing(DATA.head(199), ledger=ledger, **few)  # type: ignore[arg-type]
    assert result.not_intersected == ("first",)
    assert any("nothing says which records are the same person's" in note for note in found.notes)


def test_people_of_another_wave_are_compared_by_counts_only(ledger: sdc.ReleaseLedger) -> None:
    new = with_gaps(pl.concat([DATA, people(50, seed=9)]), "age", 0.3)
    same, other = against(new, ledger=ledger, people="wave 1"), against(new, ledger=ledger, people="wave 2")
    assert same.given_back > 0
    assert (other.given_back, other.unprotected, other.told_by_difference) == (0, 0, 0)
    assert not other.same_people
    assert other.new_uniques == same.new_uniques > 0
    assert other.notes == ("it is about other people, so nothing is told of anybody together with it",)


def test_a_file_finds_no_less_than_its_sketch(ledger: sdc.ReleaseLedger) -> None:
    new = with_gaps(DATA, "age", 0.3)
    sketch, file = against(new, ledger=ledger), against(new, earlier=DATA, aligned=True)
    gone = new["age"].is_null().sum()
    assert sketch.given_back <= file.given_back == gone
    assert (file.source, file.linked) == ("file", 200)


def test_a_ledger_of_another_survey_or_other_codings_is_told(ledger: sdc.ReleaseLedger) -> None:
    with pytest.raises(sdc.ColumnError, match="no column that 'first' of the ledger has: a ledger of another survey"):
        sdc.differencing(DATA, keys=["band"], sensitive=["part"], ledger=ledger)
    other = DATA.select(age=pl.format("{} years", "age"), sex=pl.format("sex {}", "sex"))
    with pytest.raises(sdc.ColumnError, match=r"no column is coded as in 'first' .*coded otherwise: sex, age"):
        sdc.differencing(other, keys=["sex", "age"], ledger=ledger)


def test_some_columns_coded_otherwise_are_named_and_the_rest_compared(ledger: sdc.ReleaseLedger) -> None:
    found = against(DATA.with_columns(age=pl.col("band")), ledger=ledger)
    assert found.otherwise == ("age",)
    assert found.counted == ("region", "sex")
    assert found.relation == "same"


def test_ids_that_did_not_go_out_link_the_sketches(tmp_path: Path) -> None:
    ledger = sdc.ReleaseLedger.create(tmp_path / "ids", key=tmp_path / "ids.key", survey="Survey")
    ledger = ledger.add(DATA, name="first", keys=["region", "band"], sensitive=["job"], id="id")
    new = {"keys": ["part", "sex", "age"], "sensitive": ["job"]}
    by_sketch = sdc.differencing(DATA, ledger=ledger, id="id", **new)  # type: ignore[arg-type]
    by_file = sdc.differencing(DATA, earlier=DATA, earlier_keys=["region", "band"], id="id", **new)  # type: ignore[arg-type]
    assert by_sketch.certain_together == by_file.certain_together > 0
    assert by_sketch.entries[0].linked == 200
    assert by_sketch.records.equals(by_file.records)


# Counts of two releases, against those that a data frame gives.


DIGESTER = Digester(b"k" * 32)
ALL = [*KEYS, "job"]


def beside(new: pl.DataFrame, old: pl.DataFrame) -> tuple[OpenedRelease, OpenedRelease]:
    """Two releases, the second as its sketch has it."""
    opened = [open_release(one, ALL, id=None, name="it", role="keys") for one in (new, old)]
    sketch, _ = sketch_release(opened[1], [KEYS], ["job"], DIGESTER)
    there = open_sketch(opened[0], Earlier("old", "", True, sketch, DIGESTER))
    assert there is not None
    return opened[0], there


def test_what_differs_appears_and_vanishes_is_what_frames_say() -> None:
    old, new = people(300), people(300, seed=7)
    both = (
        new.group_by(KEYS).len("here").join(old.group_by(KEYS).len("there"), on=KEYS, how="full", coalesce=True)
        .fill_null(0).with_columns(d=pl.col("here").cast(pl.Int64) - pl.col("there").cast(pl.Int64))
    )  # fmt: skip
    found = compare_counts(*beside(new, old), KEYS, within=2)
    assert found is not None
    assert found.columns == tuple(sorted(KEYS))
    assert found.differing == both.filter(pl.col("d").abs().is_between(1, 2)).height
    assert found.added == both.filter(pl.col("d") > 0)["d"].sum()
    assert found.removed == -both.filter(pl.col("d") < 0)["d"].sum()
    assert found.new_uniques == both.filter(pl.col("here") == 1, pl.col("there") == 0).height
    assert found.vanished_uniques == both.filter(pl.col("here") == 0, pl.col("there") == 1).height
    assert found.kept_uniques == both.filter(pl.col("here") == 1, pl.col("there") == 1).height
    assert min(found.differing, found.new_uniques, found.vanished_uniques, found.kept_uniques) > 0


@pytest.mark.parametrize(
    ("here", "there", "word", "added", "removed"),
    [(300, 300, "same", 0, 0), (300, 299, "superset", 1, 0), (290, 300, "subset", 0, 10)],
)
def test_one_record_more_makes_a_superset(here: int, there: int, word: str, added: int, removed: int) -> None:
    data = people(300)
    found = compare_counts(*beside(data.head(here), data.head(there)), ALL)
    assert found is not None
    assert (found.word, found.added, found.removed) == (word, added, removed)
    assert found.columns == tuple(sorted(ALL))


def test_others_are_others_and_nothing_shared_is_nothing() -> None:
    both = beside(people(100), people(100, seed=2))
    found = compare_counts(*both, ALL)
    assert found is not None
    assert found.word == "other"
    assert compare_counts(*both, []) is None
    assert compare_counts(*both, [], within=1) is None


SMALL = pl.DataFrame({"region": [1] * 4 + [2] * 2, "sex": ["f"] * 6, "age": [1] * 6,
                      "job": ["a", "b", "b", "a", "c", "c"]})  # fmt: skip
ONE = pl.DataFrame({"region": [1], "sex": ["f"], "age": [1], "job": ["b"]})


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (ONE, 1),  # somebody joins a group of two jobs: theirs is told
        (pl.concat([ONE, ONE]), 2),
        (pl.concat([ONE, ONE.with_columns(job=pl.lit("a"))]), 0),  # two jobs for two people
        (ONE.with_columns(region=pl.lit(2, pl.Int64), job=pl.lit("c")), 0),  # the release tells it alone
        (ONE.with_columns(region=pl.lit(3, pl.Int64)), 0),  # the release tells it alone
        (ONE.with_columns(job=pl.lit(None, pl.String)), 0),  # hidden
    ],
)
def test_a_difference_tells_the_job_of_who_joins_or_leaves(more: pl.DataFrame, told: int) -> None:
    large = pl.concat([SMALL, more])
    assert told_by_difference(*beside(large, SMALL), KEYS, "job", within=3) == told
    assert told_by_difference(*beside(SMALL, large), KEYS, "job", within=3) == told
    if told == 2:
        assert told_by_difference(*beside(large, SMALL), KEYS, "job", within=1) == 0


def test_a_difference_of_keys_that_are_not_counted_tells_nothing() -> None:
    assert told_by_difference(*beside(SMALL, SMALL), [], "job", within=3) == 0


# Values hidden in one release and shown in the other.


def opened(data: pl.DataFrame) -> OpenedRelease:
    return open_release(data, ALL, id=None, name="it", role="keys")


def matched(new: pl.DataFrame, old: pl.DataFrame) -> tuple[list[int], list[int]]:
    back, bare = shown_by_match(*beside(new, old), ALL)
    return np.flatnonzero(back["age"]).tolist(), np.flatnonzero(bare["age"]).tolist()


def alone_but_for_age(*files: pl.DataFrame) -> list[bool]:
    rest = ["region", "sex", "job"]
    flags = [one.select(pl.len().over(rest) == 1).to_series().to_list() for one in files]
    return [all(one) for one in zip(*flags, strict=True)]


def test_linked_rows_are_compared_value_by_value() -> None:
    old = people(50)
    new = with_gaps(old, "age", 0.2)
    rows = np.where(np.arange(50) < 40, np.arange(50), -1)
    back, bare = shown_by_link(opened(new), opened(old), rows, {name: {} for name in ALL})
    gone = new["age"].is_null().to_numpy()
    assert back["age"].tolist() == (gone & (rows >= 0)).tolist()
    assert not bare["age"].any()
    back, bare = shown_by_link(opened(old), opened(new), rows, {name: {} for name in ALL})
    assert bare["age"].tolist() == (gone & (rows >= 0)).tolist()
    assert not back["age"].any()


def test_without_a_link_those_alone_in_both_are_found_in_both_directions() -> None:
    old = people(60)
    new = with_gaps(old, "age", 0.3)
    expected = [
        row for row, (alone, gone) in enumerate(zip(alone_but_for_age(old, new), new["age"].is_null(), strict=True))
        if alone and gone
    ]  # fmt: skip
    assert len(expected) > 2
    assert matched(new, old) == (expected, [])
    assert matched(old, new) == ([], expected)


def test_values_hidden_in_both_are_told_by_neither() -> None:
    new = with_gaps(people(60), "age", 0.3)
    assert matched(new, new) == ([], [])


def test_ids_of_a_ledger_find_every_hidden_value_in_both_directions(tmp_path: Path) -> None:
    old = people(300)
    new = with_gaps(with_gaps(old, "age", 0.2), "sex", 0.2, seed=7)
    gone = new.select(pl.any_horizontal(pl.col("age", "sex").is_null())).to_series().to_list()
    for name, here, there in (("given_back", new, old), ("unprotected", old, new)):
        made = sdc.ReleaseLedger.create(tmp_path / name, key=tmp_path / f"{name}.key", survey="Survey")
        made = made.add(there, name="first", id="id", **OF)  # type: ignore[arg-type]
        result = sdc.differencing(here, ledger=made, id="id", **OF)  # type: ignore[arg-type]
        assert result.records[name].to_list() == gone
        assert (result.given_back, result.unprotected) == ((sum(gone), 0) if name == "given_back" else (0, sum(gone)))


# Values possible in several releases, against going through all pairs of records; from sketches the same.


HERE, THERE = ["part", "sex", "age"], ["region", "band"]


@pytest.mark.parametrize("gaps", [(), ("band",), ("job",), ("age", "region", "job")])
def test_files_and_sketches_find_what_pairs_of_records_say(gaps: tuple[str, ...]) -> None:
    data = people(250)
    for number, column in enumerate(gaps):
        data = with_gaps(data, column, 0.05, seed=number)
    moved = data.sample(fraction=1.0, shuffle=True, seed=3)
    new = open_release(data, [*HERE, "job"], id="id", name="new", role="keys")
    old = open_release(moved, [*THERE, "job"], id="id", name="old", role="keys")
    own = own_candidates(new, HERE, "job")
    expected = together(possible(data, HERE, "job"), possible(data, THERE, "job"))
    rows = np.argsort(moved["id"].to_numpy())[np.argsort(np.argsort(data["id"].to_numpy()))]
    assert (moved["id"].to_numpy()[rows] == data["id"].to_numpy()).all()
    coding = coding_of(new.levels["job"], old.levels["job"], rows, alike=True)
    assert coding is not None
    assert coding.whole
    by_file, odd = certain_together(own, [candidates_there(new, old, rows, THERE, ("job", "job"), coding)])
    assert by_file.tolist() == expected
    assert not odd.any()
    sketch, _ = sketch_release(old, [THERE], ["job"], DIGESTER)
    earlier = Earlier("old", "", True, sketch, DIGESTER)
    opened, there = open_sketch(new, earlier), link_rows(new, earlier, "id", aligned=False)
    assert opened is not None
    assert there is not None
    coding = coding_of(new.levels["job"], opened.levels["job"], there, alike=True)
    assert coding is not None
    seen = candidates_there(new, opened, there, THERE, ("job", "job"), coding)
    assert certain_together(own, [seen])[0].tolist() == expected
    if not gaps:
        assert any(expected)


def test_people_who_are_not_in_the_earlier_release_are_told_nothing_of() -> None:
    data = people(100)
    old = open_release(data.head(60), [*THERE, "job"], id="id", name="old", role="keys")
    new = open_release(data, [*HERE, "job"], id="id", name="new", role="keys")
    own = own_candidates(new, HERE, "job")
    rows = np.where(np.arange(100) < 60, np.arange(100), -1)
    coding = coding_of(new.levels["job"], old.levels["job"], rows, alike=True)
    assert coding is not None
    found, _ = certain_together(own, [candidates_there(new, old, rows, THERE, ("job", "job"), coding)])
    assert not found[60:].any()


def test_values_that_contradict_each_other_are_told() -> None:
    own = Candidates(np.array([[1], [3]], np.uint64), np.array([True, False]))
    other = Candidates(np.array([[2], [2]], np.uint64), np.array([True, False]))
    found, odd = certain_together(own, [other])
    assert found.tolist() == [False, True]
    assert odd.tolist() == [True, False]


def test_a_value_that_only_the_earlier_release_has_is_one_of_its_values() -> None:
    new = open_release(pl.DataFrame({"a": [1, 1], "s": ["x", "y"]}), ["a", "s"], id=None, name="new", role="keys")
    old = open_release(pl.DataFrame({"b": [1, 1], "s": ["x", "z"]}), ["b", "s"], id=None, name="old", role="keys")
    coding = coding_of(new.levels["s"], old.levels["s"], np.array([0, 1]), alike=True)
    assert coding is not None
    seen = candidates_there(new, old, np.array([0, 1]), ["b"], ("s", "s"), coding)
    assert not seen.alone.any()
    assert seen.sets.tolist() == [[1], [1]]
