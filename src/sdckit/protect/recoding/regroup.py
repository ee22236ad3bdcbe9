"""Which new value each distinct value of a column takes, by groups or by a hierarchy."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sdckit.data.distinct import Distinct, kind_of_value
from sdckit.data.hierarchy import Hierarchy
from sdckit.data.tallied import Records
from sdckit.errors import DataError

Outside: TypeAlias = Literal["error", "keep", "missing"]


@dataclass(frozen=True, eq=False)
class Regrouped:
    """New values of the records."""

    levels: list[Any]  # the new values
    codes: NDArray[np.int64]  # shape (n,); place of each record's new value in `levels`; -1 where missing
    changed: int  # records whose value is another one now
    outside: dict[Any, int]  # values that no group names, with their records
    unused: int  # values that are named, and that no record has


def groups_map(groups: Mapping[Any, Any], column: str, kind: str) -> dict[Any, Any]:
    """Turn ``{new: [old, ...]}`` into ``{old: new}``; None stands for a missing value.

    Raises `DataError`: no groups, an old value in two of them, or of another type than the column.
    """
    if not isinstance(groups, Mapping) or not groups:
        raise DataError("groups= is {new value: [old values]}, with one group or more", argument="groups")
    new_of: dict[Any, Any] = {}
    for new, given in groups.items():
        single = isinstance(given, (str, bytes)) or not isinstance(given, Iterable)
        for old in [given] if single else given:
            if not isinstance(old, Hashable):
                raise DataError(f"groups: {new!r} lists a list; give plain values", argument="groups")
            found = "date" if kind == "date" and _is_day(old) else kind_of_value(old)
            if kind not in {"empty", found} and found != "empty":
                says = f"groups: {new!r} lists a {found}, column {column!r} holds {_many(kind)}"
                raise DataError(says, argument="groups")
            if old in new_of:
                says = f"groups: one value stands in {new_of[old]!r} and in {new!r}; each has one group"
                raise DataError(says, argument="groups")
            new_of[old] = new
    return new_of


def _is_day(value: object) -> bool:
    """Whether a text is a date as a CSV file holds it: a recipe may name it so."""
    try:
        return isinstance(value, str) and date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def _many(kind: str) -> str:
    return {"number": "numbers", "date": "dates", "boolean": "booleans"}.get(kind, kind)


def hierarchy_map(hierarchy: Hierarchy, level: int | str | None, kind: str) -> dict[Any, Any]:
    """The new value of each value of a hierarchy, whose texts are read as what the column holds.

    Raises `DataError`: no such level, or two texts that are one number.
    """
    new_of: dict[Any, Any] = {}
    for leaf, new in hierarchy.at(level).items():
        value = _read(leaf, kind)
        if value in new_of:
            says = "hierarchy: two of its values are the same number; each has one line"
            raise DataError(says, argument="hierarchy")
        new_of[value] = new
    return new_of


def _read(leaf: Any, kind: str) -> Any:
    """A text of a file as a value of a column; as it is where it cannot be one."""
    if not isinstance(leaf, str):
        return leaf
    if kind == "boolean":
        return {"true": True, "false": False}.get(leaf.casefold(), leaf)
    if kind != "number":
        return leaf
    for number in (int, float):
        try:
            return number(leaf)
        except ValueError:
            continue
    return leaf


def regroup(
    column: Distinct, name: str, new_of: Mapping[Any, Any], *, outside: Outside, what: str,
    records: Records | None = None,
) -> Regrouped:  # fmt: skip
    """Apply ``{old: new}`` to a column.

    `name`: its name, for messages. `records`: what its rows stand for, one each by default.
    `outside` (one of "error", "keep", "missing"): what happens to values that
    are not in `new_of`. `what`: what does not name them, for messages, such as "no group". Raises
    `DataError`: values are outside, and that is an error, or they cannot stand beside the new ones.
    """
    new_of = {old.isoformat() if column.kind == "date" and hasattr(old, "isoformat") else old: new
              for old, new in new_of.items()}  # fmt: skip
    keys = [value.isoformat() if hasattr(value, "isoformat") else value for value in column.values]
    records = Records(len(column.codes), None) if records is None else records
    counts = records.by(column.codes, len(column.values), column.codes >= 0)
    found = {value: int(counts[i]) for i, (value, key) in enumerate(zip(column.values, keys, strict=True))
             if key not in new_of}  # fmt: skip
    if found and outside == "error":
        raise DataError(
            f"column {name!r}: {len(found)} of its values, in {sum(found.values())} records, are in {what}. Name "
            'them too, or give outside="keep" or outside="missing"; the change then lists them under '
            'secret["outside"]'
        )
    new: list[Any] = [new_of.get(key, value if outside == "keep" else None)
                      for key, value in zip(keys, column.values, strict=True)]  # fmt: skip
    levels = _levels(column, new, new_of)
    if len({kind_of_value(level) for level in levels}) > 1:
        raise DataError(
            f"column {name!r}: the new values are of several types"
            + ("; values outside cannot be kept beside them" if found and outside == "keep" else "")
        )
    place = {level: i for i, level in enumerate(levels)}
    missing = place.get(new_of.get(None), -1)
    codes_of = np.array([*(-1 if value is None else place[value] for value in new), missing])
    is_other = np.array(
        [kind_of_value(a) != kind_of_value(b) or a != b for a, b in zip(column.values, new, strict=True)]
        + [codes_of[-1] >= 0]
    )
    codes = codes_of[column.codes]
    unused = len([old for old in new_of if old is not None and old not in set(keys)])
    return Regrouped(levels, codes, records.where(is_other[column.codes]), found, unused)


def _levels(column: Distinct, new: list[Any], new_of: Mapping[Any, Any]) -> list[Any]:
    """The new values once each: of categories in the order of the old ones, else as named, then the kept ones."""
    kept = [value for value in new if value is not None]
    named = list(dict.fromkeys(new_of.values()))
    if column.category:
        return list(dict.fromkeys([*kept, *named]))
    others = set(kept) - set(named)
    return [*named, *sorted(others, key=lambda value: (str(type(value)), value))]
