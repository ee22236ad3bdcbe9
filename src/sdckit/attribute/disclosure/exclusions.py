"""Records left out of the counts of attribute disclosure, because what they show is no secret."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.attribute.disclosure.coded_columns import find_level
from sdckit.attribute.disclosure.key_target import KeyTarget, codes_of_groups
from sdckit.cells.packing import SharedGroups
from sdckit.cells.shared_coding import SharedCoding
from sdckit.data import arguments
from sdckit.errors import ColumnError, DataError

PAIR = 3


@dataclass(frozen=True)
class Exclusions:
    """What the caller leaves out, as given."""

    levels: tuple[Any, ...] = ()  # of the target
    missing_target: bool = False
    missing_keys: tuple[str, ...] = ()
    pairs: tuple[tuple[str, Any, Any], ...] = ()  # key, level of the key, level of the target
    max_cell: int | None = None  # records of one key and target are left out where a file has more than this


def check_exclusions(
    keys: Sequence[str],
    *,
    levels: Sequence[Any],
    missing_target: bool,
    missing_keys: Sequence[str],
    pairs: Sequence[tuple[str, Any, Any]],
    max_cell: int | None,
) -> Exclusions:
    """Check what can be checked without the data."""
    for name, given in (("exclude_levels", levels), ("exclude_pairs", pairs)):
        if isinstance(given, str) or not isinstance(given, Sequence):
            raise DataError(f"{name} is a list, not {type(given).__name__}", argument=name)
    named = arguments.names(missing_keys, "exclude_missing_keys") or ()
    if any(isinstance(one, str) or not isinstance(one, Sequence) or len(one) != PAIR for one in pairs):
        words = "exclude_pairs is a list of (key, level of the key, level of the target)"
        raise DataError(words, argument="exclude_pairs")
    for role, used in (("exclude_missing_keys", named), ("exclude_pairs", [one[0] for one in pairs])):
        if unknown := [name for name in used if name not in keys]:
            raise ColumnError(f"{role}: {unknown[0]!r} is not one of the keys", argument=role)
    if any(value is None for value in levels):
        words = "exclude_levels names levels; for a missing target give exclude_missing_target=True"
        raise DataError(words, argument="exclude_levels")
    if max_cell is not None:
        arguments.count(max_cell, "max_cell", "counts the records of one key and target")
    without = arguments.flag(missing_target, "exclude_missing_target")
    return Exclusions(tuple(levels), without, named, tuple(pairs), max_cell)


def find_levels(
    given: Exclusions, columns: Mapping[str, SharedCoding], target: SharedCoding
) -> tuple[list[int], list[tuple[str, int, int]]]:
    """Codes of the target's levels, and of the pairs, that are left out."""
    levels = [find_level(target, value, "exclude_levels", i) for i, value in enumerate(given.levels, 1)]
    pairs = []
    for i, (key, key_level, level) in enumerate(given.pairs, 1):
        found = find_level(columns[key], key_level, "exclude_pairs", i)
        pairs.append((key, found, find_level(target, level, "exclude_pairs", i)))
    return levels, pairs


def excluded_cells(
    given: Exclusions,
    columns: Mapping[str, SharedCoding],
    target: SharedCoding,
    keys: SharedGroups,
    table: KeyTarget,
) -> dict[str, NDArray[np.bool_]]:
    """For each reason, the combinations of key and target that it leaves out of every file."""
    levels, pairs = find_levels(given, columns, target)

    def key_level(name: str) -> NDArray[np.int32]:
        return codes_of_groups(keys, columns[name].codes)[table.key]

    found: dict[str, NDArray[np.bool_]] = {}
    if levels:
        found["level of the target"] = np.isin(table.target, levels)
    if given.missing_target:
        found["missing target"] = table.target == 0
    if given.missing_keys:
        found["missing key"] = np.any([key_level(name) == 0 for name in given.missing_keys], axis=0)
    if pairs:
        found["pair of key and target"] = np.any(
            [(key_level(name) == a) & (table.target == b) for name, a, b in pairs], axis=0
        )
    return found


def counted(
    table: KeyTarget, excluded: Mapping[str, NDArray[np.bool_]], max_cell: int | None, file: int
) -> tuple[NDArray[np.int64], dict[str, int]]:
    """Records of a file that are counted; and those that are not, by the first reason that holds."""
    left = table.count[file].copy()
    removed = {}
    large = {} if max_cell is None else {"large cell": table.count[file] > max_cell}
    for reason, mask in (dict(excluded) | large).items():
        removed[reason] = int(left[mask].sum())
        left[mask] = 0
    return left, removed
