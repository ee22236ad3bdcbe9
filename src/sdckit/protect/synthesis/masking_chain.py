"""Data augmentation: true values drawn given their masked copies and all other variables, one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sdckit.numerics.array_types import Floats, Ints
from sdckit.protect.synthesis.masking_errors import MaskedVariable
from sdckit.protect.synthesis.synthesis_design import Seen, Term, design_matrix
from sdckit.protect.synthesis.synthesis_linear import LinearFit, choose
from sdckit.protect.synthesis.synthesis_variables import MISSING, Values


@dataclass(frozen=True, eq=False)
class Chain:
    """Where a chain ended, and what it passed through."""

    values: dict[str, Values]
    trace: dict[str, Floats]  # mean of numbers, or share of the first level, after each iteration
    accepted: dict[str, float]  # share of the moves of numbers that were taken


def is_affine(terms: Sequence[Term], column: str) -> bool:
    """Whether a design is affine in a number, all else held: then its values have a normal distribution."""
    for term in terms:
        if term.kind == "product":
            using = [one for one in term.factors if column in one.reads]
            if len(using) > 1 or not is_affine(using, column):
                return False
        elif column in term.reads and term.kind not in {"number", "missing"}:
            return False
    return True


class _State:
    """The values of a chain and what is derived from them."""

    def __init__(self, fits: Mapping[str, LinearFit], held: dict[str, Seen], of_chain: int, n: int) -> None:
        self.fits, self.held, self.n = fits, held, n
        self.parameters = {name: _parameters(fit, of_chain) for name, fit in fits.items()}
        self.moving: dict[str, tuple[list[Term], Floats]] = {}
        self.still: dict[str, Floats] = {}
        for name, fit in fits.items():  # what no masked variable is in stays as it is
            B = self.parameters[name][0]
            moves = np.array([bool(set(fits) & set(term.reads)) for term in fit.terms], np.bool_)
            at = np.flatnonzero(moves)
            self.moving[name] = ([fit.terms[one] for one in at], B[:, at + 1].T)
            rest = np.flatnonzero(~moves)
            kept = design_matrix([fit.terms[one] for one in rest], held, n)
            self.still[name] = np.asarray(kept @ B[:, np.r_[0, rest + 1]].T, np.float64)
        self.children = {
            name: [other for other, fit in fits.items() if any(name in term.reads for term in fit.terms)]
            for name in fits
        }

    def eta(self, name: str) -> Floats:
        """Linear predictors of a variable's own model, shape (n, K)."""
        terms, B = self.moving[name]
        if not terms:
            return self.still[name]
        return np.asarray(self.still[name] + design_matrix(terms, self.held, self.n)[:, 1:] @ B, np.float64)

    def log_likelihood(self, name: str) -> Floats:
        """Of each record's value in a variable given its predictors; 0 where it is missing."""
        fit, eta, values = self.fits[name], self.eta(name), self.held[name].values
        if fit.model == "normal":
            assert values.number is not None
            found = -0.5 * ((values.number - eta[:, 0]) / self.parameters[name][1]) ** 2
            return np.where(np.isnan(found), 0.0, found)
        shares = fit.log_shares(eta)
        at = np.searchsorted(fit.levels, np.maximum(values.level, 0))
        return np.where(values.level == MISSING, 0.0, shares[np.arange(self.n), at])

    def set_number(self, name: str, number: Floats) -> None:
        self.held[name] = Seen(Values(self.held[name].values.level, number), self.held[name].labels)

    def set_level(self, name: str, level: Ints) -> None:
        self.held[name] = Seen(Values(level, None), self.held[name].labels)


def _parameters(fit: LinearFit, of_chain: int) -> tuple[Floats, float]:
    if fit.proper:
        return fit.drawn[0][of_chain], float(fit.drawn[1][of_chain])
    return fit.best


def run_chain(
    masked: Sequence[MaskedVariable], fits: Mapping[str, LinearFit], others: Mapping[str, Seen],
    iterations: int, of_chain: int, rng: np.random.Generator,
) -> Chain:  # fmt: skip
    """Draw the true values of all masked variables in turn, as often as said, from the masked ones on.

    `fits`: the model of each masked variable given those before it and the others.
    """
    held = {**others, **{one.name: _start(one) for one in masked}}
    n = len(masked[0].variable.held.level)
    state = _State(fits, held, of_chain, n)
    trace = {one.name: np.empty(iterations) for one in masked}
    moves = {one.name: 0.0 for one in masked if one.number is not None}
    for step in range(iterations):
        for one in masked:
            if one.number is not None:
                moves[one.name] += _draw_numbers(one, state, rng) / iterations
                number = state.held[one.name].values.number
                assert number is not None
                trace[one.name][step] = np.nanmean(number)
            else:
                _draw_levels(one, state, rng)
                level = state.held[one.name].values.level
                trace[one.name][step] = np.mean(level[level >= 0] == 0)
    ended = {one.name: state.held[one.name].values for one in masked}
    return Chain(ended, trace, moves)


