"""A plan goes out without the categories and notes that its records do not show."""

from __future__ import annotations

import polars as pl
import pytest

from plans import duckdb_relation
from sdckit.data.outgoing.plan_records import plan_records


@pytest.mark.parametrize("kind", [pl.Enum(["S", "secret"]), pl.Categorical])
def test_categories_of_polars_become_texts(kind: pl.DataType) -> None:
    found = plan_records(pl.LazyFrame({"size": pl.Series(["S", None], dtype=kind), "x": [1, 2]}))
    assert found.collect_schema() == {"size": pl.String, "x": pl.Int64}
    assert found.collect().rows() == [("S", 1), (None, 2)]


def test_categories_of_duckdb_become_texts() -> None:
    relation = duckdb_relation(pl.DataFrame({"size": ["S", None]}))
    native = relation.query("v", "SELECT size::ENUM('S', 'secret') AS size FROM v")
    found = plan_records(native)
    assert [str(one) for one in found.types] == ["VARCHAR"]
    assert found.fetchall() == [("S",), (None,)]
