"""The figures of beta-likeness; that they are right is shown in laws/ and golden/."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from sdckit import beta_likeness
from sdckit.attribute.closeness.beta_likeness import _gains

FRAME = pl.DataFrame({"k": list("aaaabbbb"), "s": list("xxyyxyyz"), "same": [1] * 8})


def test_figures_and_records():
    result = beta_likeness(FRAME, keys=["k"], sensitive=["s", "same"], limits=(0.2, 1.0))
    assert result.basic == pytest.approx({"s": 1.0, "same": 0.0})
    assert result.enhanced == pytest.approx({"s": 1.0, "same": 0.0})
    assert result.exceeding == {"s": 0, "same": 0}
    assert result.violations["s"] == {"basic": {0.2: 8, 1.0: 0}, "enhanced": {0.2: 8, 1.0: 0}}
    assert result.records["beta_s"].to_list() == pytest.approx([1 / 3] * 4 + [1.0] * 4)
    assert result.notes == {}


def test_a_gain_that_no_beta_allows():
    frame = FRAME.vstack(pl.DataFrame({"k": ["c"], "s": ["z"], "same": [1]}))
    result = beta_likeness(frame, keys=["k"], sensitive="s")
    assert (result.basic["s"], result.enhanced["s"]) == (3.5, math.inf)
    assert result.exceeding["s"] == 1
    assert result.records["enhanced_beta_s"].to_list()[-1] == math.inf
    assert math.isfinite(result.records["enhanced_beta_s"][0])
    assert result.notes == {
        "enhanced s": "infinite: in 1 classes a value gains more than -ln of its share in the file, so that no "
        "beta is enough"
    }
    figures = result.to_dict()["figures"]
    assert figures["enhanced"] == {"s": None}  # JSON has no infinity; the note says why
    assert result.violations["s"]["enhanced"][2.0] == 1


def test_compiled_kernel_does_what_its_source_says():
    given = (
        np.array([0, 2, 3]), np.array([0, 1, 2]), np.array([3, 1, 2]), np.array([0.5, 0.2, 0.3]),
        np.array([0.1, 0.2, 1.2]),
    )  # fmt: skip
    outs = [(np.empty(2), np.empty(2, np.int64)) for _ in range(2)]
    _gains(*given, *outs[0])
    _gains.py_func(*given, *outs[1])
    for one, two in zip(*outs, strict=True):
        assert one.tolist() == pytest.approx(two.tolist(), rel=1e-15)
