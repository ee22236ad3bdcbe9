"""A release beside published tables: a file worked out by hand, and a public one beside subtraction in a few lines."""

from __future__ import annotations

from itertools import combinations

import polars as pl
import pytest

import sdckit as sdc
from needs import needs_reference
from sdckit import joint_audit

# Region and job of six people; the jobs of the first two and of the fourth are taken out.
WHOLE = pl.DataFrame(
    {"region": ["n", "n", "n", "s", "s", "s"], "job": ["cook", "smith", "smith", "cook", "smith", "smith"]}
)
HIDDEN = WHOLE.with_columns(job=pl.Series([None, None, "smith", None, "smith", "smith"]))


def test_a_file_worked_out_by_hand():
    """The table of both counts one cook and two smiths in the north, of whom one smith is shown: the two hidden there
    are a cook and a smith, and nobody knows who is who. In the south one cook is left for one hidden value. By jobs
    alone two cooks and four smiths, three shown, leave two cooks and a smith to three people: nothing is certain.
    """
    found = joint_audit(HIDDEN, WHOLE, tables=[["region", "job"]], keys=["region", "job"], missing="category")
    assert (found.hidden, found.certain, found.right, found.between_two) == (3, 1, 1, 0)
    assert found.records["state"].to_list() == ["open", "open", "certain"]
    assert (found.k_before, found.joint_k, found.uniques_before, found.joint_uniques) == (1, 1, 2, 2)
    alone = joint_audit(HIDDEN, WHOLE, tables=[["job"]], keys=["region", "job"])
    assert (alone.certain, alone.narrowed) == (0, 0)


def by_subtraction(whole, safe, variables):
    """Hidden values that a table tells by itself: counts less what is shown, where one level is left."""
    found = set()
    rows, truth = safe.rows(named=True), whole.rows(named=True)
    left: dict[tuple, int] = {}
    for record, shown in zip(truth, rows, strict=True):
        cell = tuple(record[name] for name in variables)
        left[cell] = left.get(cell, 0) + 1
        if None not in (seen := tuple(shown[name] for name in variables)):
            left[seen] = left.get(seen, 0) - 1
    for name in variables:
        open_: dict[tuple, list] = {}
        at = variables.index(name)
        for cell, n in left.items():
            if n:
                open_.setdefault(cell[:at] + cell[at + 1 :], []).append(cell[at])
        for i, shown in enumerate(rows):
            rest = tuple(shown[other] for other in variables if other != name)
            if shown[name] is None and None not in rest and len(open_[rest]) == 1:
                found.add((i + 1, name))
    return found


@pytest.mark.parametrize(("way", "least"), [(3, 11), (4, 84)])
def test_a_census_file_gives_back_all_that_subtraction_gives_back_and_more(way, least):
    keys = ["Sex", "Age", "Region", "Health", "Ethnic Group", "Economic Activity"]
    whole = pl.read_csv(needs_reference() / "public" / "census2011.csv.gz").head(10_000).select(keys)
    safe = sdc.local_suppression(whole, keys=keys, k=3).data
    tables = [list(one) for one in combinations(keys, way)]
    plain = set().union(*(by_subtraction(whole, safe, one) for one in tables))
    found = joint_audit(safe, whole, tables=tables, keys=keys)
    records = found.records.filter(pl.col("state") == "certain")
    certain = set(zip(records["row"].to_list(), records["column"].to_list(), strict=True))
    assert len(plain) >= least
    assert plain < certain
    assert found.hidden == 301
    assert found.certain == found.right == len(certain) == 263


def test_rounded_counts_of_a_census_file_give_nothing_back_without_the_original():
    """One block of some two thousand unknowns: four programmes, and a note of what they leave undecided."""
    keys = ["Sex", "Age", "Region", "Health", "Ethnic Group", "Economic Activity"]
    whole = pl.read_csv(needs_reference() / "public" / "census2011.csv.gz").head(10_000).select(keys)
    safe = sdc.local_suppression(whole, keys=keys, k=3).data
    tables = [
        sdc.PublishedTable(
            counts=whole.group_by(pair).len(name="n").with_columns(n=3 * ((2 * pl.col("n").cast(int) + 3) // 6)),
            rounded=3,
        )
        for pair in combinations(keys, 2)
    ]
    found = joint_audit(safe, tables=tables)
    assert (found.hidden, found.certain) == (301, 0)
    assert found.audits[0].programmes == 4
    assert "could not be decided" in found.notes["undecided"]
