"""Releases held against each other: a file worked out by hand.

No other package looks for what releases disclose together, so there is no figure to compare with but this, and the
oracle of `attacks/differencing/several.py`.
"""

from __future__ import annotations

import polars as pl

from sdckit import differencing

# Twelve people. By region the jobs are {a, b} in n, {b, c} in s, {a, c} in e; by age {a, b, c} in both classes, but
# young people in n and e who are no a, and old ones in s who are no b, are told by nothing.
PEOPLE = pl.DataFrame({
    "id": range(12),
    "region": ["n"] * 4 + ["s"] * 4 + ["e"] * 4,
    "age": ["y", "y", "o", "o"] * 3,
    "job": ["a", "b", "a", "b", "b", "c", "b", "c", "a", "a", "c", "c"],
})  # fmt: skip
# Of each person the jobs of the region and the jobs of the shift; one is left where they share one only.
SHIFTS = PEOPLE.with_columns(shift=pl.Series([1, 2, 1, 2, 2, 1, 2, 1, 1, 1, 3, 3]))
# shift 1: a a c c a a -> {a, c}; 2: b b b b -> {b}, told alone; 3: c c -> {c}, told alone.


def test_the_jobs_that_two_releases_tell_together() -> None:
    """Shift 1 leaves {a, c}: with {a, b} of n that is a (0 and 2), with {b, c} of s it is c (5 and 7), with e both."""
    found = differencing(SHIFTS, earlier=PEOPLE, keys=["shift"], earlier_keys=["region"], sensitive=["job"], id="id")
    assert found.records["certain_together"].to_list() == [row in (0, 2, 5, 7) for row in range(12)]
    assert (found.certain_together, found.people, found.differencing) == (4, 4, 4 / 12)


def test_one_more_person_and_a_value_taken_back() -> None:
    """Somebody joins the young of n, who have the jobs a and b: the counts of jobs differ by a c. One age is hidden."""
    joined = pl.concat([PEOPLE, PEOPLE.head(1).with_columns(id=pl.lit(12, pl.Int64), job=pl.lit("c"))])
    found = differencing(joined, earlier=PEOPLE, keys=["region", "age"], sensitive=["job"])
    assert (found.told_by_difference, found.people) == (1, 1)
    (entry,) = found.entries
    assert (entry.relation, entry.added, entry.removed, entry.differing) == ("superset", 1, 0, 1)
    hidden = PEOPLE.with_columns(age=pl.when(pl.col("id") == 3).then(None).otherwise("age"))
    found = differencing(hidden, earlier=PEOPLE, keys=["region", "age"], sensitive=["job"], id="id")
    assert (found.given_back, found.unprotected) == (1, 0)
    assert found.records["given_back"].to_list() == [row == 3 for row in range(12)]


def test_bands_with_other_limits_tell_what_two_of_them_share() -> None:
    """Of n both have one band each, 30-39 and 35-44, so 35-39; of s 40-49 and 35-44, so 40-44; of e two are left."""
    groups = pl.DataFrame({"id": range(6), "region": ["n", "n", "s", "s", "e", "e"]})
    tens = groups.with_columns(hours=pl.Series(["30-39", "30-39", "40-49", "40-49", "30-39", "40-49"]))
    shifted = groups.with_columns(hours=pl.Series(["35-44", "35-44", "35-44", "35-44", "25-34", "45-54"]))
    given = {"keys": ["region"], "sensitive": ["hours"], "id": "id"}
    found = differencing(shifted, earlier=tens, **given)
    assert found.records["certain_together"].to_list() == [True] * 4 + [False] * 2
    assert (found.certain_together, found.people, found.not_compared) == (4, 4, ())
    assert differencing(tens, earlier=tens, **given).people == 0
