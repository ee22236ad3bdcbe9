"""Thresholds against figures: what holds, what does not, and what could not be judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sdckit.attribute.l_diversity import LDiversity
    from sdckit.data.scenario import Thresholds
    from sdckit.identity.individual_risk import IndividualRisk
    from sdckit.identity.k_anonymity import KAnonymity

__all__ = ["Verdict", "judge"]

HOLDS = {
    "k": "every record is in a group of at least {limit:,g} with the same keys (k = {limit:,g})",
    "risk": "no record has a risk of re-identification above {limit:g}",
    "household_risk": "no record has a household risk above {limit:g}",
    "global_risk": "the expected share of records re-identified is {value:.3g}, not above {limit:g}",
    "l": "every group with the same keys holds at least {limit:,g} different values of {variable}",
}
EXCEEDED = {
    "k": "{records} {are} in {group} of fewer than {limit:,g} with the same keys (k = {limit:,g})",
    "risk": "{records} {have} a risk of re-identification above {limit:g}",
    "household_risk": "{records} {have} a household risk above {limit:g}",
    "global_risk": "the expected share of records re-identified is {value:.3g}, above {limit:g}",
    "l": "{records} {are} in {group} with fewer than {limit:,g} different values of {variable}",
}


@dataclass(frozen=True)
class Verdict:
    """One threshold against one intruder.

    Attributes
    ----------
    name : str
        "k", "risk", "household_risk", "global_risk" or "l".
    intruder : str
    variable : str or None
        The sensitive variable of an l threshold.
    limit : float
        The threshold.
    holds : bool or None
        None where it could not be judged, for the `reason`.
    n_records : int or None
        Records beyond the limit, where that is a number of records.
    value : float or None
        The figure compared, where it is one figure.
    """

    name: str
    intruder: str
    variable: str | None
    limit: float
    holds: bool | None
    n_records: int | None
    value: float | None
    reason: str

    @property
    def word(self) -> str:
        """One of "holds", "exceeded" and "not judged"."""
        return "not judged" if self.holds is None else "holds" if self.holds else "exceeded"

    @property
    def sentence(self) -> str:
        """What was found, in plain words with exact figures."""
        if self.holds is None:
            return f"{self.name} = {self.limit:g}: {self.reason}"
        n = self.n_records or 0
        return (HOLDS if self.holds else EXCEEDED)[self.name].format(
            limit=self.limit,
            value=0.0 if self.value is None else self.value,
            variable=self.variable,
            records=f"{n:,} record{'s' if n != 1 else ''}",
            are="are" if n != 1 else "is",
            group="groups" if n != 1 else "a group",
            have="have" if n != 1 else "has",
        )


def _by_count(name: str, intruder: str, limit: float, beyond: int, variable: str | None = None) -> Verdict:
    return Verdict(name, intruder, variable, limit, beyond == 0, beyond, None, "")


def _unjudged(name: str, intruder: str, limit: float, reason: str, variable: str | None = None) -> Verdict:
    return Verdict(name, intruder, variable, limit, None, None, None, reason)


def judge(
    thresholds: Thresholds,
    intruder: str,
    *,
    k_anonymity: KAnonymity,
    risk: IndividualRisk,
    l_diversity: LDiversity | None,
    sensitive: Sequence[str],
    no_l_because: str,
) -> tuple[Verdict, ...]:
    """Compare every declared threshold with its figure."""
    found: list[Verdict] = []
    if thresholds.k is not None:
        found.append(_by_count("k", intruder, thresholds.k, k_anonymity.violations[thresholds.k]))
    if thresholds.risk is not None:
        found.append(_by_count("risk", intruder, thresholds.risk, risk.count_above(thresholds.risk)))
    if thresholds.global_risk is not None:
        value = risk.global_risk
        found.append(
            Verdict("global_risk", intruder, None, thresholds.global_risk, value <= thresholds.global_risk,
                    None, value, "")
        )  # fmt: skip
    if thresholds.household_risk is not None:
        limit = thresholds.household_risk
        found.append(
            _by_count("household_risk", intruder, limit, risk.count_households_above(limit))
            if risk.has_household
            else _unjudged("household_risk", intruder, limit, "the scenario names no household column")
        )
    if thresholds.l is not None:
        found += _judge_l(thresholds.l, intruder, l_diversity, sensitive, no_l_because)
    return tuple(found)


def _judge_l(
    limit: int, intruder: str, result: LDiversity | None, sensitive: Sequence[str], because: str
) -> list[Verdict]:
    if result is None:
        names: Sequence[str | None] = sensitive or (None,)
        return [_unjudged("l", intruder, limit, because, name) for name in names]
    return [
        _by_count("l", intruder, limit, result.violations[name]["distinct"][limit], name)
        if name in result.variables
        else _unjudged("l", intruder, limit, because, name)
        for name in sensitive
    ]
