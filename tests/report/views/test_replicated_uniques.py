"""Uniques of the original that are uniques of the release."""

from __future__ import annotations

import pytest

from report.views.pairs import drawn, printed, result_of


def test_the_share_is_that_of_the_result():
    inside = printed("replicated_uniques", internal=True)["releases"][0]
    assert inside["share"]["value"] == pytest.approx(result_of("replicated_uniques").share, abs=1e-6)
    assert inside["original_uniques"]["value"] == result_of("replicated_uniques").original_uniques


def test_it_is_drawn():
    (row,) = drawn("replicated_uniques")
    assert row["label"] == "records unique in both files"
