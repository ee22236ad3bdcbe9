"""What the assessment of one file and that of a release have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any, ClassVar

from sdckit.display import Displayed
from sdckit.result import SCHEMA_VERSION, Result, json_ready
from sdckit.workflow.verdicts import Verdict, all_hold

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario


@dataclass(frozen=True)
class KeyFacts:
    """A key and its levels.

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
        """Without the values that few records have: a pickle travels."""
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
        found, risk = self.get("key_frequencies"), self.get("individual_risk")
        if found is not None and risk is not None:
            first += f": {found.sample_uniques} sample uniques, global risk {risk.global_risk:.4g}"
        lines = [f"  {verdict.word}: {verdict.sentence}" for verdict in self.verdicts]
        if not self.key_facts:
            lines += [f"  {place}: {result!r}" for place, result in self.results.items()]
        return "\n".join([first, *lines])


def listed_reasons(skipped: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """What did not run, ready for JSON."""
    return [{"measure": place, "reason": reason} for place, reason in skipped]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Assessed(Displayed):
    """Verdicts, results by intruder and place, and the doors to documents."""

    schema: ClassVar[str]
    scenario: Scenario
    intruders: tuple[IntruderAssessment, ...]
    warnings: tuple[str, ...]
    version: str
    date: str
    measures: tuple[str, ...] = field(default=())
    by: tuple[str, ...] = field(default=())

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Every declared threshold against every intruder; of several releases the worst."""
        return tuple(verdict for intruder in self.intruders for verdict in intruder.verdicts)

    @property
    def passed(self) -> bool | None:
        """Whether every declared threshold holds; None where none is declared or one could not be judged."""
        return all_hold(self.verdicts)

    def __getitem__(self, name: str) -> IntruderAssessment:
        """The results against one intruder, by name."""
        for intruder in self.intruders:
            if intruder.name == name:
                return intruder
        raise KeyError(name)

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
            "warnings": list(self.warnings),
            "intruders": {intruder.name: intruder.to_dict() for intruder in self.intruders},
        }  # fmt: skip

    def _need_data(self) -> None:
        """Refuse where the data are gone that a document needs."""

    def report(
        self,
        path: str | Path,
        *,
        internal: bool = False,
        beside: str | Path | None = None,
        name: str = "",
        institution: str = "",
        logo: str | Path | None = None,
        files: Sequence[str | Path] = (),
        labels: Mapping[str, str] | None = None,
        language: str = "en",
    ) -> None:
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

        Raises
        ------
        DataError
            Fewer than 50 records in a file, unless internal; an assessment that was pickled; an unknown language.
        FileFormatError
            The file cannot be written; what writes it is not there; the folder holds something else than such
            documents; the logo is no picture.
        """
        from sdckit.report.cover import Cover
        from sdckit.report.formats.write import write_report

        self._need_data()
        cover = Cover(
            name=name, institution=institution, logo=logo, files=files, labels=labels or {}, language=language
        )
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

        html: str = notebook_html(self)
        return html

    @abstractmethod
    def _first_line(self) -> str:
        """What this is, for a session."""

    def __repr__(self) -> str:
        return "\n".join([self._first_line(), *(indent(repr(one), "  ") for one in self.intruders)])
