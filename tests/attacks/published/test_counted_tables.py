"""Published tables as cells with what each may hold."""

from __future__ import annotations

import polars as pl
import pytest

from sdckit import ColumnError, DataError, PublishedTable
from sdckit.attacks.published.counted_tables import ANY, MISSING, count_table, labelled
from sdckit.data.frames import open_frame

PEOPLE = open_frame(pl.DataFrame({"sex": ["f", "f", "m", None], "age": [30.0, 30.0, 40.0, 40.0]}))


def cells(table):
    names = [[one.labels[code] for code in one.codes] for one in table.columns]
    return dict(
        zip(
            zip(*names, strict=True),
            zip(table.lower.tolist(), table.upper.tolist(), strict=True),
            strict=True,
        )
    )


def test_counted_in_the_original():
    found = count_table(PublishedTable(variables=["sex", "age"]), PEOPLE)
    assert cells(found) == {("f", "30"): (2, 2), ("m", "40"): (1, 1), (MISSING, "40"): (1, 1)}
    assert found.most_unlisted == 0
    with pytest.raises(DataError, match="original="):
        count_table(PublishedTable(variables=["sex"]), None)
    with pytest.raises(ColumnError, match="did you mean 'sex'"):
        count_table(PublishedTable(variables=["sexx"]), PEOPLE)


@pytest.mark.parametrize(
    ("how", "expected", "unlisted"),
    [
        ({"rounded": 3}, [(1, 5), (0, 2), (0, 2)], 2),
        ({"rounded": 3, "rounding": "nearest"}, [(2, 4), (0, 1), (0, 1)], 1),
        ({"suppressed_below": 2}, [(2, 2), (1, 1), (1, 1)], 0),
        ({"suppressed_below": 4}, [(1, 3), (1, 3), (1, 3)], 0),
    ],
)
def test_as_they_are_published(how, expected, unlisted):
    found = count_table(PublishedTable(variables=["sex", "age"], **how), PEOPLE)
    assert sorted(cells(found).values(), reverse=True) == sorted(expected, reverse=True)
    assert found.most_unlisted == unlisted


def test_a_frame_with_totals_and_suppressed_cells():
    counts = pl.DataFrame(
        {"sex": ["f", "m", "all", "all"], "age": ["30", "30", "30", "all"], "count": [2, None, 5, 5]}
    )
    found = count_table(PublishedTable(counts=counts, count="count", total="all"), None)
    assert cells(found) == {("f", "30"): (2, 2), ("m", "30"): (0, ANY)}
    assert [[one.name for one in total.columns] for total in found.totals] == [["age"], []]
    assert [total.lower.tolist() for total in found.totals] == [[5], [5]]


def test_a_file(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text("sex,n\nf,2\nm,\n", encoding="utf-8")
    found = count_table(PublishedTable(counts=path, suppressed_below=3), None)
    assert cells(found) == {("f",): (2, 2), ("m",): (0, 2)}
    assert found.called == "counts.csv"


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ({"sex": ["f", "f"], "n": [1, 2]}, "stands there twice"),
        ({"sex": ["f", "m"], "n": [1, -2]}, "no count"),
        ({"sex": ["f", "m"], "n": [1.0, 2.5]}, "no count"),
        ({"sex": ["f", "m"], "n": ["Zq7", "2"]}, "not all counts"),
        ({"n": [3]}, "no variables"),
        ({"sex": ["f"], "number": [3]}, "has no column 'n'"),
    ],
)
def test_what_is_no_table_is_refused_without_its_values(counts, says):
    with pytest.raises((DataError, ColumnError), match=says) as error:
        count_table(PublishedTable(counts=pl.DataFrame(counts)), None)
    assert "Zq7" not in str(error.value)


def test_whole_numbers_are_labelled_alike():
    assert labelled(PEOPLE["age"]).labels == ("30", "40")
