"""How much likelier a person is under a release than under people who are not in the file: a calibrated score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdckit.numerics.array_types import AnyInts, Codes, Floats, Ints
from sdckit.numerics.compiling import njit
from sdckit.numerics.threads import chunks, run

SPREAD = 0.2  # b: weight of all other levels together, of a categorical variable
WIDTH = 0.2  # h: of the kernel of a number, as a share of its range
TAILS = (1, 99)  # percentiles between which the range of a number is measured
FOLDS = 5  # of the reference: nobody is scored against a part that holds them
FAR = -600.0  # logarithm of a likeliest product, of the largest possible one, below which others may be lost
LEAST = -700.0  # of the exponentials that are added: less is nothing beside the likeliest
LN2, LN2_HEAD = math.log(2), 0.6931471803691238  # the head has zeros at its end: a whole multiple of it is exact
LN2_TAIL = 1.9082149292705877e-10
WHOLE = 1.5 * 2**52  # a number with this added has its whole part in its last bits
CHUNK = 16  # targets of a slice at least
BLOCK = 1_024  # rows summed at a time, a variable after the other: they stay in the cache of the processor


@dataclass(frozen=True, eq=False)
class KernelRows:
    """Rows of one file as a product of kernels reads them.

    `numbers` (p, n): divided by width and range, NaN where missing. `codes` (q, n). `same`, `other`: logarithm of the
    kernel of equal values and of different ones, for the numbers (missing ones) and then the categories.
    """

    numbers: Floats
    codes: Codes
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
    spread = [(files, span) for files, span in zip(numbers, spans, strict=True) if span]
    measured = [[values / (WIDTH * span) for values in files] for files, span in spread]
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
        _log_sums(  # slices as arrays of their own: other types, as some slices are, would be compiled for apart
            targets.numbers[:, at].copy(), targets.codes[:, at].copy(), ends[:, at].copy(), sorted_rows.numbers,
            sorted_rows.codes, rows.same, rows.other, out[at],
        )  # fmt: skip

    run(part, chunks(n, minimum=CHUNK))
    logs: Floats = out - np.log(whole - (ends[1] - ends[0]))
    return logs


def calibrated_scores(
    people: KernelRows, releases: Sequence[KernelRows], reference: KernelRows, *, fold: Ints | None = None,
    folds: Ints | None = None,
) -> Floats:  # fmt: skip
    """Logarithm of the density of people under releases (the mean over them) less that under a reference.

    `fold`, `folds`: parts of the reference that are left out, as in `log_density`.

    >>> people, release, reference = kernel_rows([], [(np.array([1]), np.array([1, 1]), np.array([0, 0]))])
    >>> float(calibrated_scores(people, [release], reference)[0].round(4))
    1.3863
    """
    under = np.mean([log_density(people, release) for release in releases], axis=0)
    scores: Floats = under - log_density(people, reference, fold=fold, folds=folds)
    return scores


@njit(cache=True, nogil=True)
def _log_sums(numbers, codes, ends, row_numbers, row_codes, same, other, out):  # type: ignore[no-untyped-def]
    """Fill `out` with the logarithm of the sum of products of kernels over the rows, but those between `ends`."""
    logs, scales, n = np.empty(BLOCK), np.empty(BLOCK), row_codes.shape[1]
    shift, top = np.full(len(out), same[len(numbers) :].sum()), np.empty(len(out))  # no product is larger
    left = np.arange(len(out))
    while len(left):
        for i in left:
            out[i], top[i] = 0.0, -np.inf
        for start in range(0, n, BLOCK):  # for all targets: a block stays in the cache of the processor
            stop = min(start + BLOCK, n)
            for i in left:
                for first, last in ((start, min(stop, ends[0, i])), (max(start, ends[1, i]), stop)):
                    if first < last:
                        here = logs[: last - first]
                        _log_kernels(numbers[:, i], codes[:, i], row_numbers, row_codes, first, same, other, here)
                        top[i] = max(top[i], _largest(here))
                        out[i] += _sum_of_exponentials(here, shift[i], scales)
        n_far = 0
        for i in left:  # loops: assignments of arrays take 5 s more to compile
            if top[i] - shift[i] < FAR and top[i] > -np.inf:  # even the likeliest row is far: others may be lost
                left[n_far], shift[i] = i, top[i]
                n_far += 1
        left = left[:n_far]
    for target in range(len(out)):
        out[target] = shift[target] + np.log(out[target])


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc"})
def _largest(values):  # type: ignore[no-untyped-def]
    """The largest of numbers of which none is missing, several of them at a time."""
    top = -np.inf
    for value in values:
        top = max(top, value)
    return top


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _product_sum(one, other):  # type: ignore[no-untyped-def]
    """Sum of the products, in no order, so that several are taken at a time."""
    total = 0.0
    for r in range(len(one)):
        total += one[r] * other[r]
    return total


@njit(cache=True, nogil=True)
def _sum_of_exponentials(logs, shift, scales):  # type: ignore[no-untyped-def]
    """Sum of exp(logs - shift); `logs` is used up.

    Of e^x = 2^k e^y the second is a series, |y| below 0.35, and k the exponent of a double: no call of a library
    stands in the way of several elements at a time.
    """
    for r in range(len(logs)):
        away = max(logs[r] - shift, LEAST)
        scales[r] = away * (1 / LN2) + WHOLE
        k = scales[r] - WHOLE
        y = away - k * LN2_HEAD - k * LN2_TAIL
        series = ((y * (1 / 479001600) + 1 / 39916800) * y + 1 / 3628800) * y + 1 / 362880
        series = (((series * y + 1 / 40320) * y + 1 / 5040) * y + 1 / 720) * y + 1 / 120
        logs[r] = ((((series * y + 1 / 24) * y + 1 / 6) * y + 1 / 2) * y + 1) * y + 1
    bits = scales.view(np.int64)
    for r in range(len(logs)):
        bits[r] = (bits[r] + 1023) << 52
    return _product_sum(logs, scales)


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
