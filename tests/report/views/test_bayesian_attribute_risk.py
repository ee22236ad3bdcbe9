"""How probable the true value becomes."""

from __future__ import annotations

import pytest

from report.views.pairs import drawn, printed, result_of, shown


def test_means_over_the_records():
    result, inside = result_of("bayesian_attribute_risk"), printed("bayesian_attribute_risk", internal=True)
    for name in ("mean_probability", "baseline", "share_first"):
        assert inside[name]["value"] == pytest.approx(getattr(result, name))
    assert not {"largest_probability", "mean_rank"} & set(inside)


def test_what_is_learnt_is_drawn_beside_what_was_known():
    assert len(drawn("bayesian_attribute_risk")) == 3
    assert shown("bayesian_attribute_risk")[0].caption == "What the release tells of ill"
