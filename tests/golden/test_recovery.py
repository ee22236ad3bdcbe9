"""Recoverable values: a file worked out by hand, and a public one beside a few lines that do nothing else.

No other package looks for what a release gives back, so there is no figure to compare with but these.
"""

from __future__ import annotations

from collections import defaultdict

import polars as pl
import pytest

from needs import needs_reference
from sdckit import recoverable_values

# Twelve weights of four records each: weight w belongs to region "abcdef"[w % 6], two weights to each region. The
# records stand in an order in which no neighbours belong together (5 and 48 have no common divisor).
ROWS = [(5 * i) % 48 for i in range(48)]
WHOLE = pl.DataFrame(
    {
        "weight": [100.5 + row // 4 for row in ROWS],
        "region": ["abcdef"[row // 4 % 6] for row in ROWS],
        "sex": ["fm"[row % 2] for row in ROWS],
    }
)
# The regions of one record of weights 0, 1 and 2, and of all four of weight 11.
GONE = [row in (0, 4, 8, 44, 45, 46, 47) for row in ROWS]
HIDDEN = WHOLE.with_columns(region=pl.when(pl.Series(GONE)).then(None).otherwise("region"))


def test_a_file_worked_out_by_hand():
    """Seven regions are changed. Three records have three mates of the same weight who show theirs; the four of weight
    11 have none. Put back, regions a to e have eight records, four of each sex; f has four left, two of each sex, and
    four records show no region, two of each sex, which count as a class of their own. That is 5 · 2 + 2 + 2 = 14
    classes, the smallest of 2 records; 4 + 4 = 8 records are in classes below 3; 14 are expected to be re-identified.
    """
    found = recoverable_values(HIDDEN, WHOLE, keys=["region", "sex"], missing="category", columns="region", guess=False)
    assert (found.touched, found.restored, found.right) == (7, 3, 3)
    assert found.recoverable == 3 / 7
    assert (found.undone_k, found.undone_uniques) == (2, 0)
    assert found.below_k == ({2: 0, 3: 8, 5: 40 + 8},)
    assert found.undone_expected == pytest.approx(14)
    (column,) = found.columns[0]
    assert [(source.words, source.told) for source in column.sources] == [("weight", 3)]
    records = found.records.sort("row")
    assert records["row"].to_list() == [i + 1 for i, gone in enumerate(GONE) if gone]
    told = [row in (0, 4, 8) for row in ROWS if row in (0, 4, 8, 44, 45, 46, 47)]
    assert (records["state"] == "certain").to_list() == told
    assert found.undone()["region"].to_list() == [None if 44 <= row <= 47 else "abcdef"[row // 4 % 6] for row in ROWS]


def by_script(hidden, name, by):
    """What a few lines put back: the one value seen with another column's value."""
    seen = defaultdict(set)
    for value, other in zip(hidden[name], hidden[by], strict=True):
        if value is not None:
            seen[other].add(value)
    return [
        next(iter(seen[other])) if value is None and len(seen[other]) == 1 else value
        for value, other in zip(hidden[name], hidden[by], strict=True)
    ]


@pytest.mark.parametrize(
    ("name", "by", "every"), [("INDP_CAT", "INDP", 13), ("DENSITY", "PUMA", 11), ("PINCP_DECILE", "PINCP", 17)]
)
def test_a_public_file_gives_back_what_a_script_gives_back(name, by, every):
    whole = pl.read_csv(needs_reference() / "public" / "ma2018.csv.gz", infer_schema_length=None)
    gone = pl.int_range(whole.height) % every == 0
    hidden = whole.with_columns(pl.when(gone).then(None).otherwise(name).alias(name))
    expected = by_script(hidden, name, by)
    found = recoverable_values(hidden.select(name, by), whole.select(name, by), columns=name, guess=False)
    back = found.undone()[name].to_list()
    put_back = hidden[name].null_count() - sum(one is None for one in back)
    assert found.restored == put_back
    assert all(one == other for one, other in zip(back, expected, strict=True) if one is not None)
    assert found.right == sum(
        one is None and back == true for one, back, true in zip(hidden[name], back, whole[name], strict=True)
    )
    assert put_back == hidden[name].null_count() - sum(one is None for one in expected)


def test_the_public_file_whole():
    """All 24 columns and their pairs: the density of an area is told by the area."""
    whole = pl.read_csv(needs_reference() / "public" / "ma2018.csv.gz", infer_schema_length=None)
    gone = pl.int_range(whole.height) % 11 == 0
    hidden = whole.with_columns(DENSITY=pl.when(gone).then(None).otherwise("DENSITY"))
    found = recoverable_values(hidden, whole, weight="PWGTP", guess=False)
    assert found.touched == found.restored == found.right == hidden["DENSITY"].null_count()
    assert found.columns[0][0].sources[0].columns == ("PUMA",)
