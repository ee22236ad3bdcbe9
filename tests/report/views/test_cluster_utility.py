"""The imbalance of clusters beside that of correct synthesis."""

from __future__ import annotations

import pytest

from report.views.pairs import drawn, printed, result_of


def test_it_is_drawn_beside_what_is_expected():
    rows = drawn("cluster_utility")
    assert [row["label"][:9] for row in rows] == ["imbalance"] * 2
    assert float(rows[0]["text"]) == pytest.approx(result_of("cluster_utility").cluster_utility, rel=0.5)


def test_no_cluster_is_told():
    assert set(printed("cluster_utility")) == {"cluster_utility", "expected", "ratio", "n_clusters", "notes"}
