"""What one column gives back, in figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.recovery.guesses import Guessed, beyond
from sdckit.attacks.recovery.recovered import Recovered
from sdckit.attacks.recovery.told_values import Source
from sdckit.numerics.array_types import Bools

MOST_NAMED = 3


@dataclass(frozen=True)
class ColumnRecovery:
    """What a release gives back of one column.

    Attributes
    ----------
    column : str
    kinds : tuple of str
        What was done to it: "suppressed", "top- or bottom-coded", "in ranges", "rounded", "perturbed".
    touched : int
        Values changed.
    restored : int
        Of these told for certain.
    right : int or None
        Of these right; None without the original.
    narrowed : int
        Not told, but some values are ruled out.
    remaining : float
        Values that remain possible for a narrowed one, on average.
    n_guessed : int
        Suppressed (or perturbed) values that a model guessed.
    guess, guess_baseline : float
        Share of the guesses that are right: by the model, and by the most frequent value. Given the original they
        are counted, else estimated from the values that are known.
    guess_beyond, guess_low, guess_high : float
        Their difference, with its interval; NaN without the original.
    sources : tuple of Source
        What told values (``columns``, ``words``, ``told``), the one that tells most first.
    remedies : tuple of str
        What to do about each.
    """

    column: str
    kinds: tuple[str, ...]
    touched: int
    restored: int
    right: int | None
    narrowed: int
    remaining: float
    n_guessed: int
    guess: float
    guess_baseline: float
    guess_beyond: float
    guess_low: float
    guess_high: float
    sources: tuple[Source, ...]
    remedies: tuple[str, ...] = ()

    @property
    def counted(self) -> int:
        """Values given back: those that are right, where that is known."""
        return self.restored if self.right is None else self.right

    @property
    def telling(self) -> tuple[str, ...]:
        """What tells values of it in words, the most telling first; at most three."""
        return tuple(source.words for source in self.sources[:MOST_NAMED]) if self.counted else ()

    @property
    def told_by(self) -> str:
        """The same as one text; "" where nothing does."""
        return "; ".join(self.telling)

    @property
    def share(self) -> float:
        """The same as a share of the values changed."""
        return self.counted / self.touched if self.touched else 0.0


def summed_up(
    found: Recovered, right: Bools | None, guessed: Guessed | None, truth: NDArray[np.float64] | None, *,
    level: float, weight: str | None, household: str | None,
) -> ColumnRecovery:  # fmt: skip
    """Count what was found; `right` (n,) and `truth` (n,) where the original is known."""
    name, sources = found.target.column.name, tuple(sorted(found.sources, key=lambda one: -one.told))
    narrowed = found.narrowed
    left = found.after[narrowed]
    rates = (math.nan,) * 5
    if guessed is not None and truth is None:
        rates = (guessed.expected, guessed.expected_usual, math.nan, math.nan, math.nan)
    elif guessed is not None and truth is not None:
        model = guessed.right(truth[guessed.rows])
        usual = guessed.right(truth[guessed.rows], usual=True)
        rates = (float(model.mean()), float(usual.mean()), *beyond(model, usual, level))
    return ColumnRecovery(
        name, found.target.kinds, int(found.target.touched.sum()), int(found.restored.sum()),
        None if right is None else int(right.sum()), int(narrowed.sum()),
        float(np.nanmean(left)) if len(left) and not np.isnan(left).all() else math.nan,
        0 if guessed is None else len(guessed.rows), *rates,
        sources, tuple(dict.fromkeys(_remedy(name, source, weight, household) for source in sources)),
    )  # fmt: skip


def advice(columns: Sequence[ColumnRecovery]) -> tuple[str, ...]:
    """What to do about what is given back, first where most is."""
    told: dict[str, int] = {}
    for one in columns:
        for words in one.remedies if one.counted else ():
            told[words] = max(told.get(words, 0), one.counted)
    return tuple(sorted(told, key=lambda words: -told[words]))


def _remedy(column: str, source: Source, weight: str | None, household: str | None) -> str:
    if source.kind == "order":
        return "put the rows into random order (random_order): neighbours tell values"
    if weight is not None and weight in source.columns:
        return f"coarsen the weight {weight} (coarsen_weights), or leave it out: it tells {column}"
    if household is not None and household in source.columns:
        if source.kind == "counted":
            return (
                f"{column} can be counted from the rows of {household}: leave {household} out, or let no household "
                "show more rows than the release says (limit_households)"
            )
        if source.kind == "divided":
            return f"suppress {household} together with {column} (together), or leave it out: the mates tell {column}"
        return f"protect {column} once per household (household_variables, together): mates give it back"
    names = " and ".join(source.columns)
    return f"coarsen or leave out {names}, or suppress it together with {column}: it tells {column}"
