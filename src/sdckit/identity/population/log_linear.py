"""Log-linear models of a table of cells: main effects in closed form, interactions by proportional fitting.

The model is fitted to the sample counts over the full product of the observed levels (the grid), of which a
file fills a small part: main effects never build it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np

from sdckit.cells.table import Cells
from sdckit.data import arguments, nearest
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Floats, Ints
from sdckit.numerics.compiling import njit
from sdckit.numerics.threads import chunks, run

Method = Literal["counts", "ce", "pml", "weighted"]
METHODS: tuple[Method, ...] = get_args(Method)
ADDED = 0.1  # to the inverse mean weight of a cell, as in sdcMicro: a cell without records has an offset, too
MAX_ENTRIES = 20_000_000  # entries of a design: possible cells times terms
MAX_PARAMETERS = 2_000
MAX_ROUNDS = 200


def level_values(cells: Cells, linear: Sequence[str]) -> dict[int, Floats]:
    """The value of each level of the keys that enter as numbers, by the number of the key, in the grid's order."""
    values = {}
    for name in linear:
        if name not in cells.keys:
            raise ColumnError(f"linear: {name!r} is no key; it names keys that are numbers", argument="linear")
        j = list(cells.keys).index(name)
        coded = cells.levels[j]
        used = np.unique(cells.table.codes[j])
        if coded.kind not in ("integer", "number") or used[-1] >= coded.span:
            words = f"linear: key {name!r} has values that are missing or no numbers; leave it a category"
            raise DataError(words, argument="linear")
        values[j] = np.array([float(label) for label in coded.labels(used)])
    return values


def fractions_of(cells: Cells, pi: float) -> Floats:
    """The sampling fraction of each cell, records over the sum of their weights; `pi` where there are none."""
    weight = cells.table.weight
    if weight is None:
        return np.full(len(cells.table.size), pi)
    with np.errstate(divide="ignore"):
        return np.minimum(1.0, cells.table.size / weight)


def expected_counts(
    grid: Grid, terms: Sequence[Term], counts: Floats, weights: Floats, *, method: Method, values: Mapping[int, Floats]
) -> tuple[Floats, float]:
    """Expected sample count (M,) of every possible cell, in the grid's layout, and the largest gap of an equation.

    `counts` and `weights` (K,) are the records and the sum of weights of each cell that occurs; `values` the numbers
    that stand for levels, by key. "ce" offsets the model by the log of the inverse mean weight; "pml" fits the weights,
    scaled to the records; "weighted" has the sum of weights as one more predictor.

    References
    ----------
    Clogg, C. C. and Eliason, S. R. (1987). Some common problems in log-linear analysis. Sociological Methods &
    Research 16, 8-44 (the offset). Rao, J. N. K. and Thomas, D. R. (1988). The analysis of cross-classified categorical
    data from complex sample surveys. Sociological Methodology 18, 213-269 (pseudo maximum likelihood).
    """
    at, _ = grid.place(grid.layout)
    n, observed, weighed = float(counts.sum()), np.zeros(grid.n_possible), np.zeros(grid.n_possible)
    observed[at], weighed[at] = counts, weights
    offset = np.zeros(grid.n_possible)
    if method == "ce":
        offset[at] = counts / np.where(weights > 0, weights, math.inf)
        offset = np.log(offset + ADDED)
    elif method == "pml":
        observed = weighed * (n / weighed.sum())
    design, possible = _design(grid, terms, observed, values)
    if method == "weighted":
        from scipy.sparse import csr_array, hstack

        design = hstack([design, csr_array(weighed[:, None] / weighed.max(initial=1.0))], format="csr")
    mu = np.zeros(grid.n_possible)
    mu[possible], gap = _score(design[possible], observed[possible], offset[possible])
    return mu, gap


