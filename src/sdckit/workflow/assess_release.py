"""The main job on a release: before, after, and what the two files tell together."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from sdckit.cells.pair import Pair, open_pair
from sdckit.data.frames import open_frame
from sdckit.data.scenario import Scenario
from sdckit.errors import SdcError, SdcWarning
from sdckit.utility.utility_overview import UtilityOverview, families_of, utility_overview
from sdckit.workflow.assessment import Assessment
from sdckit.workflow.release_assessment import ReleaseAssessment, ReleaseIntruder
from sdckit.workflow.release_attacks import Attacks, attacked_columns, check_control, release_attacks
from sdckit.workflow.release_measures import release_measures
from sdckit.workflow.verdicts import Verdict, judge_attacks, judge_release

__all__ = ["assess_release"]

Step = Callable[[str], None]
AssessFile = Callable[..., Assessment]
OPTIONAL = ("weight", "household", "person")
WITHOUT = "{file} has no column {column!r} ({role}); its figures are those of a file without it"


def assess_release(
    original: Any,
    released: Any,
    *,
    scenario: Scenario,
    measures: Sequence[str],
    id: str | None,
    models: Any = (),
    seed: int | None,
    control: Any = None,
    attacks: bool = False,
    n_attacks: int = 500,
    tell: Step,
    assess_file: AssessFile,
) -> ReleaseAssessment:
    """Assess a release against its original; see `assess`.

    `assess_file` assesses one file (`assess` itself, which stands above).
    """
    files = list(released) if isinstance(released, (list, tuple)) else [released]
    aligned = scenario.aligned or id is not None
    tell("comparing the columns of the files")
    pair = _open(original, files, scenario, aligned=aligned, id=id)
    if control is not None:
        check_control(control, attacked_columns(pair, scenario))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SdcWarning)
        before = assess_file(original, scenario=scenario, measures=measures, step=tell, compared=True)
        fitted = [_fitted(scenario, file, label) for file, label in zip(files, pair.names[1:], strict=True)]
        after = tuple(
            assess_file(file, scenario=own, measures=measures, step=tell, compared=True)
            for file, (own, _) in zip(files, fitted, strict=True)
        )
        made: Attacks | None = None
        if attacks or control is not None:
            made = release_attacks(pair, scenario, tell, control=control, n_attacks=n_attacks, seed=seed)
        found = [
            _against(pair, scenario, name, before, after, tell, seed=seed) for name in scenario.intruders
        ]
        limit = scenario.thresholds.residual_risk
        results, failed = ({}, ()) if made is None else (made.results, made.failed)
        judged = [
            judge_attacks(limit, one.name, results, failed=failed, control=control is not None)
            for one in found
        ]
        intruders = tuple(
            replace(one, verdicts=(*one.verdicts, *own)) for one, own in zip(found, judged, strict=True)
        )
        utility, no_utility = _utility(pair, scenario, models, tell, aligned=aligned, seed=seed)
    messages = [note for _, notes in fitted for note in notes]
    messages += [str(w.message) for w in caught if issubclass(w.category, SdcWarning)]
    messages += _identical(pair, scenario.all_keys)
    told = tuple(dict.fromkeys(messages))
    for message in told:
        warnings.warn(message, SdcWarning, stacklevel=3)
    return ReleaseAssessment(
        scenario,
        before,
        after,
        intruders,
        told,
        before.version,
        date.today().isoformat(),
        aligned,
        id,
        before.measures,
        utility,
        no_utility,
        tuple(families_of(models).items()),
        attacks=results,
        attacks_skipped=() if made is None else made.skipped,
        attacks_asked=None if made is None else made.asked,
        control=control is not None,
    )


def _utility(
    pair: Pair, scenario: Scenario, models: Any, tell: Step, *, aligned: bool, seed: int | None
) -> tuple[UtilityOverview | None, str]:
    """What the declared variables are still good for; or why that could not be measured."""
    named = [*scenario.all_keys, *scenario.sensitive, *scenario.numeric]
    present = [set(frame.columns) for frame in (pair.original, *pair.released)]
    shared = [name for name in dict.fromkeys(named) if all(name in columns for columns in present)]
    numeric = [name for name in shared if name in scenario.numeric]
    try:
        overview = utility_overview(
            pair, variables=shared, numeric=numeric, models=models, aligned=aligned, seed=seed, step=tell
        )
    except SdcError as error:
        return None, str(error)
    return overview, ""


def _fitted(scenario: Scenario, released: Any, label: str) -> tuple[Scenario, list[str]]:
    """The scenario for a release that lacks a weight or an id of the original, and what that means."""
    present = open_frame(released).collect_schema().names()
    notes = [
        WITHOUT.format(file=label, column=column, role=role)
        for role in OPTIONAL
        if (column := getattr(scenario, role)) is not None and column not in present
    ]
    return scenario.narrowed(present), notes


def _open(original: Any, files: list[Any], scenario: Scenario, *, aligned: bool, id: str | None) -> Pair:
    """Open the files with the keys, and every other declared variable that all of them have."""
    present = [set(open_frame(file).collect_schema().names()) for file in (original, *files)]
    others = [name for name in (*scenario.sensitive, *scenario.numeric) if name not in scenario.all_keys]
    shared = [name for name in dict.fromkeys(others) if all(name in columns for columns in present)]
    columns = {"keys": scenario.all_keys, "variables": shared}
    return open_pair(original, files, categories=columns, aligned=aligned, id=id)


def _identical(pair: Pair, names: Sequence[str]) -> list[str]:
    return [
        f"{label} has the keys of the original, row by row: nothing in them was changed"
        for label, same in zip(pair.names[1:], pair.identical(names), strict=True)
        if same
    ]


def _against(
    pair: Pair,
    scenario: Scenario,
    name: str,
    before: Assessment,
    after: Sequence[Assessment],
    tell: Step,
    *,
    seed: int | None,
) -> ReleaseIntruder:
    one = scenario.intruder(name)
    results, skipped = release_measures(pair, one, tell, seed=seed)
    lost = _lost(one, name, after)
    worst = _worst([assessment[name].verdicts for assessment in after])
    verdicts = (
        *(verdict for verdict in worst if not (lost and verdict.name == "l" and verdict.variable is None)),
        *lost,
        *judge_release(one.thresholds, name, results, sensitive=one.sensitive, skipped=skipped),
    )
    return ReleaseIntruder(name, before[name].keys, results, verdicts, tuple(skipped))


def _worst(verdicts: Sequence[Sequence[Verdict]]) -> list[Verdict]:
    """Of the verdicts on the releases the worst: exceeded by most, else not judged, else holding."""
    found: dict[tuple[str, str | None], Verdict] = {}
    for verdict in (verdict for one in verdicts for verdict in one):
        place = (verdict.name, verdict.variable)
        known = found.get(place)
        if known is None or _badness(verdict) > _badness(known):
            found[place] = verdict
    return list(found.values())


def _badness(verdict: Verdict) -> tuple[int, float]:
    rank: Mapping[bool | None, int] = {True: 0, None: 1, False: 2}
    return rank[verdict.holds], float(verdict.n_records or verdict.value or 0)


def _lost(scenario: Scenario, name: str, after: Sequence[Assessment]) -> list[Verdict]:
    """A sensitive variable that no release has any more cannot be learnt from its groups: l holds."""
    limit = scenario.thresholds.l
    if limit is None:
        return []
    kept = {variable for one in after for variable in one.scenario.sensitive}
    gone = [variable for variable in scenario.sensitive if variable not in kept]
    reason = "the release does not have the variable"
    return [Verdict("l", name, variable, limit, True, 0, None, reason) for variable in gone]
