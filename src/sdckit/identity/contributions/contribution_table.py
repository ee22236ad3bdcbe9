"""The rows of A9: a key left out, a key coarsened, and what to do first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sdckit.identity.contributions.coarsening import Grouping, Levels
from sdckit.identity.contributions.recode_steps import step_text


@dataclass(frozen=True)
class Figures:
    """What is counted of one set of keys: sample uniques, global risk, records that violate each k."""

    uniques: int
    risk: float
    violations: dict[int, int]


@dataclass(frozen=True)
class Coarsened:
    """What one step to a coarser key changes.

    Attributes
    ----------
    rule : str
        How levels were merged, in words.
    levels_before, levels_after : int
    uniques_without, uniques_saved : int
        Sample uniques (records) that remain, and that are gone.
    violations_without : dict of int to int
        Records that still violate each k.
    risk_without : float
        Global risk that remains.
    entropy_lost : float
        Information lost, in bits per record.
    decides_alone : float
        Share of the sample uniques that stop being unique; NaN without sample uniques.
    plain_rule : str
        The rule without a number of levels, for documents.
    scale : str
        What the levels were taken for: "number", "date", "ordered", "codes", or "unknown".
    step : str
        The step of a recipe that does just this, as TOML; "" where no step does.
    step_is_public : bool
        Whether the step names nothing that few records of the data have.
    listed : bool
        Whether documents list it: beside one frequent level, that there is a step would tell of the rare ones.
    """

    rule: str
    levels_before: int
    levels_after: int
    uniques_without: int
    uniques_saved: int
    violations_without: dict[int, int]
    risk_without: float
    entropy_lost: float
    decides_alone: float = math.nan
    plain_rule: str = ""
    scale: str = "unknown"
    step: str = ""
    step_is_public: bool = False
    listed: bool = True

    @classmethod
    def of(cls, grouping: Grouping, levels: Levels, whole: Figures, left: Figures) -> Coarsened:
        """Set what is left against the whole."""
        saved = whole.uniques - left.uniques
        return cls(
            grouping.rule, len(levels.codes), grouping.after, left.uniques, saved, left.violations, left.risk,
            grouping.entropy_lost(levels), saved / whole.uniques if whole.uniques else math.nan,
            grouping.plain_rule or grouping.rule, levels.scale, step_text(grouping.step), grouping.public,
            levels.hide_the_rare,
        )  # fmt: skip


@dataclass(frozen=True)
class Contribution:
    """What leaving out one key, or a pair, changes.

    Attributes
    ----------
    variables : tuple of str
        The keys left out.
    uniques_without, uniques_saved : int
        Sample uniques (records) that remain, and that are gone.
    violations_without : dict of int to int
        Records that still violate each k.
    risk_without : float
        Global risk that remains.
    suggestion : str
        In words, what leaving the keys out brings.
    decides_alone : float
        Share of the sample uniques that stop being unique; NaN without sample uniques.
    entropy_lost : float
        Information lost, in bits per record.
    """

    variables: tuple[str, ...]
    uniques_without: int
    uniques_saved: int
    violations_without: dict[int, int]
    risk_without: float
    suggestion: str
    decides_alone: float = math.nan
    entropy_lost: float = math.nan

    @classmethod
    def of(
        cls, variables: tuple[str, ...], whole: Figures, left: Figures, entropies: Sequence[float]
    ) -> Contribution:
        """Set what is left against the whole."""
        saved, lost = whole.uniques - left.uniques, math.fsum(entropies)
        share = saved / whole.uniques if whole.uniques else math.nan
        name = " and ".join(variables)
        words = (
            f"without {name}, {saved} of {whole.uniques} sample uniques are gone: coarsen or drop it"
            if saved > 0
            else f"{name} makes nobody unique"
        )
        return cls(variables, left.uniques, saved, left.violations, left.risk, words, share, lost)


@dataclass(frozen=True)
class Suggestion:
    """One thing to do.

    Attributes
    ----------
    action : {"drop", "coarsen"}
    variables : tuple of str
    uniques_saved : int
    violations_saved : dict of int to int
    risk_saved : float
    entropy_lost : float
        Bits per record.
    saved_per_bit : float
        Sample uniques saved per bit lost; NaN where nothing is lost.
    sentence : str
    step : str
        The step of a recipe that does just this, as TOML; "" where no step does.
    """

    action: Literal["drop", "coarsen"]
    variables: tuple[str, ...]
    uniques_saved: int
    violations_saved: dict[int, int]
    risk_saved: float
    entropy_lost: float
    saved_per_bit: float
    sentence: str
    step: str = ""


def suggest(
    action: Literal["drop", "coarsen"],
    variables: tuple[str, ...],
    row: Contribution | Coarsened,
    whole: Figures,
) -> Suggestion:
    """Make a row something to do."""
    what = "leave out" if action == "drop" else "coarsen"
    how, step = "", step_text({"method": "drop_identifiers", "columns": list(variables)})
    if isinstance(row, Coarsened):
        unsure = "; or group codes that belong together" if row.scale == "unknown" else ""
        how = f" ({row.rule}, {row.levels_before} to {row.levels_after} levels{unsure})"
        step = row.step
    sentence = (
        f"{what} {' and '.join(variables)}{how}: {row.uniques_saved} of {whole.uniques} sample uniques gone "
        f"for {row.entropy_lost:.2f} bits of information"
    )
    return Suggestion(
        action, variables, row.uniques_saved,
        {k: count - row.violations_without[k] for k, count in whole.violations.items()},
        _saved(whole.risk, row.risk_without), row.entropy_lost, _per_bit(row.uniques_saved, row.entropy_lost), sentence,
        step,
    )  # fmt: skip


def rank(one: Suggestion) -> tuple[float, float, float, str, tuple[str, ...]]:
    """Order suggestions: uniques saved per bit, then risk saved per bit, then the smaller loss."""
    risk = _per_bit(one.risk_saved, one.entropy_lost)
    gains = [math.inf if math.isnan(gain) else -nine_digits(gain) for gain in (one.saved_per_bit, risk)]
    return (gains[0], gains[1], nine_digits(one.entropy_lost), one.action, one.variables)


def nine_digits(value: float) -> float:
    """A sum that the order of its parts does not change any more, for comparing.

    Examples
    --------
    >>> nine_digits(0.1 + 0.2) == nine_digits(0.3)
    True
    """
    return float(f"{value:.9g}")


def _saved(before: float, after: float) -> float:
    """What is saved of a risk; 0 where only rounding differs."""
    return 0.0 if math.isclose(before, after, rel_tol=1e-12) else before - after


def _per_bit(saved: float, lost: float) -> float:
    return saved / lost if lost > 0 else math.nan