def _design(grid: Grid, terms: Sequence[Term], observed: Floats, values: Mapping[int, Floats]) -> tuple[Any, Any]:
    """The design (M, p), sparse, and the cells that a term does not exclude: none of its margin's cells is empty."""
    from scipy.sparse import coo_array

    parts = {part for term in terms for size in range(1, len(term) + 1) for part in combinations(term, size)}
    whole = sorted(parts | {(j,) for j in range(len(grid.shape))}, key=lambda part: (len(part), part))
    widths = [math.prod(1 if j in values else grid.shape[j] - 1 for j in part) for part in whole]
    if grid.n_possible * (len(whole) + 1) > MAX_ENTRIES or sum(widths) >= MAX_PARAMETERS:
        words = f"weights or linear keys need {grid.n_possible:,} possible cells times {len(whole) + 1} terms"
        limits = f"at most {MAX_ENTRIES:,}, and {MAX_PARAMETERS:,} parameters"
        raise DataError(f"{words}, {limits}; recode or leave out keys, or fit counts (method='counts')")
    digits = np.unravel_index(np.arange(grid.n_possible), [grid.shape[j] for j in grid.layout])
    level = dict(zip(grid.layout, digits, strict=True))
    possible = np.ones(grid.n_possible, np.bool_)
    rows, columns, entries = [np.arange(grid.n_possible)], [np.zeros(grid.n_possible, np.int64)], [possible * 1.0]
    start = 1
    for part, width in zip(whole, widths, strict=True):
        column, margin, entry = *np.zeros((2, grid.n_possible), np.int64), np.ones(grid.n_possible)
        for j in part:
            if j in values:
                spread = np.abs(values[j] - values[j].mean()).max()
                entry = entry * ((values[j] - values[j].mean()) / (spread or 1.0))[level[j]]
            else:
                column, entry = column * (grid.shape[j] - 1) + level[j] - 1, entry * (level[j] > 0)
                margin = margin * grid.shape[j] + level[j]
        if not any(j in values for j in part):
            possible &= np.bincount(margin, observed)[margin] > 0
        here = np.flatnonzero(entry)
        rows, columns, entries = [*rows, here], [*columns, start + column[here]], [*entries, entry[here]]
        start += width
    parts_of = np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns))
    return coo_array(parts_of, shape=(grid.n_possible, start)).tocsr(), possible


def _score(design: Any, observed: Floats, offset: Floats) -> tuple[Floats, float]:
    """Maximum likelihood of a Poisson model by Fisher scoring, and the largest gap of a likelihood equation."""
    n = observed.sum()
    eta, best, least = np.log(observed + 0.1), observed, math.inf
    mu = observed + 0.1
    for _ in range(MAX_ROUNDS):
        scaled = design.multiply(mu[:, None]).tocsr()
        working = design.T @ (mu * (eta - offset) + observed - mu)
        eta = design @ np.linalg.lstsq((design.T @ scaled).toarray(), working, rcond=1e-13)[0] + offset
        mu = np.exp(np.clip(eta, -300, 50))
        gap = float(np.abs(design.T @ (observed - mu)).max() / n)
        if gap < least:
            best, least = mu, gap
        elif least <= TOLERANCE:  # no nearer, and near enough
            break
    return best, least


Term = tuple[int, ...]
MAX_GRID = 10_000_000  # possible cells of a grid that is built
MAX_CYCLES = 2_000
TOLERANCE = 1e-8  # largest gap between a fitted and an observed margin, as a share of the records
DIRECT = 1 << 22  # codes that are renumbered by a lookup table


@dataclass(frozen=True, eq=False)
class Grid:
    """Cells as points of the full cross-classification of the levels in use."""

    codes: tuple[Ints, ...]  # (K,) level of each cell, key by key, from 0 without gaps
    shape: tuple[int, ...]  # levels of each key

    @property
    def n_possible(self) -> int:
        """Cells of the full grid."""
        return math.prod(self.shape)

    @property
    def layout(self) -> tuple[int, ...]:
        """Key order of the dense table: the key with most levels varies fastest."""
        return tuple(sorted(range(len(self.shape)), key=lambda j: self.shape[j]))

    def place(self, term: Sequence[int]) -> tuple[Ints, int]:
        """Index of each cell in the margin of some keys, and the number of margin cells."""
        at = np.zeros(len(self.codes[0]), np.int64)
        for j in term:
            at = at * self.shape[j] + self.codes[j]
        return at, math.prod(self.shape[j] for j in term)

    def strides(self, term: Sequence[int]) -> Ints:
        """Stride of each key (in layout order) in the margin of some keys; 0 for keys summed over."""
        steps, step = np.zeros(len(self.shape), np.int64), 1
        for j in reversed(term):
            steps[j], step = step, step * self.shape[j]
        return steps[list(self.layout)]


def _renumber(codes: Ints) -> tuple[Ints, int]:
    high = int(codes.max(initial=0))
    if high >= DIRECT:
        used, dense = np.unique(codes, return_inverse=True)
        return dense.astype(np.int64), len(used)
    present = np.bincount(codes, minlength=high + 1) > 0
    number: Ints = np.cumsum(present) - 1
    return number[codes], int(number[-1]) + 1


