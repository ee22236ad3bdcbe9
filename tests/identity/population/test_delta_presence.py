"""delta-presence against its definition, and what it refuses."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given

from draw import files, quiet
from sdckit import as_cells, delta_presence
from sdckit.errors import ColumnError, DataError

PEOPLE = pl.DataFrame({"age": [30, 30, 40, 40, 40, 50, None], "sex": list("ffmmmff")})
KEYS = ["age", "sex"]


@given(files())
def test_against_records_one_by_one(file):
    if any(all(row[j] is None for row in file.rows[::2]) for j in range(len(file.keys))):
        return  # a key needs a value in the part, too
    frame, rows = file.frame(), file.rows
    listed = rows[::2]
    low, high = 0.25, 0.6
    with quiet():
        result = delta_presence(frame[::2], frame, keys=file.keys, limits=(low, high))
        presence = result.records["presence"].to_list()
    share = {row: listed.count(row) / rows.count(row) for row in rows}
    assert presence == pytest.approx([share[row] for row in listed])
    assert (result.minimum, result.maximum) == (min(share.values()), max(share.values()))
    assert result.n_above == sum(share[row] > high for row in rows)
    assert result.n_below == sum(share[row] < low for row in rows)
    assert result.records_above == sum(share[row] > high for row in listed)
    assert result.holds == all(low <= one <= high for one in share.values())
    assert (result.n, result.population) == (len(listed), len(rows))


def test_figures_cells_and_plans():
    part = PEOPLE[[0, 2, 5]]
    with quiet():
        result = delta_presence(part, PEOPLE, keys=KEYS, limits=(0, 0.5), prefix="d_")
        same = delta_presence(as_cells(part, keys=KEYS), as_cells(PEOPLE, keys=KEYS), limits=(0, 0.5))
        plan = delta_presence(part.lazy(), PEOPLE.lazy(), keys=KEYS, limits=(0, 0.5))
    assert result.to_dict() == same.to_dict() == plan.to_dict()
    figures = result.to_dict()["figures"]
    assert figures == {
        "n": 3, "population": 7, "minimum": 0.0, "maximum": 1.0, "limits": [0.0, 0.5], "holds": False,
        "n_above": 1, "n_below": 0, "records_above": 1, "rate_above": 1 / 3,
    }  # fmt: skip
    assert result.records.columns == ["d_presence"]
    with pytest.raises(DataError, match="collect it first"):
        plan.records  # noqa: B018


@pytest.mark.parametrize("limits", [(0.5, 0.2), (-0.1, 1), (0, 1.1), (0.1,), 0.5, ("0", "1"), (True, True)])
def test_limits_that_are_none(limits):
    with pytest.raises(DataError, match="limits are the smallest and largest share"):
        delta_presence(PEOPLE, PEOPLE, keys=KEYS, limits=limits)


def test_bad_input():
    with quiet():
        with pytest.raises(DataError, match="in 1 cell the population has fewer records than the data"):
            delta_presence(PEOPLE, PEOPLE[1:], keys=KEYS)
        with pytest.raises(ColumnError, match="population: keys: no column 'age'"):
            delta_presence(PEOPLE, PEOPLE.drop("age"), keys=KEYS)
        with pytest.raises(ColumnError, match="column 'sex' holds text in one file and numbers"):
            delta_presence(PEOPLE, PEOPLE.with_columns(sex=pl.lit(1)), keys=KEYS)
