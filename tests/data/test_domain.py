"""A declared domain: what is refused of a declaration, and that a file says all of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from data.declared import COLUMNS, DOMAIN
from sdckit.data.domain import Domain, DomainColumn
from sdckit.errors import ColumnError, ScenarioError, SdcError


def test_a_file_says_all_of_it(tmp_path: Path) -> None:
    domain = Domain(COLUMNS, "survey", "who", 3, 5000, ("-9", "NA"))
    (tmp_path / "domain.toml").write_text(domain.to_toml(), encoding="utf-8")
    assert Domain.from_toml(tmp_path / "domain.toml") == domain


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({}, "neither levels nor edges"),
        ({"levels": ["a"], "edges": [1, 2]}, "both levels and edges"),
        ({"type": "number"}, "type is one of"),
        ({"levels": "ab"}, "levels is a list"),
        ({"levels": ["a", "a"]}, "a level twice"),
        ({"levels": [1]}, "not of type text"),
        ({"levels": [""]}, "not of type text"),
        ({"type": "integer", "levels": [1.5]}, "not of type integer"),
        ({"type": "integer", "levels": [True]}, "not of type integer"),
        ({"type": "decimal", "levels": [float("inf")]}, "not of type decimal"),
        ({"type": "decimal", "levels": [1, 1.0]}, "a level twice"),
        ({"type": "date", "levels": ["2020-01-01"]}, "not of type date"),
        ({"type": "boolean", "edges": [0, 1]}, "both levels and edges"),
        ({"edges": [0, 1]}, "edges are of numbers and dates"),
        ({"type": "decimal", "edges": [1, 1]}, "ascending"),
        ({"type": "decimal", "edges": [1]}, "two or more numbers"),
        ({"type": "integer", "edges": [0, 10**30]}, "two or more numbers within"),
        ({"type": "date", "edges": [0, 10**30]}, "two or more dates"),
        ({"type": "date", "edges": [0.5, 3]}, "two or more dates"),
        ({"type": "integer", "edges": [0.2, 0.8]}, "no whole number lies between two"),
    ],
)
def test_a_column_that_contradicts_itself_is_refused(column: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        DomainColumn("x", **column)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"columns": ()}, "one or more columns"),
        ({"columns": COLUMNS[:1] * 2}, "more than once"),
        ({"columns": COLUMNS, "max_rows": 2}, "name the column of persons"),
        ({"columns": COLUMNS, "person": "sex"}, "cannot be a column of the domain"),
        ({"columns": COLUMNS, "dataset": " "}, "dataset of a domain is a text"),
        ({"columns": COLUMNS, "records": 0}, "whole number of 1 or more"),
    ],
)
def test_a_domain_that_contradicts_itself_is_refused(entries: dict[str, Any], message: str) -> None:
    with pytest.raises(SdcError, match=message):
        Domain(**entries)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a table for each column"),
        ("[columns.a]\nlevel = ['x']", "no entry 'level'; did you mean 'levels'"),
        ("datasets = 'x'\n[columns.a]\nlevels = ['x']", "no entry 'datasets'; did you mean 'dataset'"),
        ("columns = 3", "a table for each column"),
        ("[columns.a]\nlevels = ['x'", "not valid TOML"),
    ],
)
def test_a_file_that_is_no_domain_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "domain.toml").write_text(text)
    with pytest.raises(ScenarioError, match=rf"domain.toml.*{message}"):
        Domain.from_toml(tmp_path / "domain.toml")


def test_a_column_that_is_not_there_is_refused_by_the_header() -> None:
    with pytest.raises(ColumnError, match="no column 'age' in the data"):
        DOMAIN.encode(pl.DataFrame({"sex": ["f"]}))
    with pytest.raises(ColumnError, match="person: no column 'who'"):
        Domain(COLUMNS, person="who").encode(pl.DataFrame({name: [None] for name in DOMAIN.names}))
