"""Values are taken out until every record reaches k."""

from __future__ import annotations

import pytest

from protect.suppression_files import draw_rows, free, frequencies, working
from sdckit.protect.suppression import suppression_choices, suppression_mend
from sdckit.protect.suppression.suppression_mend import mend


def after(file, rows):
    return [
        tuple(None if file.gone[j, i] else value for j, value in enumerate(row)) for i, row in enumerate(rows)
    ]


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_k_holds(alpha, missing):
    for seed in range(4):
        rows = draw_rows(seed, 30, (3, 4, 5), missing)
        file = working(rows, alpha)
        assert mend(file, [0, 1, 2], 3, free(rows))
        assert min(frequencies(after(file, rows), alpha)) >= 3 - 1e-9
        assert not mend(file, [0, 1, 2], 3, free(rows))


def test_records_all_different_in_all_keys():
    rows = [(i, i, i) for i in range(5)]
    for alpha in (0.0, 0.5, 1.0):
        file = working(rows, alpha)
        mend(file, [0, 1, 2], 5, free(rows))
        assert min(frequencies(after(file, rows), alpha)) >= 5


def test_where_alpha_leaves_no_other_way_records_become_alike():
    rows = [(None, 1), (2, None), (None, 3), (4, None)]
    file = working(rows, 0.0)
    mend(file, [0, 1], 3, free(rows))
    assert min(frequencies(after(file, rows), 0.0)) >= 3


def test_without_larger_sets_and_with_one_chain_k_holds_too(monkeypatch):
    monkeypatch.setattr(suppression_choices, "SETS", 0)
    monkeypatch.setattr(suppression_mend, "too_many", lambda at, hard: True)
    rows = draw_rows(9, 40, (4, 5, 6))
    file = working(rows)
    mend(file, [0, 1, 2], 3, free(rows))
    assert min(frequencies(after(file, rows))) >= 3