def _start(one: MaskedVariable) -> Seen:
    if one.level is not None:
        return Seen(Values(one.level, None), one.variable.texts)
    return Seen(Values(one.variable.held.level, one.number), ())


def _draw_numbers(one: MaskedVariable, state: _State, rng: np.random.Generator) -> float:
    """Draw from the normal distribution that all models but a few make; the rest accept or refuse.

    A model in which the number enters by a straight line adds to precision and mean what it says of the number.
    """
    now = state.held[one.name].values.number
    assert now is not None
    assert one.number is not None
    sd = state.parameters[one.name][1]
    precision = np.full(state.n, 1 / sd**2 + 1 / one.sd**2)
    pull = state.eta(one.name)[:, 0] / sd**2 + one.number / one.sd**2
    rest: list[str] = []
    for name in state.children[one.name]:
        if state.fits[name].model != "normal" or not is_affine(state.fits[name].terms, one.name):
            rest.append(name)
            continue
        slope, away, spread = _line(one.name, name, now, state)
        precision += (slope / spread) ** 2
        pull += slope * away / spread**2
    drawn = pull / precision + rng.standard_normal(state.n) / np.sqrt(precision)
    if not rest:
        state.set_number(one.name, drawn)
        return 1.0
    before = sum((state.log_likelihood(name) for name in rest), np.zeros(state.n))
    state.set_number(one.name, drawn)
    after = sum((state.log_likelihood(name) for name in rest), np.zeros(state.n))
    taken = np.log(rng.random(state.n)) < after - before
    state.set_number(one.name, np.where(taken, drawn, now))
    here = ~np.isnan(now)
    return float(taken[here].mean()) if here.any() else 1.0


def _line(column: str, name: str, now: Floats, state: _State) -> tuple[Floats, Floats, float]:
    """How a model's mean rises with a number, and what its outcome leaves for it, by record."""
    outcome = state.held[name].values.number
    assert outcome is not None
    here = state.eta(name)[:, 0]
    state.set_number(column, now + 1.0)
    slope = state.eta(name)[:, 0] - here
    state.set_number(column, now)
    away = outcome - (here - slope * now)
    silent = np.isnan(away)
    return np.where(silent, 0.0, slope), np.where(silent, 0.0, away), state.parameters[name][1]


def _draw_levels(one: MaskedVariable, state: _State, rng: np.random.Generator) -> None:
    """Draw each record's level with its probability given everything else."""
    assert one.level is not None
    assert one.log_confusion is not None
    fit, now = state.fits[one.name], one.level
    shares = fit.log_shares(state.eta(one.name))
    score = np.full((state.n, len(fit.levels)), -np.inf)
    for at, level in enumerate(fit.levels.tolist()):
        state.set_level(one.name, np.where(now == MISSING, MISSING, level))
        score[:, at] = shares[:, at] + one.log_confusion[level, np.maximum(now, 0)]
        for name in state.children[one.name]:
            score[:, at] += state.log_likelihood(name)
    score -= score.max(axis=1, keepdims=True)
    drawn = fit.levels[choose(np.exp(score), rng)]
    state.set_level(one.name, np.where(now == MISSING, MISSING, drawn))


def potential_scale_reduction(traces: Floats) -> float:
    """The split R-hat of the second halves of chains, shape (chains, iterations); near 1 where they agree.

    Gelman, A. and Rubin, D. B. (1992). Inference from iterative simulation using multiple sequences. Statistical
    Science 7, 457-472.

    >>> round(potential_scale_reduction(np.random.default_rng(1).normal(size=(4, 400))), 1)
    1.0
    """
    kept = traces[:, traces.shape[1] // 2 :]
    half = kept.shape[1] // 2
    if half < 2:
        return float("nan")
    parts = np.concatenate([kept[:, :half], kept[:, half : 2 * half]])
    within = float(parts.var(axis=1, ddof=1).mean())
    between = float(parts.mean(axis=1).var(ddof=1))
    if within == 0:
        return 1.0 if between == 0 else float("inf")
    return float(np.sqrt((half - 1) / half + between / within))