def grid_of(cells: Cells) -> Grid:
    """Number the levels in use from 0, a missing value being a level."""
    numbered = [_renumber(codes) for codes in cells.table.codes]
    return Grid(tuple(codes for codes, _ in numbered), tuple(levels for _, levels in numbered))


# --- main effects ------------------------------------------------------------------------------


def shares_of(grid: Grid, counts: Floats) -> list[Floats]:
    """Share of the records at each level of each key."""
    n = counts.sum()
    return [np.bincount(codes, counts, levels) / n for codes, levels in zip(grid.codes, grid.shape, strict=True)]


def expected_main_effects(grid: Grid, counts: Floats) -> Floats:
    """Expected count of each cell when the keys are independent: n times the product of its shares.

    Examples
    --------
    >>> grid = Grid((np.array([0, 0, 1]), np.array([0, 1, 1])), (2, 2))
    >>> expected_main_effects(grid, np.array([2.0, 1.0, 1.0])).tolist()
    [1.5, 1.5, 0.5]
    """
    mu = np.full(len(counts), counts.sum())
    for codes, share in zip(grid.codes, shares_of(grid, counts), strict=True):
        mu *= share[codes]
    return mu


def dense_main_effects(grid: Grid, counts: Floats) -> Floats:
    """Expected count of every possible cell when the keys are independent, in the grid's layout."""
    shares = shares_of(grid, counts)
    mu = np.array([float(counts.sum())])
    for j in grid.layout:
        mu = np.multiply.outer(mu, shares[j]).ravel()
    return mu


# --- interactions ---------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _walk_margin(mu, shape, strides, margin, scale):  # type: ignore[no-untyped-def]
    """Add the dense table `mu` (flat; `shape` in layout order) to its `margin`; or multiply it in place, to `scale`.

    A stride of 0: the key is summed over.
    """
    last = len(shape) - 1
    inner, step = shape[last], strides[last]
    digits = np.zeros(last + 1, np.int64)
    base, at = 0, 0
    while at < len(mu):
        if scale:
            for j in range(inner):
                mu[at + j] *= margin[base + j * step]
        elif step == 0:
            part = 0.0
            for j in range(inner):
                part += mu[at + j]
            margin[base] += part
        else:
            for j in range(inner):
                margin[base + j * step] += mu[at + j]
        at += inner
        for v in range(last - 1, -1, -1):
            digits[v] += 1
            base += strides[v]
            if digits[v] < shape[v]:
                break
            base -= digits[v] * strides[v]
            digits[v] = 0


@njit(cache=True, nogil=True)
def _fit_margin(mu, shape, strides, target, total):  # type: ignore[no-untyped-def]
    """Scale `mu` in place to the margin `target`, `total` being scratch; return the largest gap before."""
    total[:] = 0
    _walk_margin(mu, shape, strides, total, False)
    gap = 0.0
    for i in range(len(total)):
        gap = max(gap, abs(total[i] - target[i]))
        total[i] = target[i] / total[i] if total[i] > 0 else 0.0
    _walk_margin(mu, shape, strides, total, True)
    return gap


def fit_terms(
    grid: Grid, terms: Sequence[Term], counts: Floats, *, start: Floats | None = None,
    tolerance: float = TOLERANCE, max_cycles: int = MAX_CYCLES,
) -> tuple[Floats, float]:  # fmt: skip
    """Fit a hierarchical log-linear model by iterative proportional fitting.

    `terms` are the margins (key numbers) that the fitted table shall have; together they cover every key. `counts`
    (K,) are the records of each cell that occurs; `start` (M,) is the fit of a model that these terms contain, by
    default main effects. Gives the expected count (M,) of every possible cell, in the grid's layout, and the largest
    gap of a margin in the last round, as a share of the records: above `tolerance` when the fit did not converge.

    References
    ----------
    Deming, W. E. and Stephan, F. F. (1940). On a least squares adjustment of a sampled frequency table
    when the expected marginal totals are known. Annals of Mathematical Statistics 11, 427-444.
    """
    n = float(counts.sum())
    mu = dense_main_effects(grid, counts) if start is None else start.copy()
    shape = np.array([grid.shape[j] for j in grid.layout], np.int64)
    margins = []
    for term in terms:
        at, places = grid.place(term)
        margins.append((grid.strides(term), np.bincount(at, counts, places), np.empty(places)))
    gap = math.inf
    for _ in range(max_cycles):
        gap = max(_fit_margin(mu, shape, *margin) for margin in margins) / n
        if gap <= tolerance:
            break
    return mu, gap


# Which interactions a log-linear model has: from an order, or from terms written by the analyst.


Formula = str | Sequence[str | Sequence[str]]


