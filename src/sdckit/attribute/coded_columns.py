"""Keys and targets as levels: categories as they are, numbers cut into classes where that was asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral

from sdckit.cells.pair import Pair
from sdckit.cells.shared_coding import SharedCoding, classes_of
from sdckit.data.roles import column_names
from sdckit.errors import ColumnError, DataError

__all__ = ["bins_by_name", "coded_columns", "find_level"]

Bins = int | Mapping[str, int]


def bins_by_name(
    bins: Bins, numeric: Sequence[str], used: Sequence[str], role: str = "numeric"
) -> dict[str, int]:
    """The number of classes of each column to be cut: those in `numeric` and those that `bins` names.

    Raises
    ------
    ColumnError
        A name that is neither key nor target.
    DataError
        A number of classes below 2.
    """
    names = column_names(numeric, role) or ()
    given = dict(bins) if isinstance(bins, Mapping) else dict.fromkeys(names, bins)
    if unknown := [name for name in (*names, *given) if name not in used]:
        raise ColumnError(f"{role}: {unknown[0]!r} is neither a key nor a target")
    if lacking := [name for name in names if name not in given]:
        raise DataError(f"bins says nothing of {lacking[0]!r}; give a number of classes for it")
    asked = given.values() if isinstance(bins, Mapping) else (bins,)
    if any(isinstance(one, bool) or not isinstance(one, Integral) or one < 2 for one in asked):
        raise DataError("bins is a number of classes: 2 or more, or a dict with one per column")
    return {name: int(one) for name, one in given.items()}


def coded_columns(pair: Pair, names: Sequence[str], bins: Mapping[str, int]) -> dict[str, SharedCoding]:
    """Read columns as levels, those in `bins` cut at the quantiles of all files pooled."""
    return {
        name: classes_of(name, pair.numbers(name), bins[name]) if name in bins else pair.codes(name)
        for name in names
    }


def find_level(column: SharedCoding, value: object, role: str, item: int) -> int:
    """The code of a level that the caller names; None is a missing value.

    Raises
    ------
    DataError
        There is no such level; says how many there are.
    """
    if value is None:
        return 0
    labels = column.labels()[1:]
    wanted = str(value)
    if wanted in labels:
        return labels.index(wanted) + 1
    if column.kind == "numbers":
        try:
            return [float(label) for label in labels].index(float(wanted)) + 1
        except ValueError:
            pass
    raise DataError(
        f"{role}: item {item} is none of the {column.n_levels} levels of {column.name!r}; give a level that a "
        "file has, as it prints"
    )
