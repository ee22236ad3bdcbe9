"""A marker planted in one record is in no error, warning, figure or text, on any engine."""

from __future__ import annotations

import warnings
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from plans import on_frames
from sdckit.errors import SdcWarning

MARKER = "ZQX-7741"
BAD: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"w": ["1", "2", "3", MARKER]}, {"weight": "w"}),
    ({"w": pl.Series(["1", "2", "1", MARKER], dtype=pl.Categorical)}, {"weight": "w"}),
    ({"w": pl.Series(["1", "2", "1", MARKER], dtype=pl.Enum(["1", "2", MARKER]))}, {"weight": "w"}),
    ({"a": [["x"], ["y"], ["z"], [MARKER]]}, {}),
    ({"a": [{"q": "x"}, {"q": "y"}, {"q": "z"}, {"q": MARKER}]}, {}),
    ({"a": ["x", "x", None, MARKER]}, {"missing": "error"}),
    ({"a": ["x", "x", None, MARKER], "p": ["1", "2", "3", MARKER]}, {"person": "p"}),
    ({"p": ["1", "2", None, MARKER]}, {"person": "p"}),
    ({"p": ["1", MARKER, "3", MARKER], "w": [1.0, 1.0, 1.0, 774177.25]}, {"person": "p", "weight": "w"}),
    ({"w": [1.0, 1.0, 1.0, -774177.25]}, {"weight": "w"}),
    ({"w": [0.5, 0.5, 0.5, 774177.25]}, {"weight": "w"}),
    ({"a": ["x", "x", "y", MARKER]}, {"sensitive": ["a"]}),
    ({"a": ["x", "x", "y", MARKER]}, {"weight": "wieght"}),
    ({"a": ["x", "x", "y", MARKER]}, {"keys": [MARKER[:3], "b"]}),
]


@on_frames
@pytest.mark.parametrize(("columns", "roles"), BAD, ids=range(len(BAD)))
def test_no_error_tells_a_value(make, columns, roles):
    frame = pl.DataFrame({"a": ["x", "x", "y", "y"], "b": [1, 2, 1, 2], **columns})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SdcWarning)
        with pytest.raises(sdc.SdcError) as error:
            sdc.assess(make(frame), scenario=sdc.Scenario(**{"keys": ["a", "b"], **roles}))
    told = [str(error.value), repr(error.value), *(str(one.message) for one in caught)]
    assert not [one for one in told if MARKER in one or "774177" in one]
    assert error.value.__cause__ is None


@on_frames
def test_no_warning_figure_or_repr_tells_a_value(make):
    n = 120
    rng = np.random.default_rng(5)
    frame = pl.DataFrame(
        {
            "a": [MARKER, *rng.choice(["x", "y"], n - 1).tolist()],
            "b": [f"{MARKER}-{i}" for i in range(n)],
            "s": [MARKER, *rng.choice(["p", "q"], n - 1).tolist()],
            "h": [None, *(f"{MARKER}-{i // 3}" for i in range(n - 1))],
            "w": [774177.25, *(10.0 + rng.random(n - 1)).tolist()],
        }
    )
    with pytest.warns(SdcWarning) as caught:
        found = sdc.assess(make(frame), keys=["a", "b"], sensitive=["s"], household="h", weight="w")
    one = found["default"]
    told = [
        *(str(warning.message) for warning in caught), *found.warnings, repr(found), repr(one),
        *(repr(fact) for fact in one.key_facts), *(repr(result) for result in one.results.values()),
        *(str(sentence.sentence) for sentence in found.verdicts), str(one.skipped), found._repr_html_(),
        str(nw.from_native(found.details(), eager_only=True).rows()), str(found.to_dict()),
    ]  # fmt: skip
    assert len(found.warnings) == 2
    assert not [text for text in told if MARKER in text]
    assert MARKER in str(found.at_risk())  # asked for, they are told


@on_frames
def test_no_further_measure_tells_a_value(make):
    n = 120
    rng = np.random.default_rng(6)
    frame = pl.DataFrame(
        {
            "a": [MARKER, *rng.choice(["x", "y"], n - 1).tolist()],
            "b": rng.integers(0, 9, n),
            "w": [774177.25, *(10.0 + rng.random(n - 1)).tolist()],
            "pay": [7741772.5, *rng.lognormal(7, 1, n - 1).tolist()],
            "text": [MARKER] * n,
        }
    )
    scenario = sdc.Scenario(keys=["a", "b"], weight="w", numeric=["pay"])
    wrong = sdc.Scenario(keys=["a", "b"], numeric=["text"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SdcWarning)
        found = sdc.assess(make(frame), scenario=scenario, measures="all")
        refused = sdc.assess(make(frame), scenario=wrong, measures="outliers")
    one = found["default"]
    assert {"suda", "population_risk", "population_uniques", "risky_cells", "outliers"} <= set(one)
    assert "outliers" in dict(refused["default"].skipped)
    told = [
        *(str(warning.message) for warning in caught), repr(found), repr(one), str(refused["default"].skipped),
        *(text for result in one.results.values() for text in (repr(result), str(result.notes), result._repr_html_())),
        str(nw.from_native(found.details(), eager_only=True).rows()), str(found.to_dict()),
    ]  # fmt: skip
    assert not [text for text in told if MARKER in text or "774177" in text]
