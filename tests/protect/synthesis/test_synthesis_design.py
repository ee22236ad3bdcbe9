"""Predictors as columns of a regression."""

from __future__ import annotations

import numpy as np
import polars as pl

from sdckit.data.frames import open_frame
from sdckit.protect.synthesis.synthesis_design import Seen, design_matrix, make_terms, seen
from sdckit.protect.synthesis.synthesis_variables import Values, read_variable

FRAME = pl.DataFrame({"x": [1.0, None, 3.0, 5.0], "job": ["a", "b", "b", None]})


def opened(frame=FRAME):
    return [read_variable(open_frame(frame)[name]) for name in frame.columns]


def test_terms_and_their_matrix():
    variables = opened()
    terms = make_terms(variables, np.arange(4))
    assert [(t.column, t.kind, t.level) for t in terms] == [
        ("x", "number", None), ("x", "missing", None), ("job", "level", "a"), ("job", "level", None),
    ]  # fmt: skip
    X = design_matrix(terms, {one.name: seen(one, one.held) for one in variables}, 4)
    assert np.allclose(X[:, 0], 1)
    assert np.allclose(X[:, 1], [(1 - 3) / np.sqrt(8 / 3), 0, 0, (5 - 3) / np.sqrt(8 / 3)])
    assert np.allclose(X[:, 2], (np.array([0, 1, 0, 0]) - 0.25) / np.sqrt(0.25 * 0.75))
    assert np.allclose(X[:, 3:].mean(axis=0), 0)
    assert np.allclose(X[:, 3:].std(axis=0), 1)
    assert (X[:, 3] > 0).tolist() == [True, False, False, False]
    assert (X[:, 4] > 0).tolist() == [False, False, False, True]


def test_only_the_records_fitted_to_count():
    terms = make_terms(opened(), np.array([0, 2]))
    assert [(t.kind, t.level) for t in terms] == [("number", None), ("level", "b")]
    assert (terms[0].centre, terms[0].scale) == (2, 1)


def test_other_labels_are_matched_by_text():
    terms = make_terms(opened()[1:], np.arange(4))
    other = {"job": Seen(Values(np.array([0, 1]), None), ("z", "a"))}
    assert (design_matrix(terms, other, 2)[:, 1] > 0).tolist() == [False, True]


def test_rare_levels_share_the_baseline():
    jobs = [f"j{i:02d}" for i in range(40) for _ in range(40 - i)]
    terms = make_terms(opened(pl.DataFrame({"job": jobs})), np.arange(len(jobs)))
    assert [t.level for t in terms] == [f"j{i:02d}" for i in range(1, 31)]
