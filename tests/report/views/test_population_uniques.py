"""Population uniques in a document: every model beside the others."""

from __future__ import annotations

from typing import Any

import pytest

from report.special import assessed, printed
from sdckit.report.blocks import TableBlock
from sdckit.report.views.population_uniques import VIEW


@pytest.fixture(scope="module")
def assessment() -> Any:
    return assessed()


@pytest.fixture(scope="module")
def exact(assessment: Any) -> dict[str, Any]:
    return printed(assessment, internal=True)


@pytest.fixture(scope="module")
def plain(assessment: Any) -> dict[str, Any]:
    return printed(assessment)


def test_the_estimates_are_exact_inside(assessment: Any, exact: dict[str, Any]) -> None:
    result, estimates = (assessment.intruders[0]["population_uniques"], exact["population_uniques"]["estimates"])
    assert estimates["zayatz"]["uniques"]["value"] == pytest.approx(result.zayatz)
    assert estimates["zayatz"]["share"] == pytest.approx(result.estimates["zayatz"].share)


def test_shares_of_the_population_stay_inside(exact: dict[str, Any], plain: dict[str, Any]) -> None:
    tables = [
        next(block for block in VIEW.blocks(one, "population_uniques") if isinstance(block, TableBlock))
        for one in (exact, plain)
    ]
    assert [table.columns[2] for table in tables] == ["Share", "Status"]
    assert all(len(row) == len(table.columns) for table in tables for row in table.rows)
