"""What is called a rate, a share, a risk or a probability lies between 0 and 1, a count is not negative."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import narwhals as nw
import numpy as np
import pytest

from draw import quiet
from every_measure import CALLED, call
from sdckit.catalogue import Measure

SHARE = re.compile(r"(^|_)(rate|share|risk|probability|probabilities|coverage|precision|similarity|pmse)(_|$)")
COUNT = re.compile(r"^(n|n_.*|.*_uniques|expected_.*|violations|below_k|unsafe_cells|records_.*)$")
# Differences, ratios, bounds that are given, and numbers of people with a risk.
OTHER = re.compile(r"residual|ratio|s_pmse|saved|change|worse|n_.*risk|high_risk|threshold|expected|weighted|tau")


def numbers(value: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """Every number of a result, with the last name on the way to it."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from numbers(inner, key if isinstance(key, str) else name)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from numbers(inner, name)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield name, float(value)


def columns(result: Any) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """The numbers of the records."""
    try:
        frame = nw.from_native(result.records, eager_only=True)
    except (AttributeError, TypeError, ValueError):  # figures of the file alone
        return
    for name in frame.columns:
        if frame[name].dtype.is_numeric():
            yield name.removeprefix("sdckit_"), frame[name].to_numpy().astype(float)


@pytest.mark.parametrize("row", CALLED, ids=lambda row: row.name)
def test_they_lie_where_they_must(row: Measure) -> None:
    with quiet():
        found = call(row)
    wrong = []
    for name, value in numbers(found.to_dict()):
        if SHARE.search(name) and not OTHER.search(name) and not (math.isnan(value) or 0 <= value <= 1 + 1e-12):
            wrong.append((name, value))
        if COUNT.search(name) and value < 0:
            wrong.append((name, value))
    for name, values in columns(found):
        known = values[~np.isnan(values)]
        if SHARE.search(name) and not OTHER.search(name) and ((known < 0) | (known > 1 + 1e-12)).any():
            wrong.append((name, float(known.min())))
    assert wrong == []