def model_terms(keys: Sequence[str], interactions: int, formula: Formula | None) -> tuple[Term, ...]:
    """Interaction terms asked for; empty for main effects alone, which are always in.

    `interactions` is their highest order: 1 main effects, 2 all pairs, ...; `formula` has the terms themselves,
    ``"age:educ + sex:age:educ"``, or a list of such texts or of lists of keys.

    Examples
    --------
    >>> model_terms(["age", "sex", "educ"], 1, "age + age:educ")
    ((0, 2),)
    >>> model_terms(["age", "sex", "educ"], 2, None)
    ((0, 1), (0, 2), (1, 2))
    """
    arguments.count(interactions, "interactions", "is the highest order of a term, 1 being main effects")
    if interactions > len(keys):
        words = f"interactions={interactions} needs as many keys; there are {len(keys)}"
        raise DataError(words, argument="interactions")
    if formula is None:
        return tuple(combinations(range(len(keys)), interactions)) if interactions > 1 else ()
    if interactions > 1:
        words = "give formula= or interactions=, not both: each says which terms the model has"
        raise DataError(words, argument="formula")
    terms = [_term(keys, part) for part in _parts(formula)]
    return maximal([term for term in terms if len(term) > 1])


def _parts(formula: Formula) -> list[str | Sequence[str]]:
    if not isinstance(formula, str):
        return list(arguments.several(formula, "formula", "has the terms of the model"))
    text = formula.strip().removeprefix("~").strip()
    parts = text.split("+") if text else []
    if not all(part.strip() for part in parts):
        words = "formula: a term is empty; write keys joined by ':' and terms joined by '+'"
        raise DataError(words, argument="formula")
    return list(parts)


def _term(keys: Sequence[str], part: str | Sequence[str]) -> Term:
    if isinstance(part, str):
        whole = part.strip()
        names = [whole] if whole in keys else [name.strip() for name in whole.split(":")]
    else:
        names = list(arguments.several(part, "formula", "has a term that is no list of keys"))
    for name in names:
        if name not in keys:
            words = f"formula: {name!r} is no key; {nearest.did_you_mean(str(name), keys)}"
            raise ColumnError(f"{words} (join keys with ':', terms with '+')", argument="formula")
    return tuple(sorted({list(keys).index(name) for name in names}))


def maximal(terms: Iterable[Term]) -> tuple[Term, ...]:
    """The terms that no other contains, in their order, each once.

    Examples
    --------
    >>> maximal([(0,), (0, 1), (2,), (0, 1)])
    ((0, 1), (2,))
    """
    distinct = list(dict.fromkeys(terms))
    return tuple(term for term in distinct if not any(set(term) < set(other) for other in distinct))


def term_name(keys: Sequence[str], term: Term) -> str:
    """A term in words: ``age:educ``."""
    return ":".join(keys[j] for j in term)


def term_names(keys: Sequence[str], terms: Sequence[Term]) -> tuple[str, ...]:
    """The whole model: every key, then the interactions."""
    return (*keys, *(term_name(keys, term) for term in terms))


# B1 and B2: whether a log-linear model is good enough for the risk it is used for.
# Each cell of the full grid contributes ``a (f - mu) + b ((f - mu)^2 - f)``. Empty cells contribute
# ``phi(mu) = -a mu + b mu^2``, a function of mu alone, so sums over the grid need no more than the
# expected counts: all of them, or how many there are of each size.


@dataclass(frozen=True)
class GridSums:
    """Sums over every possible cell as if it were empty."""

    values: Floats  # (6,) sum of phi, its square and the variance term; for B1, then for B2
    errors: Floats  # (6,) bounds of their errors, 0 where every cell was visited
    n_possible: float  # possible cells


@dataclass(frozen=True)
class FitStatistics:
    """B for the two risk functions, standardised in two ways.

    Attributes
    ----------
    b1, b2 : float
        Estimated error of tau1 and tau2 from the model: above 0 overestimated, below 0 overfitted.
    z1, z2 : float
        B over its standard deviation under the model.
    robust_z1, robust_z2 : float
        B over the standard deviation of the cells' own contributions.
    b1_error, b2_error : float
        Bounds of the numerical error of B; 0 where every possible cell was visited.
    """

    b1: float = math.nan
    b2: float = math.nan
    z1: float = math.nan
    z2: float = math.nan
    robust_z1: float = math.nan
    robust_z2: float = math.nan
    b1_error: float = math.nan
    b2_error: float = math.nan


