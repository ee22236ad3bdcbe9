"""What `assess` gives for a release beside its original: before and after, matching back, learning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

from sdckit.result import SCHEMA_VERSION, Result, json_ready
from sdckit.workflow.verdicts import all_hold

if TYPE_CHECKING:
    from sdckit.data.scenario import Scenario
    from sdckit.utility.utility_overview import UtilityOverview
    from sdckit.workflow.assessment import Assessment
    from sdckit.workflow.recipe_applied import WhatWasDone
    from sdckit.workflow.release_attacks import Asked
    from sdckit.workflow.verdicts import Verdict

__all__ = ["ReleaseAssessment", "ReleaseIntruder"]


@dataclass(frozen=True, eq=False, repr=False)
class ReleaseIntruder:
    """The measures of two files against one intruder.

    Attributes
    ----------
    name : str
    keys : tuple of str
    measures : dict of str to Result
        By measure; for a sensitive variable ``measure:variable``.
    verdicts : tuple of Verdict
        Every declared threshold against the worst release.
    skipped : tuple of (str, str)
        Measures that did not run, and why.
    """

    name: str
    keys: tuple[str, ...]
    measures: dict[str, Result]
    verdicts: tuple[Verdict, ...]
    skipped: tuple[tuple[str, str], ...]

    def __getitem__(self, name: str) -> Result:
        """A result by measure, or by ``measure:variable``."""
        return self.measures[name]

    def __repr__(self) -> str:
        told = [f"{self.name} ({', '.join(self.keys)})"]
        told += [f"  {verdict.word}: {verdict.sentence}" for verdict in self.verdicts]
        return "\n".join([*told, *(f"  {place}: {result!r}" for place, result in self.measures.items())])


@dataclass(frozen=True, eq=False, repr=False)
class ReleaseAssessment:
    """A release against its original: who can still be recognised, matched back, and learnt about.

    Attributes
    ----------
    scenario : Scenario
    original : Assessment
        The one-file measures before.
    released : tuple of Assessment
        The same after, for each release.
    intruders : tuple of ReleaseIntruder
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
    """

    scenario: Scenario
    original: Assessment
    released: tuple[Assessment, ...]
    intruders: tuple[ReleaseIntruder, ...]
    warnings: tuple[str, ...]
    version: str
    date: str
    aligned: bool = False
    id: str | None = None
    measures: tuple[str, ...] = field(default=())
    utility: UtilityOverview | None = None
    no_utility: str = ""
    models: tuple[tuple[str, str], ...] = ()
    what_was_done: WhatWasDone | None = None
    attacks: dict[str, Any] = field(default_factory=dict)
    attacks_skipped: tuple[tuple[str, str], ...] = ()
    attacks_asked: Asked | None = None
    control: bool = False

    @property
    def n(self) -> int:
        """Records of the original."""
        return self.original.n

    @property
    def m(self) -> int:
        """Releases."""
        return len(self.released)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Every declared threshold against every intruder, on the worst release."""
        return tuple(verdict for intruder in self.intruders for verdict in intruder.verdicts)

    @property
    def passed(self) -> bool | None:
        """Whether every declared threshold holds; None where none is declared or one could not be judged."""
        return all_hold(self.verdicts)

    def __getitem__(self, name: str) -> ReleaseIntruder:
        """The measures against one intruder, by name."""
        for intruder in self.intruders:
            if intruder.name == name:
                return intruder
        raise KeyError(name)

    def _rows(self) -> Iterator[tuple[str, str, str, str, float]]:
        for label, one in self._files():
            for intruder in one.intruders:
                for name, result in intruder.results():
                    for figure, value in result._flat():
                        yield intruder.name, name, figure, label, value
        for pair in self.intruders:
            for place, result in pair.measures.items():
                for figure, value in result._flat():
                    yield pair.name, place, figure, "both", value
        if self.utility is not None:
            for figure, value in self.utility._flat():
                yield "", "utility_overview", figure, "both", value
        for place, result in self.attacks.items():
            for figure, value in result._flat():
                yield "", place, figure, "both", value

    def _files(self) -> Iterator[tuple[str, Assessment]]:
        yield "original", self.original
        for number, one in enumerate(self.released, 1):
            yield ("released" if self.m == 1 else f"released {number}"), one

    def summary(self) -> Any:
        """Every figure as a frame: ``intruder``, ``measure``, ``figure``, ``file``, ``value``.

        `file` is "original", "released" (with its number where there are several), or "both".
        """
        from sdckit.data.frames import frame_of

        names = ("intruder", "measure", "figure", "file", "value")
        columns = zip(*self._rows(), strict=True)
        return frame_of(dict(zip(names, map(list, columns), strict=True)), self.original.backend)

    def to_dict(self) -> dict[str, Any]:
        """All figures, exact, ready for JSON; for the session, not for release (`to_json` writes that)."""
        return {
            "schema_version": SCHEMA_VERSION,
            "sdckit": self.version,
            "date": self.date,
            "n": self.n,
            "m": self.m,
            "passed": self.passed,
            "scenario": self.scenario.model_dump(mode="json"),
            "warnings": list(self.warnings),
            "original": self.original.to_dict(),
            "released": [one.to_dict() for one in self.released],
            "intruders": {
                intruder.name: {
                    "keys": list(intruder.keys),
                    "verdicts": [{**json_ready(vars(v)), "sentence": v.sentence} for v in intruder.verdicts],
                    "measures": {place: result.to_dict() for place, result in intruder.measures.items()},
                    "skipped": [{"measure": name, "reason": reason} for name, reason in intruder.skipped],
                }
                for intruder in self.intruders
            },
            "utility": None if self.utility is None else self.utility.to_dict(),
            "attacks": {place: result.to_dict() for place, result in self.attacks.items()},
            "attacks_skipped": [{"measure": name, "reason": reason} for name, reason in self.attacks_skipped],
        }

    def report(self, path: str | Path, *, internal: bool = False) -> None:
        """Write the report for the release committee: one HTML file (or Markdown, by the name).

        Parameters
        ----------
        path : str or Path
            Ends in .html or .md; an existing file is replaced once the new one is whole.
        internal : bool
            Exact figures; stamped confidential, readable by the owner only.

        Raises
        ------
        DataError
            Fewer than 50 records in a file, unless internal; an assessment that was pickled.
        FileFormatError
            The file cannot be written.
        """
        from sdckit.report import write_report

        write_report(self, path, internal=internal)

    def to_json(self, path: str | Path, *, internal: bool = False) -> None:
        """Write the protected figures as JSON; the path "-" prints them.

        Raises
        ------
        DataError
            Fewer than 50 records in a file, unless internal.
        FileFormatError
            The file cannot be written.
        """
        from sdckit.report import write_json

        write_json(self, path, internal=internal)

    def plot(self, *, internal: bool = False) -> Any:
        """Altair charts of the figures, protected unless `internal`: a chart can be saved and passed on."""
        from sdckit.report import assessment_chart

        return assessment_chart(self, internal=internal)

    def _repr_html_(self) -> str:
        from sdckit.report import notebook_html

        html: str = notebook_html(self)
        return html

    def __repr__(self) -> str:
        first = (
            f"{self.m} release(s) against an original of {self.n} records, {len(self.intruders)} intruder(s)"
        )
        return "\n".join([first, *(indent(repr(intruder), "  ") for intruder in self.intruders)])
