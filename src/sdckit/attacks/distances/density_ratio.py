"""How much likelier a person is under a release than under people who are not in the file: a calibrated score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.numerics.array_types import AnyInts, Floats, Ints
from sdckit.numerics.compiling import njit
from sdckit.numerics.threads import chunks, run

SPREAD = 0.2  # b: weight of all other levels together, of a categorical variable
WIDTH = 0.2  # h: of the kernel of a number, as a share of its range
TAILS = (1, 99)  # percentiles between which the range of a number is measured
FOLDS = 5  # of the reference: nobody is scored against a part that holds them
FAR = 45.0  # a row less likely than the likeliest by this (in logs) adds nothing that a double can hold
CHUNK = 16  # targets of a slice at least
BLOCK = 1_024  # rows summed at a time, a variable after the other: they stay in the cache of the processor


@dataclass(frozen=True, eq=False)
class KernelRows:
    """Rows of one file as a product of kernels reads them.

    `numbers` (p, n): divided by width and range, NaN where missing. `codes` (q, n). `same`, `other`: logarithm of the
    kernel of equal values and of different ones, for the numbers (missing ones) and then the categories.
    """

    numbers: Floats
    codes: NDArray[np.int32]
    same: Floats
    other: Floats

    def take(self, rows: AnyInts) -> KernelRows:
        """Some of the rows."""
        return KernelRows(self.numbers.take(rows, axis=1), self.codes.take(rows, axis=1), self.same, self.other)


def kernel_rows(numbers: Sequence[Sequence[Floats]], codes: Sequence[Sequence[AnyInts]]) -> tuple[KernelRows, ...]:
    """The rows of several files, for each its numbers and categories, ready for `log_density`.

    `numbers`, `codes`: for each variable its values in each file; a missing category has a code of its own.

    >>> first, second = kernel_rows([], [(np.array([0, 1]), np.array([1]))])
    >>> np.exp(first.same).round(2).tolist(), np.exp(first.other).round(2).tolist()
    ([0.8], [0.2])
    """
    spans = [_span(files) for files in numbers]
    measured = [
        [values / (WIDTH * span) for values in files] for files, span in zip(numbers, spans, strict=True) if span
    ]
    # without a range all values are alike: there are two levels, a value and none
    alike = [[np.isnan(values) for values in files] for files, span in zip(numbers, spans, strict=True) if not span]
    categories = [*codes, *alike]
    levels = np.array([max(len(np.unique(np.concatenate(files))), 2) - 1 for files in categories])
    others = np.concatenate([np.full(len(measured), SPREAD), SPREAD / levels if categories else []])
    same = np.full(len(others), math.log(1 - SPREAD))
    sizes = [len(file) for file in (*numbers, *codes)[0]]
    return tuple(
        KernelRows(
            np.array([files[file] for files in measured], np.float64).reshape(len(measured), n),
            np.array([files[file] for files in categories], np.int32).reshape(len(categories), n),
            same, np.log(others),
        )
        for file, n in enumerate(sizes)
    )  # fmt: skip


def _span(files: Sequence[Floats]) -> float:
    """Range of a number between its tails, over all files."""
    together = np.concatenate(files)
    known = together[~np.isnan(together)]
    return float(np.ptp(np.percentile(known, TAILS))) if len(known) else 0.0


def log_density(
    targets: KernelRows, rows: KernelRows, *, fold: Ints | None = None, folds: Ints | None = None
) -> Floats:
    """Logarithm of the mean product of kernels over the rows, for each target.

    `fold` (targets), `folds` (rows): rows of a target's own fold are left out.

    >>> a, b = kernel_rows([], [(np.array([0, 1, 1]), np.array([0, 1]))])
    >>> np.exp(log_density(b, a)).round(3).tolist()
    [0.4, 0.6]
    """
    n = targets.codes.shape[1]
    # rows in the order of their folds: a fold is left out as one piece
    order = None if folds is None else np.argsort(folds, kind="stable")
    sorted_rows = rows if order is None else rows.take(order)
    whole = rows.codes.shape[1]
    ends = np.zeros((2, n), np.int64)  # of the piece left out
    if folds is not None and order is not None and fold is not None:
        ends = np.array([np.searchsorted(folds[order], fold, side) for side in ("left", "right")])
    out = np.empty(n)

    def part(slice_ends: tuple[int, int]) -> None:
        at = slice(*slice_ends)
        _log_sums(
            targets.numbers[:, at], targets.codes[:, at], ends[:, at], sorted_rows.numbers, sorted_rows.codes,
            rows.same, rows.other, out[at],
        )  # fmt: skip

    run(part, chunks(n, minimum=CHUNK))
    logs: Floats = out - np.log(whole - (ends[1] - ends[0]))
    return logs


@njit(cache=True, nogil=True)
def _log_sums(numbers, codes, ends, row_numbers, row_codes, same, other, out):  # type: ignore[no-untyped-def]
    """Fill `out` with the logarithm of the sum of products of kernels over the rows, but those between `ends`."""
    logs = np.empty(BLOCK)
    for i in range(len(out)):
        best, total = -np.inf, 0.0
        for first, last in ((0, ends[0, i]), (ends[1, i], row_codes.shape[1])):
            for start in range(first, last, BLOCK):
                here = logs[: min(BLOCK, last - start)]
                _log_kernels(numbers[:, i], codes[:, i], row_numbers, row_codes, start, same, other, here)
                most = here.max()
                if most > best:
                    total *= np.exp(best - most)
                    best = most
                for log in here:
                    if log > best - FAR:
                        total += np.exp(log - best)
        out[i] = best + np.log(total)


@njit(cache=True, nogil=True)
def _log_kernels(numbers, codes, row_numbers, row_codes, start, same, other, out):  # type: ignore[no-untyped-def]
    """Fill `out` with the logarithm of the product of kernels of a target and each of the rows from `start`."""
    p = len(numbers)
    out[:] = same[p:].sum()
    for j in range(len(codes)):
        code, apart = codes[j], other[p + j] - same[p + j]
        labels = row_codes[j, start : start + len(out)]
        for r in range(len(out)):
            out[r] += 0.0 if labels[r] == code else apart
    for j in range(p):
        number, unlike, values = numbers[j], other[j], row_numbers[j, start : start + len(out)]
        if np.isnan(number):
            for r in range(len(out)):
                out[r] += same[j] if np.isnan(values[r]) else unlike
        else:
            for r in range(len(out)):
                away = abs(number - values[r])
                out[r] += unlike if np.isnan(away) else -away
