"""The release gate `check`: a file passes only if every declared threshold was checked and holds."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdckit.data import arguments
from sdckit.data.files.beside_records import beside_records
from sdckit.data.files.readers import read_file
from sdckit.data.scenarios.scenario_checks import require_confirmed
from sdckit.data.scenarios.thresholds import a_release
from sdckit.display import Displayed
from sdckit.errors import DataError, ScenarioError, SdcError
from sdckit.numerics.threads import job
from sdckit.protect.change import Protected
from sdckit.report.chapters.document import RECOVERY
from sdckit.report.chapters.sentences import of_intruder, status, verdict_sentence
from sdckit.report.formats.write import plain_document
from sdckit.report.gate.protect import protect_message
from sdckit.report.view import Plain
from sdckit.workflow.assess import GivenLog, GivenRecipe, assess_read
from sdckit.workflow.plan import limit_on_homes
from sdckit.workflow.verdicts import Verdict, judge_roles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.assessment import Assessment, ReleaseAssessment

# Verdicts in protected figures, for logs and tools that others read.


@dataclass(frozen=True)
class ToldVerdict:
    """One verdict against one intruder, as a protected document prints it.

    Attributes
    ----------
    name, intruder : str
    variable : str or None
        Of a limit on one variable.
    release : int or None
        The number of the release that is meant, where there are several.
    holds : bool or None
        None where it could not be judged, or telling it would tell a small count.
    sentence : str
        In printed figures only.
    """

    name: str
    intruder: str
    variable: str | None
    release: int | None
    holds: bool | None
    sentence: str

    @property
    def word(self) -> str:
        """One of "holds", "exceeded" and "not judged"."""
        return status(self.holds)


@dataclass(frozen=True)
class ToldVerdicts:
    """All verdicts of a gate as printed, and the warnings of the protected document they come from.

    Attributes
    ----------
    verdicts : tuple of ToldVerdict
    warnings : tuple of str
    """

    verdicts: tuple[ToldVerdict, ...]
    warnings: tuple[str, ...]

    @property
    def several_intruders(self) -> bool:
        """Whether a sentence needs the name of its intruder."""
        return len({verdict.intruder for verdict in self.verdicts if verdict.intruder}) > 1

    @property
    def sentences(self) -> tuple[str, ...]:
        """Every verdict in words, with its intruder where there are several."""
        return tuple(
            of_intruder(verdict.intruder, verdict.sentence, several=self.several_intruders and bool(verdict.intruder))
            for verdict in self.verdicts
        )


def told_verdicts(result: CheckResult) -> ToldVerdicts:
    """Give the verdicts as the protected document of the gate's assessment prints them.

    A file of fewer than 50 records is refused, as for every document that leaves.
    """
    plain = plain_document(result.assessment)
    printed = tuple(_printed_verdict(verdict, plain["n"]) for verdict in plain["verdicts"])
    return ToldVerdicts(printed, tuple(plain["warnings"]))


def _printed_verdict(entry: Plain, n: Plain) -> ToldVerdict:
    release = entry.get("release")
    sentence = (f"Release {release}: " if release else "") + verdict_sentence(entry, n)
    return ToldVerdict(entry["name"], entry["intruder"], entry["variable"], release, entry["holds"]["value"], sentence)


HOUSEHOLDS = "Households alone with their size and what is known of their members: {}"
NOT_COUNTED = HOUSEHOLDS.format("not counted here, assess does")


@dataclass(frozen=True)
class CheckResult(Displayed):
    """Outcome of the gate; true only where every declared threshold was checked and holds.

    Attributes
    ----------
    passed : bool
        Every verdict holds.
    verdicts : tuple of Verdict
        One per threshold and intruder (for ``l`` also per sensitive variable).
    assessment : Assessment
        What the verdicts rest on; whatever no limit reads is listed as not measured (`assess` has it).

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
        return told_verdicts(self)

    def next_steps(self, *, protected: bool = False) -> tuple[list[tuple[str, tuple[str, ...]]], int]:
        """What would open the gate, as documents say it: each step in words, with the exceeded limits that it is for.

        At most three for a limit; the number is that of the others. `protected`: as the protected document has them.
        What a limit lacks that is not judged is the reason of its verdict.

        Examples
        --------
        >>> import sdckit as sdc
        >>> check = sdc.check(sdc.load_demo(), scenario=sdc.Scenario(keys=["age", "educ"], thresholds={"k": 30}))
        >>> check.next_steps()[0][0]
        ('Make what is known coarser, or leave some of it out.', ('k',))
        """
        from sdckit.report.chapters.decision import steps_by_limit

        if protected:
            return steps_by_limit(plain_document(self.assessment))
        found: list[tuple[str, Any]] = [(own.name, own.results.get(RECOVERY)) for own in self.assessment.intruders]
        plain = {
            "verdicts": [{**asdict(verdict), "holds": {"value": verdict.holds}} for verdict in self.verdicts],
            "intruders": [{"name": name} | ({RECOVERY: {"advice": got.advice}} if got else {}) for name, got in found],
            "scenario": {"person": self.assessment.scenario.person},
        }
        return steps_by_limit(plain)

    def households_alone(self, *, protected: bool = False) -> list[str]:
        """How many households are alone with what is known of all of their members, where no limit asks: in words.

        `protected`: as the protected document has it. What was not counted, as on an engine, is said to be so.

        Examples
        --------
        >>> import polars as pl
        >>> import sdckit as sdc
        >>> homes = pl.DataFrame({"home": [1, 1, 2, 2, 3, 3], "sex": ["f", "m", "f", "f", "m", "f"]})
        >>> scenario = sdc.Scenario(keys=["sex"], household="home", thresholds={"k": 2})
        >>> print(*sdc.check(homes, scenario=scenario).households_alone())
        Households alone with their size and what is known of their members: 1 of 3; no limit is on them \
(household_uniques).
        """
        from sdckit.report.chapters.decision import by_intruder, households_alone

        kind, scenario = limit_on_homes(), self.assessment.scenario
        if scenario.household is None or kind.name in {verdict.name for verdict in self.verdicts}:
            return []
        files = getattr(self.assessment, "released", (self.assessment,))
        intruders = (files or (self.assessment,))[0].intruders
        results: list[Any] = [own.results.get(kind.measure) for own in intruders]
        no_limit = f"; no limit is on them ({kind.name})."
        if None in results:
            return [NOT_COUNTED + no_limit]
        if protected:
            return [line[:-1] + no_limit for line in households_alone(plain_document(self.assessment))]
        counts = [f"{own.unique_compositions:,} of {own.n_households:,}" for own in results]
        names = [own.name for own in intruders]
        return by_intruder([(name, HOUSEHOLDS.format(n) + no_limit) for name, n in zip(names, counts, strict=True)])

    def to_sarif(self, path: str | Path, *, file: str, released: Sequence[str] = ()) -> None:
        """Write the limits exceeded as a SARIF log, protected as documents are, for code hosts and dashboards.

        Of a release beside its original it is a document of the original: nobody who has the release should get it.

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
        from sdckit.data.files.whole_files import real_target, write_whole
        from sdckit.report.formats.sarif import render_sarif

        real_target(path)
        names = arguments.text(file, "file"), arguments.texts(released, "released")
        printed = self.told()
        sentences = list(zip(printed.verdicts, printed.sentences, strict=True))
        text = render_sarif(sentences, version=self.assessment.version, file=names[0], released=names[1])
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

    It measures what these thresholds read and nothing else; `assess` has all figures. It fails closed: a threshold
    whose measure could not run, or is undefined, is not held.

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

    A release, with the recipe that made it:

    >>> import warnings
    >>> recipe = sdc.Recipe([{"method": "recode", "column": "age", "bands": [0, 40, 60]}])
    >>> released = recipe.apply(data).data
    >>> with warnings.catch_warnings(action="ignore"):  # it says that the original is recoded alike
    ...     sdc.check(data, released, scenario=result.assessment.scenario, recipe=recipe).passed
    False
    """
    with job():
        arguments.column_or_none(id, "id")
        arguments.seed(seed)
        if arguments.scenario_or_none(scenario) is None:
            raise ScenarioError("scenario= is missing: its thresholds are what is checked", argument="scenario")
        require_gate(scenario, compared=released is not None)
        made = assess_read(
            data, released, scenario=scenario, control=control, id=id, seed=seed, recipe=recipe, log=log, whole=True,
            gate=True,
        )  # fmt: skip
        return check_assessment(made)