@njit(cache=True, nogil=True, inline="always")
def _coefficients(mu, pi):  # type: ignore[no-untyped-def]
    """Weights a and b of B1 and of B2 for an expected count `mu`; series where near-equal numbers would cancel."""
    lam = mu / pi
    x = (1 - pi) * lam
    flat = lam * math.exp(-lam)
    a1 = (1 - pi) * flat
    b1 = (1 - pi) * (1 - pi) * flat / (2 * pi)
    e = math.exp(-x)
    r = -math.expm1(-x) / x if x > 0 else 1.0
    first = x / 2 - x * x / 3 + x * x * x / 8 if x < 1e-4 else r - e
    if x < 1e-2:
        second = x * x * (1 / 6 + x * (-1 / 8 + x * (1 / 20 + x * (-1 / 72 + x / 336))))
    else:
        second = r - e * (1 + x / 2)
    e = math.exp(-mu)
    return a1, b1, e * first, e * second / mu if mu > 0 else 0.0


@njit(cache=True, nogil=True)
def _add_functions(mu, pi, out):  # type: ignore[no-untyped-def]
    """Add phi, its square and the variance term of B1 and B2 for each expected count to a column of `out` (6, columns).

    The columns are gone through again and again: one holds the sums, as many as counts what each of these gives.
    """
    at = 0
    for i in range(len(mu)):
        m = mu[i]
        a1, b1, a2, b2 = _coefficients(m, pi)
        phi1, phi2 = -a1 * m + b1 * m * m, -a2 * m + b2 * m * m
        out[0, at] += phi1
        out[1, at] += phi1 * phi1
        out[2, at] += a1 * a1 * m + 2 * b1 * b1 * m * m
        out[3, at] += phi2
        out[4, at] += phi2 * phi2
        out[5, at] += a2 * a2 * m + 2 * b2 * b2 * m * m
        at = at + 1 if at + 1 < out.shape[1] else 0


@njit(cache=True, nogil=True)
def _correct(mu, f, pi):  # type: ignore[no-untyped-def]
    """What occupied cells (counts `f`) add to the sums of B1 and its squares, and of B2 and its squares: (4,)."""
    out = np.zeros(4)
    for i in range(len(mu)):
        m, n = mu[i], f[i]
        a1, b1, a2, b2 = _coefficients(m, pi)
        spread = n * n - 2 * n * m - n
        for k, a, b in ((0, a1, b1), (2, a2, b2)):
            empty = -a * m + b * m * m
            more = a * n + b * spread
            out[k] += more
            out[k + 1] += (empty + more) ** 2 - empty * empty
    return out


def grid_functions(mu: Floats, pi: float, columns: int | None = None) -> Floats:
    """The six functions of each expected count that are summed over the grid (6, len(mu)); in one column their sums."""
    out = np.zeros((6, columns or len(mu)))
    _add_functions(mu, pi, out)
    return out


def sum_grid(mu: Floats, pi: float) -> GridSums:
    """Sum over the expected counts of every possible cell, on threads."""
    parts = run(lambda part: grid_functions(mu[part[0] : part[1]], pi, columns=1)[:, 0], chunks(len(mu)))
    return GridSums(np.sum(parts, axis=0), np.zeros(6), float(len(mu)))


def fit_statistics(sums: GridSums, mu: Floats, f: Floats, pi: float) -> FitStatistics:
    """B1 and B2 from sums over the grid and the cells that occur.

    `mu` and `f` (K,) are the expected and the observed count of each cell that occurs. With a census (sampling
    fraction pi of 1) nothing is estimated and B is undefined.

    References
    ----------
    Skinner, C. and Shlomo, N. (2008). Assessing identification risk in survey microdata using
    log-linear models. Journal of the American Statistical Association 103, 989-1001.
    """
    if pi >= 1:
        return FitStatistics()
    more = _correct(mu, f, pi)
    statistics = []
    for k in (0, 1):
        total, squares = sums.values[3 * k] + more[2 * k], sums.values[3 * k + 1] + more[2 * k + 1]
        statistics.append((total, _ratio(total, sums.values[3 * k + 2]), _robust(total, squares, sums.n_possible)))
    (b1, z1, r1), (b2, z2, r2) = statistics
    errors = float(sums.errors[0]), float(sums.errors[3])
    return FitStatistics(float(b1), float(b2), z1, z2, r1, r2, *errors)


def _ratio(total: float, variance: float) -> float:
    return float(total / math.sqrt(variance)) if variance > 0 else math.nan


def _robust(total: float, squares: float, m: float) -> float:
    return math.nan if m < 2 else _ratio(total, m * (squares - total * total / m) / (m - 1))
