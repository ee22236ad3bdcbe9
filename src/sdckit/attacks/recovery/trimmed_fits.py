"""Least trimmed squares of a number on few others, for many combinations of them (Rousseeuw and Van Driessen 2006)."""

import numpy as np

from sdckit.numerics.compiling import njit
from sdckit.numerics.grouping import sort_in_place

FEWEST = 30  # records that have all numbers of a combination
KEPT = 0.75  # share of the records that a fit must be near to
STEPS = 3
HALVINGS = 8  # of the range of the residuals, before the few in it are looked at one by one
ALIKE = 1e-9  # relative difference of two sums below which their order decides


@njit(nogil=True, cache=True)
def _solved(matrix, right, size):  # type: ignore[no-untyped-def]
    """Solve a small system in place (Gauss, largest pivot); False where it is singular."""
    for i in range(size):
        pivot = i
        for j in range(i + 1, size):
            if abs(matrix[j, i]) > abs(matrix[pivot, i]):
                pivot = j
        if abs(matrix[pivot, i]) < 1e-10:
            return False
        if pivot != i:
            for k in range(size):
                matrix[i, k], matrix[pivot, k] = matrix[pivot, k], matrix[i, k]
            right[i], right[pivot] = right[pivot], right[i]
        for j in range(i + 1, size):
            factor = matrix[j, i] / matrix[i, i]
            if factor != 0.0:
                for k in range(i, size):
                    matrix[j, k] -= factor * matrix[i, k]
                right[j] -= factor * right[i]
    for i in range(size - 1, -1, -1):
        for k in range(i + 1, size):
            right[i] -= matrix[i, k] * right[k]
        right[i] /= matrix[i, i]
    return True


@njit(nogil=True, cache=True)
def _present(y, terms, set_, x, own):  # type: ignore[no-untyped-def]
    """Gather the records that have y and every term of a set into `x` (3, m) and `own` (m,); how many there are."""
    n = 0
    for i in range(len(y)):
        whole = not np.isnan(y[i])
        for k in range(len(set_)):
            x[k, n] = terms[set_[k], i]
            whole = whole and not np.isnan(x[k, n])
        own[n] = y[i]
        n += whole
    return n


@njit(nogil=True, cache=True)
def _residuals(x, own, solved, n, off):  # type: ignore[no-untyped-def]
    """Absolute residuals of a fit of up to three terms, in place; terms that there are not have the factor 0."""
    a, b, c, d = solved[0], solved[1], solved[2], solved[3]
    for i in range(n):
        off[i] = abs(own[i] - (a + b * x[0, i] + c * x[1, i] + d * x[2, i]))


@njit(nogil=True, cache=True)
def _normal(x, own, off, limit, n, at, matrix, right):  # type: ignore[no-untyped-def]
    """Normal equations of the records with a residual up to a limit, in place; `at` (n,) takes their places.

    Every sum is taken in the order of the records, by itself: the last digits are those of a plain loop.
    """
    m = 0
    for i in range(n):
        at[m] = i
        m += off[i] <= limit
    s1 = s2 = s3 = s11 = s12 = s13 = s22 = s23 = s33 = r0 = r1 = r2 = r3 = 0.0
    for k in range(m):
        i = at[k]
        y, a, b, c = own[i], x[0, i], x[1, i], x[2, i]
        s1, s2, s3 = s1 + a, s2 + b, s3 + c
        s11, s12, s13 = s11 + a * a, s12 + a * b, s13 + a * c
        s22, s23, s33 = s22 + b * b, s23 + b * c, s33 + c * c
        r0, r1, r2, r3 = r0 + y, r1 + a * y, r2 + b * y, r3 + c * y
    matrix[0, 0], matrix[1, 1], matrix[2, 2], matrix[3, 3] = m, s11, s22, s33
    matrix[0, 1] = matrix[1, 0] = s1
    matrix[0, 2] = matrix[2, 0] = s2
    matrix[0, 3] = matrix[3, 0] = s3
    matrix[1, 2] = matrix[2, 1] = s12
    matrix[1, 3] = matrix[3, 1] = s13
    matrix[2, 3] = matrix[3, 2] = s23
    right[0], right[1], right[2], right[3] = r0, r1, r2, r3


