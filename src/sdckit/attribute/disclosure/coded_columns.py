"""Keys and targets as levels: categories as they are, numbers cut into classes where that was asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sdckit.cells.pair import Pair
from sdckit.cells.shared_coding import SharedCoding, classes_of
from sdckit.data import arguments
from sdckit.errors import ColumnError, DataError

Bins = int | Mapping[str, int]


def bins_by_name(
    bins: Bins, numeric: Sequence[str], used: Sequence[str], role: str = "numeric"
) -> dict[str, int]:
    """The number of classes of each column to be cut: those in `numeric` and those that `bins` names."""
    names = arguments.names(numeric, role) or ()
    given = dict(bins) if isinstance(bins, Mapping) else dict.fromkeys(names, bins)
    for argument, named in ((role, names), ("bins", given)):
        if unknown := [name for name in named if name not in used]:
            raise ColumnError(f"{argument}: {unknown[0]!r} is neither a key nor a target", argument=argument)
    if lacking := [name for name in names if name not in given]:
        raise DataError(f"bins says nothing of {lacking[0]!r}; give it a number of classes", argument="bins")
    for one in given.values() if isinstance(bins, Mapping) else (bins,):
        arguments.count(one, "bins", "is a number of classes, or a dict with one per column", at_least=2)
    return {name: int(one) for name, one in given.items()}


def coded_columns(pair: Pair, names: Sequence[str], bins: Mapping[str, int]) -> dict[str, SharedCoding]:
    """Read columns as levels, those in `bins` cut at the quantiles of all files pooled."""
    return {
        name: classes_of(name, pair.numbers(name), bins[name]) if name in bins else pair.codes(name)
        for name in names
    }


def find_level(column: SharedCoding, value: object, role: str, item: int) -> int:
    """The code of a level that the caller names; None is a missing value."""
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
    words = f"{role}: item {item} is none of the {column.n_levels} levels of {column.name!r}"
    raise DataError(f"{words}; give a level that a file has, as it prints")
