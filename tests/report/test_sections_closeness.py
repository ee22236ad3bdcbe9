"""Closeness of groups as typed figures: counts that contain each other, no largest value."""

from __future__ import annotations

import pytest
from sdckit.report.sections_closeness import CLOSENESS

import releases
import sdckit as sdc
from sdckit.report.notebook import result_chart, result_document
from sdckit.report.protect import protect


@pytest.mark.parametrize("name", CLOSENESS)
def test_records_beyond_each_limit(name):
    result = getattr(sdc, name)(releases.original(), keys=["sex", "age"], sensitive=["ill"])
    document = result_document(result)
    plain = protect(document, internal=True)[name]
    kinds = plain["variables"]["ill"]
    exact = result.violations["ill"]
    for kind, limits in kinds.items():
        counts = exact.get(kind, exact)
        assert [leaf["n"]["value"] for leaf in limits.values()] == [counts[limit] for limit in sorted(counts)]
        names = [f"i0.{name}.ill.{kind}.{limit}" for limit in limits]
        assert f"{names[0]} - {names[1]}" in document.variables
    largest = {
        value
        for figure in ("level", "basic", "delta", "alpha")
        for value in getattr(result, figure, {}).values()
    }
    assert not any(f"{value:.4g}" in str(protect(document)) for value in largest)


@pytest.mark.parametrize("name", CLOSENESS)
def test_it_is_drawn(name):
    chart = result_chart(getattr(sdc, name)(releases.original(), keys=["sex", "age"], sensitive=["ill"]))
    assert "Records in groups beyond the limit" in str(chart.to_dict())
