"""How many records of a release may be expected to be matched back: as a scenario declares, or as its k promises.

A limit of k promises that nobody is found with a chance above one in k. Where k is reached only through missing values
of others, it does not keep that: whoever takes the one record that fits in full is right more often.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sdckit.data.limits import PROMISED
from sdckit.data.replace import open_eager
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import SdcError
from sdckit.workflow.opened_release import with_bands

SLACK = 1e-9  # a limit reached by rounding is reached


@dataclass(frozen=True)
class MostMatched:
    """The share of the records that may be expected to be matched back, for each intruder.

    `promise`: the k that promises it, where the scenario declares no such share; else 0.
    """

    share: float
    promise: int = 0

    def holds(self, matched: float) -> bool:
        """Whether no larger share is expected to be matched back, as far as that was measured."""
        return not matched > self.share + SLACK

    def asked(self, scenario: Scenario) -> Scenario:
        """The scenario with the share as a limit."""
        if not self.promise:
            return scenario
        return scenario.changed(thresholds={**scenario.thresholds.entries, PROMISED.name: self.share})


def most_matched(scenario: Scenario) -> MostMatched | None:
    """The share that a search for a recipe keeps; None where every share will do.

    >>> most_matched(Scenario(keys=["age"], thresholds={"k": 4}))
    MostMatched(share=0.25, promise=4)
    >>> most_matched(Scenario(keys=["age"], thresholds={"k": 4, "match_risk": 0.1}))
    MostMatched(share=0.1, promise=0)
    >>> most_matched(Scenario(keys=["age"], thresholds={"k": 4, "match_risk": 1.0})) is None
    True
    """
    declared = scenario.limits_of(compared=True).declared
    if PROMISED.name in declared:
        share = float(declared[PROMISED.name])
        return MostMatched(share) if share < 1 else None
    if PROMISED.promised not in declared or PROMISED.name in scenario.thresholds.not_asked:
        return None
    k = int(declared[PROMISED.promised])
    return MostMatched(1 / k, k)


def matched_back(recoded: Any, release: Any, scenario: Scenario, most: MostMatched) -> float:
    """The share of the records expected to be matched back, of the intruder for whom it is largest.

    `recoded`: the records of the release before values of them were taken out. What k promises holds where an
    intruder finds no key missing: 0. NaN where it cannot be measured.
    """
    from sdckit.identity.matching.matching_risk import matching_risk

    after, largest = open_eager(release, {}), 0.0
    schema = after.schema
    scenario = with_bands(scenario, [key for key in scenario.all_keys if not schema[key].is_numeric()])
    for name in scenario.intruders:
        intruder = scenario.intruder(name)
        if most.promise and not any(after[key].null_count() for key in intruder.keys):
            continue
        try:
            result = matching_risk(recoded, release, scenario=intruder, missing="category")
        except SdcError:  # the release itself is judged later, and that says why
            return math.nan
        figures = (getattr(result, PROMISED.figure), getattr(result, PROMISED.otherwise))
        largest = max([largest, *(figure for figure in figures if not math.isnan(figure))])
    return largest
