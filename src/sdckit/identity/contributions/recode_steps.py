"""The step of a recipe that makes a key coarser as advised, and its text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdckit.data.scenarios.scenario_toml import toml_key, toml_value

if TYPE_CHECKING:
    from sdckit.data.columns import Coded


Step = dict[str, Any]
NUMBERS = ("integer", "number")
MOST_NAMED = 200  # values that a step names; a longer one is a hierarchy


def in_bands(column: str, edges: NDArray[np.float64]) -> Step:
    """Numbers in bands between edges, the outermost open.

    >>> in_bands("age", np.array([20.0, 40.0]))
    {'method': 'recode', 'column': 'age', 'bands': [-inf, 20, 40, inf]}
    """
    inner = [int(edge) if float(edge).is_integer() else edge for edge in edges.tolist()]
    return {"method": "recode", "column": column, "bands": [-math.inf, *inner, math.inf]}


def along(column: str, coded: Coded, file: str, level: int, *, missed: bool) -> Step | None:
    """Codes at a level of their hierarchy; `missed`: some are not in it and stay as they are, beside text."""
    if not file or (missed and coded.kind in NUMBERS):
        return None
    step = {"method": "recode", "column": column, "hierarchy": file, "level": level}
    return {**step, "outside": "keep"} if missed else step


def grouped(column: str, coded: Coded, labels: Sequence[str], group: NDArray[np.int64]) -> Step | None:
    """Neighbouring levels as one, named by the first and the last of them."""
    values = _values(coded, labels)
    if values is None:
        return None
    groups: dict[str, list[Any]] = {}
    for number in range(int(group[-1]) + 1):
        places = np.flatnonzero(group == number).tolist()
        ends = dict.fromkeys((labels[places[0]], labels[places[-1]]))
        groups[" to ".join(ends)] = [values[place] for place in places]
    return {"method": "recode", "column": column, "groups": groups}


def other(column: str, coded: Coded, labels: Sequence[str], group: NDArray[np.int64]) -> Step | None:
    """The levels of the first group as "other"; numbers become text, so all are named."""
    values = _values(coded, labels)
    if values is None:
        return None
    name = "other"
    while name in labels:
        name += "_"
    groups = {name: [value for value, place in zip(values, group.tolist(), strict=True) if place == 0]}
    if coded.kind not in NUMBERS:
        return {"method": "recode", "column": column, "groups": groups, "outside": "keep"}
    rest = [
        (label, value) for label, value, place in zip(labels, values, group.tolist(), strict=True) if place
    ]
    return {
        "method": "recode",
        "column": column,
        "groups": groups | {label: [value] for label, value in rest},
    }


def _values(coded: Coded, labels: Sequence[str]) -> list[Any] | None:
    """Levels as a recipe names them; None where it cannot: bytes, dates, numbers as categories, and too many."""
    if len(labels) > MOST_NAMED:
        return None
    if coded.kind in NUMBERS:
        return [int(label) for label in labels] if all(map(_is_whole, labels)) else None
    if coded.kind == "boolean":
        return [label == "True" for label in labels]
    if coded.kind not in ("text", "category") or "binary" in str(coded.arrow_type):
        return None
    as_numbers = coded.kind == "category" and all(map(_is_whole, labels))
    return None if as_numbers else list(labels)


def _is_whole(label: str) -> bool:
    return label.removeprefix("-").isdecimal()


def step_text(step: Mapping[str, Any] | None) -> str:
    """A step as a recipe file holds it; "" where there is none.

    >>> print(step_text({"method": "recode", "column": "age", "groups": {"a b": [1, 2]}}))
    [[steps]]
    method = "recode"
    column = "age"
    groups = {"a b" = [1, 2]}
    """
    if step is None:
        return ""
    return "\n".join(
        ["[[steps]]", *(f"{toml_key(name)} = {_written(value)}" for name, value in step.items())]
    )


def _written(value: Any) -> str:
    if not isinstance(value, Mapping):
        return toml_value(value)
    return "{" + ", ".join(f"{toml_key(name)} = {_written(one)}" for name, one in value.items()) + "}"
