"""What each measure takes of a plan into memory is what its row in the catalogue says, and the page."""

from __future__ import annotations

import re
from typing import Any

import pytest

import sdckit as sdc
from engines.comparing import quiet
from every_measure import CALLED, call
from sdckit.catalogue import CATALOGUE, Measure
from sdckit.cells.plans import lazy
from sdckit.protect import change
from tree import ROOT


@pytest.mark.parametrize("row", CALLED, ids=lambda row: row.name)
def test_only_columns_of_records_are_limited(row: Measure, plan: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no value of a record may be brought here, what needs the cells alone still runs."""
    assert change.COLLECT_LIMIT == lazy.COLLECT_LIMIT  # taken along when it is imported, so not below
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 0)
    # The overview lists what cannot be counted, and of earlier files cells are compared, without a join.
    if row.of_plan == "cells" or row.name in ("utility_overview", "differencing"):
        assert quiet(call, row, plan).to_dict()["figures"]
    else:
        assert row.of_plan == "columns"
        with pytest.raises(sdc.DataError, match=r"this measure needs .* records of .* which is too much from a plan"):
            quiet(call, row, plan)


def test_the_page_names_every_measure_once() -> None:
    page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| \*\*(\w+)\*\* \| ([^|]+) \|", page, flags=re.MULTILINE))
    assert {of: sorted(re.findall(r"`(\w+)`", listed)) for of, listed in told.items()} == {
        of: sorted(row.name for row in CATALOGUE if row.of_plan == of) for of in told
    }
    assert set(told) == {row.of_plan for row in CATALOGUE}