@njit(nogil=True, cache=True)
def _parted(off, n, low, high, k, some, others):  # type: ignore[no-untyped-def]
    """The k-th (from 0) of the residuals in (low, high], parted at pivots without a branch for each."""
    m = 0
    for i in range(n):
        some[m] = off[i]
        m += (off[i] > low) & (off[i] <= high)
    while True:
        pivot, below, above = some[m // 2], 0, 0
        for i in range(m):
            residual = some[i]
            some[below] = residual
            below += residual < pivot
            others[above] = residual
            above += residual > pivot
        if k < below:
            m = below
        elif k >= m - above:
            k -= m - above
            m, some, others = above, others, some
        else:
            return pivot


@njit(nogil=True, cache=True, fastmath={"reassoc", "nsz", "nnan"})
def _nearest(off, n, h, some, others):  # type: ignore[no-untyped-def]
    """The h-th smallest of n residuals, and the mean of the h smallest, summed in any order.

    Residuals are counted at a few values between, until one is left between two of these.
    """
    low, high, passed, within = -1.0, 0.0, 0, n
    for i in range(n):
        high += off[i]
    high *= (1.0 + ALIKE) / (n - h + 1)  # so many are no smaller; a sum takes a tenth of what the largest takes
    for _ in range(HALVINGS):
        middle, up_to = (max(low, 0.0) + high) / 2, 0
        for i in range(n):
            up_to += off[i] <= middle
        if up_to >= h:
            high, within = middle, up_to
        else:
            low, passed = middle, up_to
        if within - passed == 1:
            break
    pivot = 0.0
    if within - passed == 1:
        for i in range(n):
            pivot += off[i] if (off[i] > low) & (off[i] <= high) else 0.0
    else:
        pivot = _parted(off, n, low, high, h - 1 - passed, some, others)
    total, below = 0.0, 0
    for i in range(n):
        total += off[i] if off[i] < pivot else 0.0
        below += off[i] < pivot
    return pivot, (total + (h - below) * pivot) / h


@njit(nogil=True, cache=True)
def _mean_in_order(off, n, h, limit, some):  # type: ignore[no-untyped-def]
    """Mean of the h smallest of n residuals, none above the limit, summed in ascending order."""
    m, total = 0, 0.0
    for i in range(n):
        some[m] = off[i]
        m += off[i] <= limit
    sort_in_place(some[:m])
    for i in range(h):
        total += some[i]
    return total / h


@njit(nogil=True, cache=True)
def _levels(values, distinct, codes):  # type: ignore[no-untyped-def]
    """Code values from 0 in place, -1 for NaN; how many levels there are, 0 for more than `distinct` has room for."""
    levels = 0
    for i in range(len(values)):
        code = -1
        if not np.isnan(values[i]):
            code = 0
            while code < levels and distinct[code] != values[i]:
                code += 1
            if code == len(distinct):
                return 0
            if code == levels:
                distinct[code] = values[i]
                levels += 1
        codes[i] = code
    return levels


@njit(nogil=True, cache=True)
def most_hits(y, terms, sets, most_levels, most_cells, shares):  # type: ignore[no-untyped-def]
    """Largest share of the records in which any function of a set of terms could give y.

    In each cell of equal terms a function gives one number, so that at most the commonest y of each is given.

    In: `y` (m,), `terms` (t, m) with NaN for none, `sets` (c, p), `most_levels`, `most_cells`: with more levels of a
    term, or cells of y and terms, the share is not bounded. Out: `shares` (c,), 1 where it is not bounded.
    """
    distinct, counts = np.empty(most_levels), np.empty(most_cells, np.int64)
    own, codes = np.empty(len(y), np.int64), np.empty(terms.shape, np.int64)
    levels, n_own = np.empty(len(terms), np.int64), _levels(y, distinct, own)
    for t in range(len(terms)):
        levels[t] = _levels(terms[t], distinct, codes[t])
    for c in range(len(sets)):
        cells = n_own
        for k in range(sets.shape[1]):
            cells = min(cells * levels[sets[c, k]], most_cells + 1)
        shares[c] = 1.0
        if cells < 1 or cells > most_cells:
            continue
        counts[:cells] = 0
        n = 0
        for i in range(len(y)):
            cell, whole = 0, own[i] >= 0
            for k in range(sets.shape[1]):
                code = codes[sets[c, k], i]
                whole = whole and code >= 0
                cell = cell * levels[sets[c, k]] + code
            if whole:
                counts[cell * n_own + own[i]] += 1
                n += 1
        hits = 0
        for first in range(0, cells, n_own):
            commonest = 0
            for a in range(first, first + n_own):
                commonest = max(commonest, counts[a])
            hits += commonest
        if n > 0:
            shares[c] = hits / n


@njit(nogil=True, cache=True, inline="always")
def _copy(values, n, out):  # type: ignore[no-untyped-def]
    """Copy the first n: an assignment of slices takes 4 s more to compile."""
    for i in range(n):
        out[i] = values[i]


@njit(nogil=True, cache=True)
def trimmed_fits(y, terms, sets, draws, enough, near, out):  # type: ignore[no-untyped-def]
    """Least trimmed squares of y on every set of terms.

    In: `y` (m,), `terms` (t, m) with NaN for none, `sets` (c, p) of up to three, `draws` (starts, 4) in [0, 1),
    `enough`: a mean trimmed residual below which no further start is tried; `near`: one above which its last digits do
    not count. Out: `out` (c, p + 2): mean trimmed residual, constant, factors; infinite where nothing fits.
    """
    size, most = sets.shape[1] + 1, len(y) + 1
    x, own, at = np.zeros((3, most)), np.empty(most), np.empty(most, np.int64)
    off, best, some, others = np.empty(most), np.empty(most), np.empty(most), np.empty(most)
    matrix, right = np.zeros((4, 4)), np.zeros(4)
    for c in range(len(sets)):
        n = _present(y, terms, sets[c], x, own)
        h = int(KEPT * n)
        least, limit_of_best, ordered = np.inf, 0.0, True
        for start in range(len(draws) if n >= FEWEST else 0):
            for a in range(size):
                row = int(draws[start, a] * n)
                right[a], matrix[a, 0] = own[row], 1.0
                for k in range(size - 1):
                    matrix[a, k + 1] = x[k, row]
            solved, step = _solved(matrix, right, size), 0
            while solved and step <= STEPS and least > enough:
                right[size:] = 0.0
                _residuals(x, own, right, n, off)
                limit, mean = _nearest(off, n, h, some, others)
                # A sum depends on its order in the last digits: it is taken in order where these count.
                better = mean < least * (1.0 - ALIKE)
                if (better and mean <= 2 * enough) or (not better and mean <= least * (1.0 + ALIKE)):
                    if not ordered:
                        least, ordered = _mean_in_order(best, n, h, limit_of_best, some), True
                    mean = _mean_in_order(off, n, h, limit, some)
                    better = mean < least
                elif better:
                    ordered, limit_of_best = False, limit
                    _copy(off, n, best)
                if better:
                    least = mean
                    _copy(right, size, out[c, 1:])
                step += 1
                if step <= STEPS:
                    _normal(x, own, off, limit, n, at, matrix, right)
                    solved = _solved(matrix, right, size)
        if not ordered and least <= near * (1.0 + ALIKE):
            least = _mean_in_order(best, n, h, limit_of_best, some)
        out[c, 0] = least
