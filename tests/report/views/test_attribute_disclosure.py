"""Whom a release names the target of, and rightly."""

from __future__ import annotations

import pytest

from report.views.pairs import drawn, printed, result_of


def test_shares_contain_each_other():
    inside = printed("attribute_disclosure", internal=True)["releases"][0]
    found = [inside[name]["value"] for name in ("keys_in_released", "disclosed", "correctly_disclosed")]
    assert found == sorted(found, reverse=True)
    assert found[-1] == pytest.approx(result_of("attribute_disclosure").correctly_disclosed, abs=1e-6)


def test_five_shares_are_drawn():
    assert len(drawn("attribute_disclosure")) == 5
