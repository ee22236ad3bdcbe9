"""The release gate: every declared threshold must be checked and hold, or the file does not pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sdckit.data import arguments
from sdckit.data.scenarios.release_types import a_release
from sdckit.data.scenarios.scenario_checks import require_confirmed
from sdckit.display import Displayed
from sdckit.errors import ScenarioError
from sdckit.workflow.assess import GivenLog, GivenRecipe, assess
from sdckit.workflow.limit_origins import with_origins
from sdckit.workflow.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.assessment import Assessment
    from sdckit.workflow.release_assessment import ReleaseAssessment
    from sdckit.workflow.told_verdicts import ToldVerdicts

PER_VARIABLE = ("l", "correctly_disclosed")


@dataclass(frozen=True)
class CheckResult(Displayed):
    """What the gate found; true only where every declared threshold was checked and holds.

    Attributes
    ----------
    passed : bool
        Every verdict holds.
    verdicts : tuple of Verdict
        One per threshold and intruder (for ``l`` also per sensitive variable).
    assessment : Assessment
        What the verdicts rest on.

    Examples
    --------
    >>> import polars as pl
    >>> import sdckit as sdc
    >>> data = pl.DataFrame({"sex": ["f", "f", "m", "m", "m"], "age": [30, 30, 41, 41, 41]})
    >>> result = sdc.check(data, scenario=sdc.Scenario(keys=["sex", "age"], thresholds={"k": 2}))
    >>> result.passed, bool(result), [verdict.name for verdict in result.verdicts]
    (True, True, ['k'])
    """

    passed: bool
    verdicts: tuple[Verdict, ...]
    assessment: Assessment | ReleaseAssessment

    @property
    def exceeded(self) -> tuple[Verdict, ...]:
        """The thresholds that do not hold."""
        return tuple(verdict for verdict in self.verdicts if verdict.holds is False)

    @property
    def undefined(self) -> tuple[Verdict, ...]:
        """The thresholds that could not be checked, each with its reason."""
        return tuple(verdict for verdict in self.verdicts if verdict.holds is None)

    def told(self) -> ToldVerdicts:
        """The verdicts as a protected document prints them, for logs that others read.

        Raises
        ------
        DataError
            Fewer than 50 records in a file.
        """
        from sdckit.workflow.told_verdicts import told_verdicts

        return told_verdicts(self)

    def to_sarif(self, path: str | Path, *, file: str, released: Sequence[str] = ()) -> None:
        """Write the limits exceeded as a SARIF log, protected as documents are, for code hosts and dashboards.

        Parameters
        ----------
        path : str or Path
            An existing file is replaced once the new one is whole.
        file : str
            The file that was checked, as the log is to name it.
        released : sequence of str
            The releases, as the log is to name them.

        Raises
        ------
        DataError
            Fewer than 50 records in a file.
        FileFormatError
            The file cannot be written.
        """
        from sdckit.report.formats.atomic import real_target, write_whole
        from sdckit.report.formats.sarif import render_sarif

        real_target(path)
        names = arguments.text(file, "file"), arguments.texts(released, "released")
        told = self.told()
        found = list(zip(told.verdicts, told.sentences, strict=True))
        text = render_sarif(found, version=self.assessment.version, file=names[0], released=names[1])
        write_whole(text, path, what="SARIF log")

    def __bool__(self) -> bool:
        return self.passed

    def _repr_html_(self) -> str:
        return self.assessment._repr_html_()


def check(
    data: Any,
    released: Any = None,
    *,
    scenario: Scenario,
    control: Any = None,
    id: str | None = None,
    seed: int | None = None,
    recipe: GivenRecipe = None,
    log: GivenLog = None,
) -> CheckResult:
    """Check a file, or a release beside its original, against every threshold its scenario declares.

    It fails closed: a threshold whose measure could not run, or is undefined, is not held.

    Parameters
    ----------
    data
        A frame of any engine; the original, where `released` is given.
    released
        What is to go out, made from `data`: one frame or a list of them.
    scenario
        With at least one threshold.
    control
        People of the same kind who were never used to make the release; the threshold `residual_risk` needs them.
    id, seed, recipe, log
        As `assess`, for a release.

    Raises
    ------
    ScenarioError
        No threshold is declared, or guesses of the scenario are unconfirmed.

    Examples
    --------
    >>> import polars as pl
    >>> import sdckit as sdc
    >>> data = pl.DataFrame({"sex": ["f", "f", "m"], "age": [30, 30, 41]})
    >>> result = sdc.check(data, scenario=sdc.Scenario(keys=["sex", "age"], thresholds={"k": 2}))
    >>> result.passed, result.exceeded[0].n_records
    (False, 1)
    """
    arguments.column_or_none(id, "id")
    arguments.seed(seed)
    if arguments.scenario_or_none(scenario) is None:
        raise ScenarioError("scenario= is missing: its thresholds are what is checked", argument="scenario")
    require_gate(scenario, compared=released is not None)
    return check_assessment(
        assess(data, released, scenario=scenario, control=control, id=id, seed=seed, recipe=recipe, log=log)
    )


def require_gate(scenario: Scenario, *, compared: bool) -> None:
    """Refuse a scenario that would let everything pass, or rests on guesses that nobody has confirmed.

    A release may be `compared` with its original; some limits are about nothing else.
    """
    require_confirmed(scenario)
    if scenario.limits_of(compared=compared).declared:
        return
    if scenario.release is None:
        raise ScenarioError("the scenario declares no threshold to check; add [thresholds] with k, risk or l")
    raise ScenarioError(
        f"{a_release(scenario.release)} has no threshold that could be checked here; add [thresholds] with k, risk or "
        "l, or name the thresholds of the type under [release_types]"
    )


def check_assessment(assessment: Assessment | ReleaseAssessment) -> CheckResult:
    """Judge an assessment that has been made already; a threshold without a verdict counts as unchecked."""
    require_gate(assessment.scenario, compared=_is_compared(assessment))
    verdicts = (*assessment.verdicts, *_forgotten(assessment))
    return CheckResult(all(verdict.holds is True for verdict in verdicts), verdicts, assessment)


def _forgotten(assessment: Assessment | ReleaseAssessment) -> list[Verdict]:
    """Undefined verdicts for every threshold, intruder and sensitive variable nobody judged."""
    judged = {(verdict.intruder, verdict.name, verdict.variable) for verdict in assessment.verdicts}
    any_variable = {(intruder, name) for intruder, name, _ in judged}
    found: list[Verdict] = []
    scenario, compared = assessment.scenario, _is_compared(assessment)
    for intruder in scenario.intruders:
        for name, limit in scenario.limits_of(compared=compared).declared.items():
            variables: tuple[str | None, ...] = scenario.sensitive if name in PER_VARIABLE else ()
            lacking = [variable for variable in variables if (intruder, name, variable) not in judged]
            if not variables and (intruder, name) not in any_variable:
                lacking = [None]
            found += [
                Verdict(name, intruder, variable, limit, None, None, None, "its measure gave no verdict")
                for variable in lacking
            ]
    return list(with_origins(found, scenario, compared=compared))


def _is_compared(assessment: Assessment | ReleaseAssessment) -> bool:
    """Whether a release was held against its original."""
    return hasattr(assessment, "released")