def require_gate(scenario: Scenario, *, compared: bool) -> None:
    """Raise where the scenario declares no threshold or has unconfirmed guesses.

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
    """Apply the gate to an existing assessment; a threshold without a verdict counts as unchecked."""
    require_gate(assessment.scenario, compared=assessment.compared)
    roles = judge_roles(assessment.scenario, None) if assessment.column_roles is None else ()
    verdicts = (*assessment.verdicts, *roles)
    return CheckResult(all(verdict.holds is True for verdict in verdicts), verdicts, assessment)


# The gate as an assertion, for tests and pipelines: its message holds protected figures only.


def assert_within_limits(
    data: Any,
    released: Any = None,
    *,
    scenario: Scenario,
    control: Any = None,
    id: str | None = None,
    seed: int | None = None,
    recipe: GivenRecipe = None,
    log: GivenLog = None,
) -> None:
    """Raise an `AssertionError` unless every threshold of a scenario was checked and holds.

    Its message has protected figures only, and no frame of a traceback below this function holds records: neither
    ``pytest --showlocals`` nor the log of a pipeline prints what the gate saw. The locals of the test itself are its
    own: name a file instead of holding its frame. No warning is given; those of a document stand in the message, and
    `check` gives them all.

    Parameters
    ----------
    data
        A frame of any engine, or the path of a file; the original, where `released` is given.
    released
        What is to go out, made from `data`: one or a list of them.
    scenario
        With at least one threshold. Files are read with its codes of missing; the original beside a release, and what
        goes out, with its identifiers, a file by itself without them.
    control, id, seed, recipe, log
        As `check`.

    Raises
    ------
    AssertionError
        A threshold is exceeded, or could not be checked.
    SdcError
        What `check` refuses, and what went wrong within it.

    Examples
    --------
    >>> import sdckit as sdc
    >>> scenario = sdc.Scenario(keys=["educ", "religious"], thresholds={"k": 3})
    >>> sdc.assert_within_limits(sdc.load_demo(), scenario=scenario)
    """
    # pytest leaves frames with this local out of tracebacks.
    __tracebackhide__ = True
    how = {"control": control, "id": id, "seed": seed, "recipe": recipe, "log": log}
    failure = _failure(data, released, scenario, how)
    # The frame stays in tracebacks of other tools: it must not hold the records.
    del data, released, control, how
    if failure is not None:
        raise failure


def _failure(data: Any, released: Any, scenario: Scenario, given: dict[str, Any]) -> Exception | None:
    """The exception to raise, without frames and causes that could hold records; None where the file passes."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they tell exact counts, and pytest prints them
            whole = None if released is None else ()  # what goes out may have been made of identifiers
            files = [_read_if_path(data, scenario, without=whole), _read_if_path(released, scenario, without=())]
            files.append(_read_if_path(given.pop("control"), scenario))
            result = check(files[0], files[1], scenario=scenario, control=files[2], **given)
            going_out = data if released is None else released
            paths = [file for file in _as_list(going_out) if isinstance(file, str | Path)]
            beside = beside_records(*paths, missing=scenario.missing_codes)
            result = check_assessment(replace(result.assessment, beside=(*result.assessment.beside, *beside)))
            return None if result.passed else AssertionError(_message(result))
    except SdcError as error:
        return protected_error(error)
    except Exception as error:  # noqa: BLE001 - messages of libraries, and their frames, may show values
        return SdcError(f"internal error: {type(error).__name__}; check() in a session of your own shows where")


