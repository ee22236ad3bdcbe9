"""Turn the values of a column into small integer codes and pack several columns into one word."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.compiling import FEW, njit
from sdckit.numerics.hashing import GOLDEN, hash_word
from sdckit.numerics.threads import chunks, run

BLOCK = 1 << 15  # rows packed at a time: the words stay in the cache while the columns pass


@njit(cache=True, nogil=True)
def _pack(values, valid, low, missing, shift, first, words):  # type: ignore[no-untyped-def]
    if len(valid) == 0:
        for i in range(len(words)):
            code = (np.uint64(values[i]) - low) << shift
            words[i] = code if first else words[i] | code
    else:
        for i in range(len(words)):
            code = (np.uint64(values[i]) - low) if valid[i] else missing
            words[i] = (code << shift) if first else words[i] | (code << shift)


@njit(cache=True, nogil=True)
def _integer_range(values, valid):  # type: ignore[no-untyped-def]
    """Smallest and largest valid value, and how many are valid."""
    low, high, n = values[0], values[0], 0
    for i in range(len(values)):
        if len(valid) == 0 or valid[i]:
            v = values[i]
            if n == 0:
                low, high = v, v
            low, high = min(low, v), max(high, v)
            n += 1
    return low, high, n


@njit(cache=True, nogil=True)
def _float_range(values, valid):  # type: ignore[no-untyped-def]
    """Range, number of valid values that are not NaN, and whether all are whole numbers."""
    low, high, n, whole = np.inf, -np.inf, 0, True
    for i in range(len(values)):
        v = values[i]
        if (len(valid) == 0 or valid[i]) and not np.isnan(v):
            n += 1
            low, high = min(low, v), max(high, v)
            if v != np.floor(v):
                whole = False
    return low, high, n, whole


@njit(cache=True, nogil=True)
def _float_to_int(values, valid, whole, out, out_valid):  # type: ignore[no-untyped-def]
    for i in range(len(values)):
        v = values[i]
        present = (len(valid) == 0 or valid[i]) and not np.isnan(v)
        out_valid[i] = present
        out[i] = np.int64(v) if present and whole else 0


@njit(cache=True, nogil=True)
def _code_until_full(views, valid, code, first_row, slots, table, start, n_levels):  # type: ignore[no-untyped-def]
    """Number short strings from row `start` on, until the table is a quarter full; -1 for a long string."""
    mask, limit, all_valid = len(slots) - 1, len(slots) // 4, len(valid) == 0
    for i in range(start, len(code)):
        if not (all_valid or valid[i]):
            code[i] = 0
            continue
        a, b = views[i, 0], views[i, 1]
        at = np.int64(hash_word(a ^ (b * GOLDEN)) >> np.uint64(1)) & mask
        level = slots[at]
        while level >= 0 and (table[at, 0] != a or table[at, 1] != b):
            at = (at + 1) & mask
            level = slots[at]
        if level < 0:
            if (a & np.uint64(0xFFFFFFFF)) > np.uint64(12):
                return -1, n_levels
            if n_levels == limit:
                return i, n_levels
            level = np.int32(n_levels)
            first_row[n_levels] = i
            slots[at] = level
            table[at, 0], table[at, 1] = a, b
            n_levels += 1
        code[i] = level
    return len(code), n_levels


@njit(cache=True, nogil=True)
def _code_views(views, valid, code, first_row):  # type: ignore[no-untyped-def]
    """Number distinct short strings; -1 when one is longer than a view can hold inline."""
    size, done, n_levels = 1024, np.int64(0), np.int64(0)  # a bare 0 has a type of its own, compiled apart
    while True:
        slots, table = np.full(size, -1, np.int32), np.empty((size, 2), np.uint64)
        for g in range(n_levels):
            a, b = views[first_row[g], 0], views[first_row[g], 1]
            at = np.int64(hash_word(a ^ (b * GOLDEN)) >> np.uint64(1)) & (size - 1)
            while slots[at] >= 0:
                at = (at + 1) & (size - 1)
            slots[at] = g
            table[at, 0], table[at, 1] = a, b
        done, n_levels = _code_until_full(views, valid, code, first_row, slots, table, done, n_levels)
        if done < 0:
            return -1
        if done == len(code):
            return n_levels
        size *= 4


def _looked_at(values: NDArray[Any]) -> NDArray[Any]:
    """The same memory, not to be written to: columns of Arrow are such, and a kernel is compiled for one kind only."""
    view = values.view()
    view.flags.writeable = False
    return view


def pack_into(
    words: NDArray[np.uint64], fields: list[tuple[NDArray[Any], NDArray[np.uint8], int, int, int]]
) -> None:
    """Write columns into bit fields of `words`, block by block on threads.

    `fields`: (values, valid, low, missing, shift), where ``values - low`` goes to the bits from `shift` on;
    `missing` where not `valid` (an empty `valid` says that all are).

    >>> words = np.empty(2, np.uint64)
    >>> pack_into(words, [(np.array([5, 6]), np.empty(0, np.uint8), 5, 2, 0)])
    >>> words.tolist()
    [0, 1]
    """
    if len(words) <= FEW:
        for j, field in enumerate(fields):
            _pack_few(words, *field, first=j == 0)
        return

    def pack_slice(part: tuple[int, int]) -> None:
        for start in range(part[0], part[1], BLOCK):
            stop = min(start + BLOCK, part[1])
            for j, (values, valid, low, missing, shift) in enumerate(fields):
                _pack(
                    _looked_at(values[start:stop]),
                    valid[start:stop],
                    np.uint64(low & 0xFFFFFFFFFFFFFFFF),
                    np.uint64(missing),
                    np.uint64(shift),
                    j == 0,
                    words[start:stop],
                )

    run(pack_slice, chunks(len(words)))


def _pack_few(
    words: NDArray[np.uint64], values: NDArray[Any], valid: NDArray[np.uint8], low: int, missing: int, shift: int,
    *, first: bool,
) -> None:  # fmt: skip
    code = values.astype(np.uint64) - np.uint64(low & 0xFFFFFFFFFFFFFFFF)
    if len(valid):
        code[valid == 0] = missing
    code <<= np.uint64(shift)
    words[:] = code if first else words | code


def _present(values: NDArray[np.float64], valid: NDArray[np.uint8]) -> NDArray[np.bool_]:
    return ~np.isnan(values) & ((valid != 0) if len(valid) else True)


def _code_few(
    views: NDArray[np.uint64], valid: NDArray[np.uint8]
) -> tuple[NDArray[np.uint32], NDArray[np.int64]] | None:
    """As `code_views`, by sorting."""
    rows = np.flatnonzero(valid) if len(valid) else np.arange(len(views))
    code, here = np.zeros(len(views), np.uint32), views[rows]
    if (here[:, 0] & np.uint64(0xFFFFFFFF) > np.uint64(12)).any():
        return None
    order = np.lexsort((here[:, 1], here[:, 0]))  # equal ones as they stand in the file
    ordered = here[order]
    begins = np.ones(len(order), np.bool_)
    begins[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    first_row = rows[order[begins]]
    place = np.empty(len(first_row), np.uint32)
    place[np.argsort(first_row)] = np.arange(len(first_row), dtype=np.uint32)
    code[rows[order]] = place[np.cumsum(begins) - 1]
    return code, np.sort(first_row)


def integer_range(values: NDArray[Any], valid: NDArray[np.uint8]) -> tuple[int, int, int]:
    """Smallest and largest valid value and the number of valid ones; (0, -1, 0) when there is none."""
    if len(values) == 0:
        return 0, -1, 0
    if len(values) <= FEW:
        there = values[valid != 0] if len(valid) else values
        return (int(there.min()), int(there.max()), len(there)) if len(there) else (0, -1, 0)
    low, high, n = _integer_range(_looked_at(values), valid)
    return (int(low), int(high), int(n)) if n else (0, -1, 0)


def float_range(values: NDArray[np.float64], valid: NDArray[np.uint8]) -> tuple[float, float, int, bool]:
    """Range and number of values that are neither missing nor NaN, and whether all are whole."""
    if len(values) <= FEW:
        there = values[_present(values, valid)]
        low, high = there.min(initial=np.inf), there.max(initial=-np.inf)
        return float(low), float(high), len(there), bool((there == np.floor(there)).all())
    low, high, n, whole = _float_range(_looked_at(values), valid)
    return float(low), float(high), int(n), bool(whole)


def float_to_int(
    values: NDArray[np.float64], valid: NDArray[np.uint8], *, whole: bool
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Floats as integers (their value where whole, else zero to be filled in) and which are present."""
    if len(values) <= FEW:
        here = _present(values, valid)
        return np.where(here & whole, values, 0.0).astype(np.int64), here.astype(np.uint8)
    out, present = np.empty(len(values), np.int64), np.empty(len(values), np.uint8)
    _float_to_int(_looked_at(values), valid, whole, out, present)
    return out, present


def code_views(
    views: NDArray[np.uint64], valid: NDArray[np.uint8]
) -> tuple[NDArray[np.uint32], NDArray[np.int64]] | None:
    """Codes of short strings in order of first appearance, and the first row of each; None if one is long.

    `views` (n, 2): Arrow string views: the length and up to 12 bytes inline. `valid` (n,) or (0,): which are
    present.
    """
    n = len(views)
    if n <= FEW:
        return _code_few(views, valid)
    code, first_row = np.empty(n, np.uint32), np.empty(n, np.int64)
    n_levels = _code_views(_looked_at(views), valid, code, first_row)
    return None if n_levels < 0 else (code, first_row[:n_levels].copy())
