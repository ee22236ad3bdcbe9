"""How much likelier a person is under a release than under people who are not in the file: a calibrated score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdckit.numerics.array_types import AnyInts, Floats, Ints
from sdckit.numerics.compiling import njit
from sdckit.numerics.threads import chunks, run

SPREAD = 0.2  # b: weight of all other levels together, of a categorical variable
WIDTH = 0.2  # h: of the kernel of a number, as a share of its range
TAILS = (1, 99)  # percentiles between which the range of a number is measured
FOLDS = 5  # of the reference: nobody is scored against a part that holds them
FAR = 45.0  # a row less likely than the likeliest by this (in logs) adds nothing that a double can hold
CHUNK = 16  # targets of a slice at least


@dataclass(frozen=True, eq=False)
class KernelRows:
    """Rows of one file as a product of kernels reads them.

    `numbers` (n, p): divided by width and range, NaN where missing. `codes` (n, q). `same`, `other`: logarithm of the
    kernel of equal values and of different ones, for the numbers (missing ones) and then the categories.
    """

    numbers: Floats
    codes: Ints
    same: Floats
    other: Floats

    def take(self, rows: AnyInts) -> KernelRows:
        """Some of the rows."""
        numbers, codes = np.ascontiguousarray(self.numbers[rows]), np.ascontiguousarray(self.codes[rows])
        return KernelRows(numbers, codes, self.same, self.other)


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
    out = []
    for file in range(len((*numbers, *codes)[0])):
        columns = [files[file] for files in measured], [files[file] for files in categories]
        n = len((*numbers, *codes)[0][file])
        matrix, labels = np.empty((n, len(measured))), np.empty((n, len(categories)), np.int64)
        for target, values in zip((matrix, labels), columns, strict=True):
            for j, column in enumerate(values):
                target[:, j] = column
        out.append(KernelRows(matrix, labels, same, np.log(others)))
    return tuple(out)


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
    n = len(targets.codes)
    whole = np.zeros(len(rows.codes), np.int64) if folds is None else folds
    own = np.full(n, -1, np.int64) if fold is None else fold
    out = np.empty(n)

    def part(ends: tuple[int, int]) -> None:
        at = slice(*ends)
        _log_sums(
            targets.numbers[at], targets.codes[at], own[at], rows.numbers, rows.codes, whole, rows.same, rows.other,
            out[at],
        )  # fmt: skip

    run(part, chunks(n, minimum=CHUNK))
    sizes = {number: np.count_nonzero(whole != number) for number in np.unique(own)}
    return out - np.log([sizes[number] for number in own])


@njit(cache=True, nogil=True)
def _log_sums(numbers, codes, own, row_numbers, row_codes, folds, same, other, out):  # type: ignore[no-untyped-def]
    """Fill `out` with the logarithm of the sum of products of kernels over the rows of other folds."""
    p, q = numbers.shape[1], codes.shape[1]
    for i in range(len(codes)):
        best, total = -np.inf, 0.0
        for r in range(len(row_codes)):
            if folds[r] == own[i]:
                continue
            log = 0.0
            for j in range(p):
                apart = abs(numbers[i, j] - row_numbers[r, j])
                if not np.isnan(apart):
                    log -= apart
                elif np.isnan(numbers[i, j]) and np.isnan(row_numbers[r, j]):
                    log += same[j]
                else:
                    log += other[j]
            for j in range(q):
                log += same[p + j] if codes[i, j] == row_codes[r, j] else other[p + j]
            if log > best:
                total = total * np.exp(best - log) + 1.0
                best = log
            elif log > best - FAR:
                total += np.exp(log - best)
        out[i] = best + np.log(total)
