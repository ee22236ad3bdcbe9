"""Counts of two releases, against those that a data frame gives."""

from __future__ import annotations

import polars as pl
import pytest

from attacks.differencing.several import KEYS, people
from sdckit.attacks.differencing.counts_compared import compare_counts, relation_of, told_by_difference
from sdckit.attacks.differencing.earlier_releases import Earlier
from sdckit.attacks.differencing.opened_release import OpenedRelease, open_release
from sdckit.attacks.differencing.sketching import sketch_release
from sdckit.data.ledger.digests import Digester

DIGESTER = Digester(b"k" * 32)
ALL = [*KEYS, "job"]


def beside(new: pl.DataFrame, old: pl.DataFrame) -> tuple[OpenedRelease, Earlier]:
    opened = [open_release(one, ALL, id=None, name="it", role="keys") for one in (new, old)]
    return opened[0], Earlier("old", "", True, sketch_release(opened[1], [KEYS], ["job"], DIGESTER), DIGESTER)


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
    found = relation_of(*beside(data.head(here), data.head(there)), ALL)
    assert found is not None
    assert (found.word, found.added, found.removed) == (word, added, removed)
    assert found.columns == tuple(sorted(ALL))


def test_others_are_others_and_nothing_shared_is_nothing() -> None:
    both = beside(people(100), people(100, seed=2))
    found = relation_of(*both, ALL)
    assert found is not None
    assert found.word == "other"
    assert relation_of(*both, []) is None
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