def protected_error(error: SdcError) -> SdcError:
    """What was refused, for a log that others read: small counts and rows are not shown, other counts rounded.

    Examples
    --------
    >>> print(protected_error(SdcError("weight 'w': 2 missing (rows 4, 10, counting from 1)")))
    weight 'w': <5 missing (rows not shown, counting from 1); check in a session of your own shows them
    """
    text = protect_message(str(error))
    hint = "; check in a session of your own shows them" if "not shown" in text else ""
    return type(error)(text + hint, argument=error.argument)


def _as_list(given: Any) -> list[Any]:
    """Several files as a list, and one as a list of it."""
    return list(given) if isinstance(given, list | tuple) and not isinstance(given, Protected) else [given]


def _read_if_path(given: Any, scenario: Scenario, *, without: Sequence[str] | None = None) -> Any:
    """Read paths as the command line does; return frames unchanged.

    A file is read without the identifiers; a release and its original with them (`without=()`).
    """
    if given is not (files := _as_list(given))[0]:
        return [_read_if_path(file, scenario, without=without) for file in files]
    if not isinstance(given, str | Path) or arguments.scenario_or_none(scenario) is None:
        return given
    identifiers = scenario.identifiers if without is None else without
    return read_file(given, identifiers=identifiers, missing=scenario.missing_codes)


def _message(result: CheckResult) -> str:
    """Message that lists the thresholds exceeded or not judged, in protected figures only."""
    try:
        printed = result.told()
    except DataError:
        return "not within the declared limits; the file has fewer than 50 records, so no more is told"
    lines = [
        f"  {verdict.word}: {sentence}"
        for verdict, sentence in zip(printed.verdicts, printed.sentences, strict=True)
        if verdict.holds is not True
    ]
    lines += [f"  warning: {text}" for text in printed.warnings]
    return "\n".join(["not within the declared limits", *lines])
