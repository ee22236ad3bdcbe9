"""A map of what was looked at: for each column that goes out, which questions of an assessment saw it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sdckit.attacks.attack_rates import EVERY
from sdckit.catalogue import measure
from sdckit.catalogue.attacks import COPIES, DIFFERENCING, RECOVERABLE
from sdckit.catalogue.attribute import NUMBERS
from sdckit.catalogue.identity import FOLLOWED

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.assessment import Assessment, IntruderAssessment, ReleaseAssessment
    from sdckit.workflow.plan import Asked

QUESTIONS = ("known", "learnt", "close", "attacked", "given_back", "remembered")
COMPARED = ("numeric", "magnitudes")  # roles whose columns are compared as numbers
# Measures whose result lists the columns it looked at, by release.
LISTED = {RECOVERABLE.name: "given_back", NUMBERS.name: "close"}
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
