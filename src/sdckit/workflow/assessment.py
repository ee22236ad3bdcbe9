"""Results of `assess` for a file and for a release, by intruder and place, and the writers of their documents.

Also the map of what was looked at: for each column that goes out, which questions of an assessment saw it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any, ClassVar

from sdckit.attacks.attack_rates import EVERY
from sdckit.catalogue import attribute, measure
from sdckit.catalogue.attacks import COPIES, DIFFERENCING, RECOVERABLE
from sdckit.catalogue.identity import FOLLOWED
from sdckit.cells.pair import Recoded
from sdckit.data.nearest import did_you_mean
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import Displayed, counted
from sdckit.errors import DataError
from sdckit.report.gate.protect import overall
from sdckit.result import SCHEMA_VERSION, LetGo, Result, json_ready, leading
from sdckit.workflow.verdicts import BESIDE, Verdict, judge_roles, unjudged

if TYPE_CHECKING:
    from sdckit.data.scenarios.column_roles import ColumnRoles
    from sdckit.protect.margins.promise import Promise
    from sdckit.utility.utility_overview import UtilityOverview
    from sdckit.workflow.plan import Asked
    from sdckit.workflow.recipes.recipe import WhatWasDone


QUESTIONS = ("known", "learnt", "close", "attacked", "given_back", "remembered")
COMPARED = ("numeric", "magnitudes")  # roles whose columns are compared as numbers
# Measures whose result lists the columns it looked at, by release.
LISTED = {RECOVERABLE.name: "given_back", attribute.NUMBERS.name: "close"}
MEMORY = ("membership", "distance_to_closest_record")  # attacks on what a release remembers of its original


@dataclass(frozen=True)
class ColumnCoverage:
    """A column that goes out, and what looked at it; a question that nothing answered is empty.

    Attributes
    ----------
    column : str
    roles : tuple of str
        What the scenario says of it (`roles_by_column`); empty where nobody said anything.
    known : tuple of str
        Intruders who know it, so that who can be singled out by it was counted.
    learnt : tuple of str
        Measures of how surely it would be learnt of somebody.
    close : tuple of str
        Measures of how near its numbers stay to the true ones.
    attacked : tuple of str
        Simulated attacks that used it.
    given_back : tuple of str
        Measures of whether what was changed in it can be reconstructed; empty where nothing was changed.
    remembered : tuple of str
        Comparisons with earlier releases, or of people in the file with people never in it.
    """

    column: str
    roles: tuple[str, ...]
    known: tuple[str, ...] = ()
    learnt: tuple[str, ...] = ()
    close: tuple[str, ...] = ()
    attacked: tuple[str, ...] = ()
    given_back: tuple[str, ...] = ()
    remembered: tuple[str, ...] = ()

    @property
    def looked_at(self) -> bool:
        """Whether any question saw it."""
        return any(getattr(self, question) for question in QUESTIONS)


@dataclass(frozen=True)
class Coverage:
    """What an assessment looked at, column by column; see `ColumnCoverage`.

    Attributes
    ----------
    columns : tuple of ColumnCoverage
        Of the file that goes out, in its order; of several releases all that occur in one. None of a file that is one
        of several in an assessment. A name that may be a value of a record is withheld: "column 3".
    """

    columns: tuple[ColumnCoverage, ...]

    @property
    def not_looked_at(self) -> tuple[str, ...]:
        """Columns that no question saw."""
        return tuple(column.column for column in self.columns if not column.looked_at)

    def rows(self) -> list[dict[str, Any]]:
        """A dict for each column, for a frame or JSON.

        Examples
        --------
        >>> Coverage((ColumnCoverage("sex", ("key",), known=("neighbour",)),)).rows()[0]["known"]
        ('neighbour',)
        """
        return [asdict(column) for column in self.columns]


def coverage_of(assessment: Assessment | ReleaseAssessment) -> Coverage:
    """Map the columns that go out to what looked at them in an assessment of a file, or of a release."""
    scenario, of_columns = assessment.scenario, assessment.column_roles
    if of_columns is None:
        return Coverage(())
    files: Sequence[Assessment] = getattr(assessment, "released", ())
    intruders = [*assessment.intruders, *(intruder for file in files for intruder in file.intruders)]
    seen = list(_by_measures(intruders, scenario))
    if (asked := getattr(assessment, "attacks_asked", None)) is not None:
        seen += _by_attacks(getattr(assessment, "attacks", {}), asked, assessment.intruders)
    looks: dict[str, dict[str, dict[str, None]]] = {name: {} for name in of_columns.roles}
    for question, what, names in seen:
        for name in looks.keys() & {*names}:
            looks[name].setdefault(question, {})[what] = None
    columns = []
    for number, (name, of_questions) in enumerate(looks.items(), 1):
        shown = name if name in of_columns.shown else f"column {number}"
        answers = {question: tuple(what) for question, what in of_questions.items()}
        columns.append(ColumnCoverage(shown, of_columns.roles[name], **answers))
    return Coverage(tuple(columns))


Look = tuple[str, str, Iterable[str]]  # question, what looked, columns


def _by_measures(intruders: Iterable[IntruderAssessment], scenario: Scenario) -> Iterator[Look]:
    for intruder in intruders:
        yield "known", intruder.name, intruder.keys
        results: Mapping[str, Any] = intruder.results
        for place, result in results.items():
            name, _, target = place.partition(":")
            row = measure(name)
            if row.room == "attribute":
                variables = {target, *getattr(result, "variables", ())}
                yield "learnt", name, [column for column in scenario.sensitive if column in variables]
            if row.files == "release":
                for role in (role for role in COMPARED if role in row.needs):
                    yield "close", name, getattr(scenario, role)
            if row == FOLLOWED and scenario.time is not None:  # whose row it is leads to nobody, when it is from does
                yield "known", intruder.name, [scenario.time]
            if name in LISTED:
                yield LISTED[name], name, [column.column for columns in result.columns for column in columns]
            if name == COPIES.name:
                yield "remembered", name, result.variables
            if name == DIFFERENCING.name:
                yield "remembered", name, [column for entry in result.entries for column in entry.compared]


def _by_attacks(places: Iterable[str], asked: Asked, intruders: Iterable[IntruderAssessment]) -> Iterator[Look]:
    keys = {intruder.name: intruder.keys for intruder in intruders}
    for place in places:
        name, _, rest = place.partition(":")
        columns = asked.every_column if rest.endswith(EVERY) else asked.columns
        if measure(name).of_intruder:
            who = max((who for who in keys if rest == who or rest.startswith(f"{who}:")), key=len)
            columns = (*keys[who], rest.removeprefix(who).removeprefix(":"))
        yield "attacked", name, columns
        if name in MEMORY:
            yield "remembered", name, columns


@dataclass(frozen=True)
class KeyFacts:
    """A key variable and its levels.

    Attributes
    ----------
    name, kind : str
        The variable, and what kind of values it has.
    n_levels, large_levels : int
        Its different values, and those with 5 records or more.
    level_counts : tuple of (str, int)
        Values with their records, at most 200, most frequent first.
    n_missing : int
        Records without a value.
    rule : str
        What a missing value means.
    """

    name: str
    kind: str
    n_levels: int
    level_counts: tuple[tuple[str, int], ...] = field(repr=False)
    n_missing: int
    large_levels: int
    rule: str

    def __getstate__(self) -> dict[str, Any]:
        """State for pickling, without the levels that few records have."""
        return {**self.__dict__, "level_counts": self.level_counts[: self.large_levels]}


@dataclass(frozen=True, eq=False, repr=False)
class IntruderAssessment:
    """Every result against one intruder, by place: ``intruder["individual_risk"]``.

    Attributes
    ----------
    name : str
    keys : tuple of str
        What the intruder knows.
    results : dict of str to Result
        By place: the measure, and after a colon the sensitive variable (``attribute_disclosure:income``) or the
        other rule for missing keys (``k_anonymity:category``).
    verdicts : tuple of Verdict
        Every declared threshold; of several releases the worst.
    skipped : tuple of (str, str)
        What did not run, and why.
    key_facts : tuple of KeyFacts
        The keys of the file; empty for what two files tell together.
    """

    name: str
    keys: tuple[str, ...]
    results: Mapping[str, Result]
    verdicts: tuple[Verdict, ...]
    skipped: tuple[tuple[str, str], ...]
    key_facts: tuple[KeyFacts, ...] = ()

    def __getitem__(self, place: str) -> Any:
        """A result by its place."""
        if place not in self.results:
            why = dict(self.skipped).get(place)
            raise KeyError(f"{place}: {why or did_you_mean(place, [*self.results])}")
        return self.results[place]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __contains__(self, place: object) -> bool:
        return place in self.results

    def __len__(self) -> int:
        return len(self.results)

    def get(self, place: str) -> Any:
        """A result by its place; None where it did not run, with the reason in `skipped`."""
        return self.results.get(place)

    def to_dict(self) -> dict[str, Any]:
        """All figures, exact, ready for JSON."""
        return {
            "keys": list(self.keys),
            "verdicts": [{**json_ready(vars(v)), "sentence": v.sentence} for v in self.verdicts],
            "measures": {place: result.to_dict() for place, result in self.results.items()},
            "skipped": listed_reasons(self.skipped),
        }

    def __repr__(self) -> str:
        first = f"{self.name} ({', '.join(self.keys)})"
        frequencies, risk = self.get("key_frequencies"), self.get("individual_risk")
        if frequencies is not None and risk is not None:
            first += f": {frequencies.sample_uniques} sample uniques, global risk {risk.global_risk:.4g}"
        lines = [f"  {verdict.word}: {verdict.sentence}" for verdict in self.verdicts]
        if not self.key_facts:
            lines += [f"  {place}: {result!r}" for place, result in self.results.items()]
        return "\n".join([first, *lines])


def listed_reasons(skipped: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Measures that were skipped and the reasons, ready for JSON."""
    return [{"measure": place, "reason": reason} for place, reason in skipped]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Assessed(Displayed):
    """Base of both assessments: verdicts, results by intruder and place, and the writers of documents."""

    schema: ClassVar[str]
    compared: ClassVar[bool] = False  # whether a release is held against its original
    scenario: Scenario
    intruders: tuple[IntruderAssessment, ...]
    warnings: tuple[str, ...]
    version: str
    date: str
    measures: tuple[str, ...] = field(default=())
    by: tuple[str, ...] = field(default=())
    column_roles: ColumnRoles | None = field(default=None)
    beside: tuple[str, ...] = field(default=())  # what the files that go out hold beside their records

    @property
    def coverage(self) -> Coverage:
        """What was looked at: for each column that goes out, which questions saw it."""
        return coverage_of(self)  # type: ignore[arg-type]

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Every declared threshold against every intruder, of several releases the worst; and what goes out with it.

        A threshold of which no measure said anything is not judged. Where no limit is asked for, nothing is.
        """
        judged = tuple(verdict for intruder in self.intruders for verdict in intruder.verdicts)
        roles = () if self.column_roles is None else judge_roles(self.scenario, self.column_roles)
        results = {intruder.name: intruder.results for intruder in self.intruders}
        beside = (Verdict(BESIDE, "", None, None, None, None, None, what) for what in self.beside if judged or roles)
        return (*judged, *roles, *beside, *unjudged(self.scenario, judged, results, compared=self.compared))

    @property
    def passed(self) -> bool | None:
        """Whether every declared threshold holds; None where none is declared or one could not be judged."""
        return overall(verdict.holds for verdict in self.verdicts)

    def __getitem__(self, name: str) -> IntruderAssessment:
        """The results against one intruder, by name."""
        for intruder in self.intruders:
            if intruder.name == name:
                return intruder
        says = did_you_mean(name, [intruder.name for intruder in self.intruders])
        raise KeyError(f"no intruder {name!r}; {says} (measures are those of an intruder: [intruder][measure])")

    def __iter__(self) -> Iterator[str]:
        return (intruder.name for intruder in self.intruders)

    def __len__(self) -> int:
        return len(self.intruders)

    @staticmethod
    def _frame(names: Sequence[str], rows: Iterable[tuple[Any, ...]], backend: Any) -> Any:
        from sdckit.data.frames import frame_of

        columns = zip(*rows, strict=True)
        return frame_of(dict(zip(names, map(list, columns), strict=True)), backend)

    def _dict(self, own: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION, "sdckit": self.version, "date": self.date, **own,
            "passed": self.passed, "scenario": self.scenario.model_dump(mode="json"),
            "column_roles": None if self.column_roles is None else json_ready(self.column_roles.roles),
            "warnings": list(self.warnings), "coverage": json_ready(self.coverage.rows()),
            "intruders": {intruder.name: intruder.to_dict() for intruder in self.intruders},
        }  # fmt: skip

    def _need_data(self) -> None:
        """Raise `DataError` where the data that a document needs were dropped by pickling."""

    def report(
        self, path: str | Path, *, internal: bool = False, beside: str | Path | None = None, name: str = "",
        institution: str = "", logo: str | Path | None = None, files: Sequence[str | Path] = (),
        labels: Mapping[str, str] | None = None, language: str = "en", public: bool = False,
    ) -> None:  # fmt: skip
        """Write the report for the release committee: a page to decide on, and an annex to check.

        Parameters
        ----------
        path : str or Path
            Ends in .html, .pdf (printed by a Chromium of this machine), .docx (extra ``docx``) or .md; an existing
            file is replaced once the new one is whole.
        internal : bool
            Exact figures and the records at risk; stamped confidential, readable by the owner only.
        beside : str or Path
            A folder of earlier protected JSON documents of the same file: what they print is known to a reader of
            both, and this document is audited together with it.
        name : str
            What readers call the file; without one it goes by the scenario's title.
        institution : str
            Who made the document; it stands at its head.
        logo : str or Path
            A picture of the institution, .png or .jpg, 1 MB at most.
        files : sequence of str or Path
            The files that were assessed: an internal document names them with their SHA-256.
        labels : mapping of str to str
            What columns are, in words: printed beside the names of keys and sensitive variables.
        language : str
            What the report is written in: "en", or "de" for German. Names, values and code stay as they are.
        public : bool
            To go out with a release, for those who use it: next steps, conditions and the form to sign are left out,
            limits that need another file are named and not judged. The assessment is of the release alone.

        Raises
        ------
        DataError
            Fewer than 50 records in a file, unless internal; an assessment that was pickled; an unknown language;
            a public report that is internal, has figures of the original, or is audited beside other documents.
        FileFormatError
            The file cannot be written; what writes it is not there; the folder holds something else than such
            documents; the logo is no picture.
        """
        from sdckit.report.cover import Cover
        from sdckit.report.formats.write import write_report

        self._need_data()
        cover = Cover(
            name=name, institution=institution, logo=logo, files=files, labels=labels or {}, language=language,
            public=public,
        )  # fmt: skip
        write_report(self, path, internal=internal, beside=beside, cover=cover)

    def to_json(self, path: str | Path, *, internal: bool = False, beside: str | Path | None = None) -> None:
        """Write the protected figures as JSON; the path "-" prints them. `beside` is that of `report`.

        Raises
        ------
        DataError
            Fewer than 50 records in a file, unless internal; an assessment that was pickled.
        FileFormatError
            The file cannot be written.
        """
        from sdckit.report.formats.write import write_json

        self._need_data()
        write_json(self, path, internal=internal, beside=beside)

    def plot(self, *, internal: bool = False) -> Any:
        """Altair charts of the figures, protected unless `internal`: a chart can be saved and passed on."""
        from sdckit.report.notebook import assessment_chart

        self._need_data()
        return assessment_chart(self, internal=internal)

    def _repr_html_(self) -> str:
        from sdckit.report.notebook import notebook_html

        return notebook_html(self)

    @abstractmethod
    def _first_line(self) -> str:
        """First line of the repr: what was assessed."""

    def __repr__(self) -> str:
        return "\n".join([self._first_line(), *(indent(repr(intruder), "  ") for intruder in self.intruders)])


# Assessment of a release against its original: risks before and after, linkage, attribute disclosure.


NAMES_BY_FILE = ("intruder", "measure", "figure", "file", "value")


@dataclass(frozen=True)
class Collected:
    """Records in groups `below` k of an original that is recoded like its release, before it was.

    `rule`: how missing key values were taken.
    """

    k: int
    below: int
    rule: str


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ReleaseAssessment(Assessed):
    """A release against its original: who can still be recognised, matched back, and learnt about.

    ``assessment["default"]["matching_risk"]`` is a result on both files, by intruder and place.

    Attributes
    ----------
    scenario : Scenario
    original : Assessment
        The one-file measures before.
    released : tuple of Assessment
        The same after, for each release.
    intruders : tuple of IntruderAssessment
        The measures of two files, by intruder.
    warnings : tuple of str
        What in the data makes a figure say less than it seems to.
    version, date : str
    utility : UtilityOverview or None
        What the declared variables are still good for; `no_utility` says why there is none.
    attacks : dict of str to result
        Simulated attacks, where they were asked for: by measure, with the intruder and the variable behind
        colons; `attacks_skipped` says which were not made, and why, `attacks_asked` of what columns and how
        often, `control` whether there was a control file.
    what_was_done : WhatWasDone or None
        The recipe that made the release, where it was made by one.
    promise : Promise or None
        Of a release drawn from protected margins whose log was given: what it promises, and whether the noise adds up.
    recoded : tuple of Recoded
        Columns of the original that were recoded as the release is before anything was measured: every figure of
        the original is that of the recoded original then. `recoding` is "recipe" or "log" where one was given.
    collected : dict of str to Collected
        Records in small groups of the original as it was collected, by intruder, where a key was recoded.
    declared : Scenario or None
        The scenario as it was given, where the release lacks keys that `scenario` is without.
    """

    schema: ClassVar[str] = "sdckit/release-assessment"
    compared: ClassVar[bool] = True
    original: Assessment
    released: tuple[Assessment, ...]
    aligned: bool = False
    id: str | None = None
    utility: UtilityOverview | None = None
    no_utility: str = ""
    models: tuple[tuple[str, str], ...] = ()
    what_was_done: WhatWasDone | None = None
    promise: Promise | None = None
    attacks: dict[str, Any] = field(default_factory=dict)
    attacks_skipped: tuple[tuple[str, str], ...] = ()
    attacks_asked: Asked | None = None
    control: bool = False
    recoded: tuple[Recoded, ...] = ()
    recoding: str = ""
    collected: dict[str, Collected] = field(default_factory=dict)
    targets: int | None = None
    declared: Scenario | None = None

    @property
    def n(self) -> int:
        """Number of records of the original."""
        return self.original.n

    @property
    def stands_for(self) -> float | None:
        """How many the records of the first release stand for; None where no weights or sampling fraction are known."""
        return self.released[0].stands_for if self.released else None

    @property
    def m(self) -> int:
        """Number of releases."""
        return len(self.released)

    def _rows(self) -> Iterator[tuple[str, str, str, str, float]]:
        for label, assessment in self._files():
            for intruder, place, figure, value in assessment._rows():
                yield intruder, place, figure, label, value
        both = [(intruder.name, *entry) for intruder in self.intruders for entry in intruder.results.items()]
        if self.utility is not None:
            both.append(("", "utility_overview", self.utility))
        both += [("", place, result) for place, result in self.attacks.items()]
        for name, place, result in both:
            for figure, value in result._flat():
                yield name, place, figure, "both", value

    def _files(self) -> Iterator[tuple[str, Assessment]]:
        yield "original", self.original
        for number, assessment in enumerate(self.released, 1):
            yield ("released" if self.m == 1 else f"released {number}"), assessment

    def summary(self) -> Any:
        """The leading figures of every measure and file as a frame like `details`, of at most 20 rows."""
        # The releases first, then what compares them, then the original.
        order = {"both": 1, "original": 2}
        rows = sorted((row for row in self._rows() if row[2] != "n"), key=lambda row: order.get(row[3], 0))
        parts = [list(part) for _, part in groupby(rows, key=itemgetter(0, 1, 3))]
        return self._frame(NAMES_BY_FILE, leading(parts), self.original.backend)

    def details(self) -> Any:
        """Every figure as a frame: ``intruder``, ``measure``, ``figure``, ``file``, ``value``.

        `file` is "original", "released" (with its number where there are several), or "both".
        """
        return self._frame(NAMES_BY_FILE, self._rows(), self.original.backend)

    def to_dict(self) -> dict[str, Any]:
        """All figures, exact, ready for JSON; for the session, not for release (`to_json` writes that)."""
        return self._dict({"n": self.n, "m": self.m}) | {
            "original": self.original.to_dict(),
            "released": [assessment.to_dict() for assessment in self.released],
            "utility": None if self.utility is None else self.utility.to_dict(),
            "attacks": {place: result.to_dict() for place, result in self.attacks.items()},
            "attacks_skipped": listed_reasons(self.attacks_skipped),
            "recoded": [asdict(recoding) for recoding in self.recoded],
            "collected": {name: asdict(before) for name, before in self.collected.items()},
        }

    def _need_data(self) -> None:
        self.original._need_data()

    def _first_line(self) -> str:
        against = f"an original of {counted(self.n, 'record')}, {counted(len(self.intruders), 'intruder')}"
        return f"{counted(self.m, 'release')} against {against}"


NAMES = ("intruder", "measure", "figure", "value")
LET_GO = "this assessment has let go of the data (it was pickled); assess again"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Assessment(Assessed):
    """Who can be recognised in a file, how surely, and what would be learnt.

    ``assessment["default"]["individual_risk"]`` is a result, by intruder and place.

    Attributes
    ----------
    scenario : Scenario
    n : int
        Records.
    engine : str
        What held the data: "polars", "pandas", "duckdb", ...
    intruders : tuple of IntruderAssessment
        One per intruder of the scenario.
    warnings : tuple of str
        What in the data makes a figure say less than it seems to.
    version, date : str
        Of sdckit, and of the assessment (ISO).
    measures : tuple of str
        Further measures that were asked for.
    by : tuple of str
        Columns of subgroups.
    stands_for : float or None
        How many the records stand for: the sum of their weights, or their number over the sampling fraction.
    """

    schema: ClassVar[str] = "sdckit/assessment"
    n: int
    engine: str
    backend: Any = field(default="pyarrow", repr=False)
    stands_for: float | None = None

    def _rows(self) -> Iterator[tuple[str, str, str, float]]:
        for intruder in self.intruders:
            for place, result in intruder.results.items():
                for figure, value in result._flat():
                    yield intruder.name, place, figure, value

    def summary(self) -> Any:
        """The leading figures of every measure as a frame like `details`, of at most 20 rows."""
        return self._frame(NAMES, leading(self._parts()), self.backend)

    def details(self) -> Any:
        """Every figure as a frame (``intruder``, ``measure``, ``figure``, ``value``) of the caller's engine."""
        return self._frame(NAMES, self._rows(), self.backend)

    def _parts(self) -> list[list[tuple[str, str, str, float]]]:
        """Rows of `details` grouped by intruder and measure, without the number of records."""
        rows = (row for row in self._rows() if row[2] != "n")
        return [list(part) for _, part in groupby(rows, key=itemgetter(0, 1))]

    def to_dict(self) -> dict[str, Any]:
        """All figures, exact, ready for JSON; for the session, not for release (`to_json` writes that)."""
        return self._dict({"n": self.n, "engine": self.engine})

    def n_at_risk(self) -> dict[str, int]:
        """Records that are unique, or beyond the thresholds k and risk, by intruder."""
        self._need_data()
        return {intruder.name: self._cells(intruder).count_where(*self._risk_limits()) for intruder in self.intruders}

    def at_risk(self, limit: int = 1000) -> list[dict[str, Any]]:
        """Records counted by `n_at_risk`: row (from 1), keys, figures; at most `limit` by intruder, riskiest first.

        Confidential: for the session and for internal reports only. A plan has no row numbers.
        """
        self._need_data()
        return [
            {"intruder": intruder.name, **row}
            for intruder in self.intruders
            for row in self._cells(intruder).rows_where(*self._risk_limits(), limit)
        ]

    @staticmethod
    def _cells(intruder: IntruderAssessment) -> Any:
        return intruder["individual_risk"].__dict__["cells"]

    @property
    def _let_go(self) -> bool:
        return any(isinstance(self._cells(intruder), LetGo) for intruder in self.intruders)

    def _need_data(self) -> None:
        if self._let_go:
            raise DataError(LET_GO)

    def _risk_limits(self) -> tuple[float, float | None]:
        return (self.scenario.limits.k or 2) - 1e-9, self.scenario.limits.risk

    def _repr_html_(self) -> str:
        return f"<p>{LET_GO}</p>" if self._let_go else super()._repr_html_()

    def _first_line(self) -> str:
        return f"Assessment of {counted(self.n, 'record')} against {counted(len(self.intruders), 'intruder')}"
