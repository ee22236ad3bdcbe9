"""The measures of a release beside its original that `assess` runs against one intruder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sdckit.attribute.attribute_disclosure import attribute_disclosure
from sdckit.attribute.correct_attribution_probability import correct_attribution_probability
from sdckit.attribute.prediction_risk import prediction_risk
from sdckit.cells.pair import Pair
from sdckit.data.scenario import Scenario
from sdckit.errors import SdcError
from sdckit.identity.identity_disclosure import identity_disclosure
from sdckit.identity.interval_risk import interval_risk
from sdckit.identity.matching_risk import matching_risk
from sdckit.identity.record_linkage import record_linkage
from sdckit.identity.robust_interval_risk import robust_interval_risk
from sdckit.result import Result

__all__ = ["release_measures", "what_is_lacking"]

NOT_ALIGNED = (
    "row i of the release is not declared to come from row i of the original; say aligned = true in the "
    "scenario, or name the id"
)
NO_NUMERIC = "the scenario names no numeric variable"
FEW_NUMERIC = "the scenario names fewer than two numeric variables"
NO_SENSITIVE = "the scenario names no sensitive variable"
# Of a sensitive variable.
LEARNT = ("correct_attribution_probability", "attribute_disclosure", "prediction_risk")
MOST_DISTANCES = 40_000_000_000  # pairs of records: a nearest-neighbour search of some ten seconds
MOST_ROBUST = 50_000  # records: a robust covariance of some seconds
Found = tuple[dict[str, Result], list[tuple[str, str]]]
Step = Callable[[str], None]


def what_is_lacking(scenario: Scenario, *, aligned: bool) -> dict[str, str]:
    """What each measure of two files lacks, whatever the files hold; empty where it lacks nothing.

    Parameters
    ----------
    scenario
        The declared roles.
    aligned
        Whether it is declared which rows belong together.

    Examples
    --------
    >>> [name for name, reason in what_is_lacking(Scenario(keys=["age"]), aligned=True).items() if not reason]
    ['matching_risk', 'identity_disclosure', 'record_linkage']
    """
    apart = "" if aligned else NOT_ALIGNED
    return {
        "matching_risk": apart,
        "identity_disclosure": "",
        "record_linkage": apart,
        "interval_risk": apart or ("" if scenario.numeric else NO_NUMERIC),
        "robust_interval_risk": apart or ("" if len(scenario.numeric) > 1 else FEW_NUMERIC),
        **dict.fromkeys(LEARNT, "" if scenario.sensitive else NO_SENSITIVE),
    }


def release_measures(pair: Pair, scenario: Scenario, tell: Step, *, seed: int | None = None) -> Found:
    """Run every measure of two files that the roles permit.

    Parameters
    ----------
    pair
        The original and its releases.
    scenario
        Of this intruder alone.
    tell
        Is told what is being done.
    seed
        For what is random (trees that predict).

    Returns
    -------
    results, skipped
        Results by measure, for a sensitive variable ``measure:variable``; (measure, reason) of the others.
    """
    found: dict[str, Result] = {}
    skipped: list[tuple[str, str]] = []
    name, keys = next(iter(scenario.intruders.items()))
    for place, words, lacking, run in (
        *_identity(pair, scenario, keys, seed),
        *_attribute(pair, scenario, keys, seed),
    ):
        if lacking:
            skipped.append((place, lacking))
            continue
        tell(words.format(name))
        try:
            found[place] = run()
        except SdcError as error:
            skipped.append((place, str(error)))
    return found, skipped


Plan = list[tuple[str, str, str, Callable[[], Result]]]


def _identity(pair: Pair, scenario: Scenario, keys: Sequence[str], seed: int | None) -> Plan:
    numeric = [name for name in keys if name in scenario.numeric]
    changed = [name for name in keys if not all(pair.identical([name]))]
    known = [name for name in keys if name not in changed]
    lacks = what_is_lacking(scenario, aligned=pair.aligned)
    too_many = max(pair.sizes) * pair.n > MOST_DISTANCES
    far = f"{pair.n:,} records are too many for a search of neighbours here" if too_many else ""
    return [
        (
            "matching_risk", "matching the rows of {} back", lacks["matching_risk"],
            lambda: matching_risk(pair, known=known, synthetic=changed, numeric=numeric),
        ),
        ("identity_disclosure", "looking for uniques of {} in the release", lacks["identity_disclosure"],
         lambda: identity_disclosure(pair, keys=keys)),
        (
            "record_linkage", "linking records on the keys of {}", lacks["record_linkage"] or far,
            lambda: record_linkage(pair, variables=keys, numeric=numeric),
        ),
        (
            "interval_risk", "comparing numbers with the original", lacks["interval_risk"],
            lambda: interval_risk(pair, numeric=scenario.numeric),
        ),
        (
            "robust_interval_risk", "comparing numbers with the original, outliers apart",
            lacks["robust_interval_risk"] or _not_robust(pair),
            lambda: robust_interval_risk(pair, numeric=scenario.numeric, seed=seed),
        ),
    ]  # fmt: skip


def _not_robust(pair: Pair) -> str:
    if pair.n > MOST_ROBUST:
        return f"{pair.n:,} records are many for a robust covariance here; call robust_interval_risk"
    return ""


def _attribute(pair: Pair, scenario: Scenario, keys: Sequence[str], seed: int | None) -> Plan:
    if not scenario.sensitive:
        return [(name, "", NO_SENSITIVE, _nothing) for name in LEARNT]
    plan: Plan = []
    for target in scenario.sensitive:
        numeric = target in scenario.numeric
        plan += [
            (
                f"correct_attribution_probability:{target}", f"attributing {target} from the keys of {{}}", "",
                _call(correct_attribution_probability, pair, keys=keys, target=target, width=0.1 if numeric else None),
            ),
            (
                f"attribute_disclosure:{target}", f"looking for disclosed values of {target}", "",
                _call(
                    attribute_disclosure, pair, keys=keys, target=target,
                    numeric=[name for name in (*keys, target) if name in scenario.numeric],
                ),
            ),
            (
                f"prediction_risk:{target}", f"predicting {target} from the keys of {{}}", "",
                _call(prediction_risk, pair, keys=keys, target=target,
                      numeric=[name for name in (*keys, target) if name in scenario.numeric], seed=seed),
            ),
        ]  # fmt: skip
    return plan


def _call(measure: Callable[..., Result], pair: Pair, **options: Any) -> Callable[[], Result]:
    return lambda: measure(pair, **options)


def _nothing() -> Result:
    raise AssertionError("a measure that lacks a role does not run")
