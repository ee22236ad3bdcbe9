"""Losses of a generalised file: figures of the whole file, and of each variable a bar."""

from __future__ import annotations

from report.views.pairs import drawn, printed, result_of


def test_every_column_is_drawn() -> None:
    result = result_of("generalization_loss")
    assert {row["label"] for row in drawn("generalization_loss")} == set(result.columns)


def test_outside_losses_are_shares_of_few_digits() -> None:
    tree = printed("generalization_loss")
    assert {"precision", "loss", "entropy_share", "height"} <= tree.keys()
    assert float(tree["precision"]["text"]) == 1
