"""Terms of the logistic model."""

from __future__ import annotations

import numpy as np
import pytest

from designs import dense
from sdckit.errors import DataError
from sdckit.utility.propensities.propensity_design import design_of
from sdckit.utility.propensities.stacking import Atom, Stacked


def stacked(levels=(3, 2), values=1, n=24):
    rng = np.random.default_rng(2)
    atoms = [
        Atom(f"c{j}", "level", tuple(f"={i}" for i in range(1, width)), j) for j, width in enumerate(levels)
    ]
    atoms += [Atom(f"v{j}", "value", ("",), j) for j in range(values)]
    codes = np.array([rng.integers(0, width, n) for width in levels], np.int32).reshape(len(levels), n)
    return Stacked(tuple(atoms), codes, rng.normal(size=(values, n)), np.ones(n), np.ones(n), ())


def test_the_columns_are_products():
    rows = stacked()
    design, terms = design_of(rows, 3)
    found = dict(zip(terms.labels(rows), dense(design).T, strict=True))
    a1, a2, b, x = rows.codes[0] == 1, rows.codes[0] == 2, rows.codes[1] == 1, rows.values[0]
    expected = {
        "(intercept)": np.ones(24), "c0=1": a1, "c0=2": a2, "c1=1": b, "v0": x,
        "c0=1:c1=1": a1 * b, "c0=2:c1=1": a2 * b, "c0=1:v0": a1 * x, "c0=2:v0": a2 * x, "c1=1:v0": b * x,
        "c0=1:c1=1:v0": a1 * b * x, "c0=2:c1=1:v0": a2 * b * x,
    }  # fmt: skip
    assert list(found) == list(expected)
    for name, column in expected.items():
        assert found[name] == pytest.approx(column.astype(float))
    assert terms.n_columns == design.n_columns == 12
    assert terms.variables(rows)[7] == {"c0", "v0"}


def test_no_more_interactions_than_variables():
    rows = stacked(levels=(2, 2), values=0)
    assert design_of(rows, 9)[0].n_columns == 4


def test_nothing_varies():
    design, terms = design_of(stacked(levels=(), values=0), 2)
    assert dense(design).tolist() == [[1.0]] * 24
    assert terms.labels(stacked(levels=(), values=0)) == ["(intercept)"]


def test_too_many_coefficients_are_refused_before_they_are_listed():
    with pytest.raises(DataError, match=r"more than 4000: 'c0' alone has 50 levels; leave it out"):
        design_of(stacked(levels=(50,) * 30), 5)
