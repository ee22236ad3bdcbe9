"""Figures of the whole file, and of each variable a bar."""

from __future__ import annotations

from report.views.pairs import drawn, printed, result_of


def test_every_variable_is_drawn():
    result = result_of("information_loss")
    assert {row["label"] for row in drawn("information_loss")} == set(result.variable_distances)


def test_outside_there_are_two_digits():
    for leaf in printed("information_loss")["variables"].values():
        assert len(leaf["text"].lstrip("<0.").replace(".", "")) <= 2, leaf
