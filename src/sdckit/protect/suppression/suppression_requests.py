"""What a call of `local_suppression` asks for: combinations of keys with their k, and the order of the keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations as subsets
from math import comb
from typing import Any, TypeAlias

from sdckit.data import arguments
from sdckit.data.nearest import did_you_mean
from sdckit.errors import ColumnError, DataError

HOW = "is {size: k}, {(key, key): k} or a list of (keys, k)"
MOST = 5000  # combinations
Combinations: TypeAlias = "Mapping[int | str | tuple[str, ...], int] | Sequence[tuple[Sequence[str], int]]"
Importance: TypeAlias = "Mapping[str, float] | Sequence[str] | Sequence[float]"
Requests: TypeAlias = "list[tuple[tuple[int, ...], int]]"


def read_combinations(keys: Sequence[str], k: object, combinations: Combinations | None, n: int) -> Requests:
    """Sets of keys, by position, with the k that each must reach: the largest sets first.

    Raises `DataError`: neither k nor combinations, a k below 2 or above the number of records, a size no set
    of keys has; `ColumnError`: a combination names a column that is no key.
    """
    if k is None and combinations is None:
        raise DataError("say which k to reach: k=3, or combinations={2: 5, 3: 3} for sets", argument="k")
    asked: Requests = []
    if k is not None:
        asked.append((tuple(range(len(keys))), _checked_k(k, n)))
    given: Any = combinations if combinations is not None else {}
    pairs = given.items() if isinstance(given, Mapping) else arguments.several(given, "combinations", HOW)
    for pair in pairs:
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            raise DataError(f"combinations {HOW}", argument="combinations")
        which, level = pair[0], _checked_k(pair[1], n)
        asked += [(one, level) for one in _sets_of(keys, which)]
    if not asked:
        raise DataError("combinations= is empty; name one set of keys and its k", argument="combinations")
    if len(asked) > MOST:
        raise DataError(f"{len(asked)} combinations of keys; name at most {MOST}")
    highest: dict[tuple[int, ...], int] = {}
    for one, level in asked:
        highest[one] = max(level, highest.get(one, 0))
    return sorted(highest.items(), key=lambda request: (-len(request[0]), -request[1], request[0]))


def _checked_k(k: object, n: int) -> int:
    whole = arguments.count(k, "k", "counts records", at_least=2)
    if whole > n:
        raise DataError(f"k = {whole} is more than the {n} records of the data; lower k", argument="k")
    return whole


def _sets_of(keys: Sequence[str], which: object) -> list[tuple[int, ...]]:
    if arguments.is_whole(which):
        size = int(which)
        if not 1 <= size <= len(keys):
            raise DataError(f"combinations: no set of {size} among {len(keys)} keys", argument="combinations")
        if comb(len(keys), size) > MOST:
            raise DataError(f"{comb(len(keys), size)} combinations of {size} keys; name at most {MOST}")
        return list(subsets(range(len(keys)), size))
    names = (which,) if isinstance(which, str) else which
    if not isinstance(names, Sequence) or not names:
        raise DataError("combinations: name a size or a set of keys for each k", argument="combinations")
    if len(set(names)) < len(names):
        raise ColumnError("combinations: a set of keys lists one of them twice", argument="combinations")
    for name in names:
        _check_key(name, keys, "combinations")
    return [tuple(sorted(list(keys).index(name) for name in names))]


def _check_key(name: object, keys: Sequence[str], role: str) -> None:
    if name not in keys:
        hint = did_you_mean(str(name), keys)
        raise ColumnError(f"{role}: {name!r} is not one of the keys; {hint}", argument=role)


def read_importance(keys: Sequence[str], importance: Importance | None) -> tuple[float, ...] | None:
    """Importance of each key as a number, 1 for the one to protect most; None where the choice is free.

    Raises `ColumnError`: a name that is no key, or a key left out or named twice; `DataError`: not one number
    per key.
    """
    if importance is None:
        return None
    if isinstance(importance, str) or not isinstance(importance, (Mapping, Sequence)):
        says = "importance is {key: number}, or a list of the keys, the most important one first"
        raise DataError(says, argument="importance")
    given: Any = importance
    if isinstance(given, Mapping):
        numbers = dict(given)
    elif all(isinstance(one, str) for one in given):
        if twice := sorted({name for name in given if list(given).count(name) > 1}):
            raise ColumnError(f"importance: {twice[0]!r} is listed more than once", argument="importance")
        numbers = {name: place for place, name in enumerate(given, 1)}
    elif len(given) == len(keys):
        numbers = dict(zip(keys, given, strict=True))
    else:
        says = f"importance has {len(given)} numbers for {len(keys)} keys; give one per key"
        raise DataError(says, argument="importance")
    for name in numbers:
        _check_key(name, keys, "importance")
    if lacking := [name for name in keys if name not in numbers]:
        raise ColumnError(f"importance: key {lacking[0]!r} is left out; name them all", argument="importance")
    found = [numbers[name] for name in keys]
    says = "of a key is 1 for the one to protect most"
    return tuple(arguments.number(one, "importance", says) for one in found)
