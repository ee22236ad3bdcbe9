"""The figures of delta-disclosure privacy; that they are right is shown in laws/ and golden/."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from sdckit import delta_disclosure
from sdckit.attribute.closeness.delta_disclosure import _log_ratios

FRAME = pl.DataFrame({"k": list("aaaabbbb"), "s": list("xxxyxyyz"), "t": list("uuvvuvvv")})


def test_figures_and_records():
    result = delta_disclosure(FRAME, keys=["k"], sensitive=["s", "t"], limits=(0.3, math.log(2)))
    assert result.delta == {"s": math.inf, "t": pytest.approx(math.log(1.5))}
    assert result.delta_present == pytest.approx({"s": math.log(2), "t": math.log(1.5)})
    assert result.incomplete == {"s": 1, "t": 0}
    assert result.violations["s"]["delta"] == {0.3: 8, math.log(2): 8}  # below means strictly below
    assert result.violations["s"]["delta_present"] == {0.3: 8, math.log(2): 4}
    assert result.records["delta_s"].to_list() == pytest.approx([math.inf] * 4 + [math.log(2)] * 4)
    assert result.notes == {"delta s": "infinite: 1 classes lack a value that the file has; see delta_present"}
    assert result.to_dict()["figures"]["delta"]["s"] is None


def test_a_missing_value_is_a_value():
    frame = pl.DataFrame({"k": [1, 1, 2, 2], "s": ["x", None, "x", None]})
    assert delta_disclosure(frame, keys=["k"], sensitive="s").delta["s"] == 0.0
    frame = pl.DataFrame({"k": [1, 1, 2, 2], "s": ["x", "x", "x", None]})
    assert delta_disclosure(frame, keys=["k"], sensitive="s").incomplete["s"] == 1


def test_compiled_kernel_does_what_its_source_says():
    given = (
        np.array([0, 2, 3]), np.array([0, 1, 2]), np.array([3, 1, 2]), np.log(np.array([0.5, 0.2, 0.3])),
    )  # fmt: skip
    outs = [np.empty(2) for _ in range(2)]
    _log_ratios(*given, outs[0])
    _log_ratios.py_func(*given, outs[1])
    assert outs[0].tolist() == pytest.approx(outs[1].tolist(), rel=1e-15)
    assert outs[0][0] == pytest.approx(math.log(1.5), rel=1e-15)
