"""Records in other values, by variable."""

from __future__ import annotations

from report.views.pairs import drawn, printed, result_of


def test_shares_are_rounded_as_records():
    moved = {name: share * 240 for name, share in result_of("compare_distributions").total_variation.items()}
    for name, leaf in printed("compare_distributions")["variables"].items():
        if 0 < moved[name] < 5:
            assert leaf["value"] is None
        else:
            assert abs(leaf["value"] * 240 - moved[name]) <= 5


def test_every_variable_is_drawn():
    assert {row["label"] for row in drawn("compare_distributions")} == {"sex", "age", "region"}
