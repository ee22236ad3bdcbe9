"""What `assess` gives for a release beside its original: before and after, matching back, learning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

from sdckit.display import counted
from sdckit.result import leading
from sdckit.workflow.assessed import Assessed, listed_reasons

if TYPE_CHECKING:
    from sdckit.cells.pair import Recoded
    from sdckit.utility.utility_overview import UtilityOverview
    from sdckit.workflow.asked import Asked
    from sdckit.workflow.assessment import Assessment
    from sdckit.workflow.recipes.recipe_applied import WhatWasDone


NAMES = ("intruder", "measure", "figure", "file", "value")


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
    recoded : tuple of Recoded
        Columns of the original that were recoded as the release is before anything was measured: every figure of
        the original is that of the recoded original then. `recoding` is "recipe" or "log" where one was given.
    """

    schema: ClassVar[str] = "sdckit/release-assessment"
    original: Assessment
    released: tuple[Assessment, ...]
    aligned: bool = False
    id: str | None = None
    utility: UtilityOverview | None = None
    no_utility: str = ""
    models: tuple[tuple[str, str], ...] = ()
    what_was_done: WhatWasDone | None = None
    attacks: dict[str, Any] = field(default_factory=dict)
    attacks_skipped: tuple[tuple[str, str], ...] = ()
    attacks_asked: Asked | None = None
    control: bool = False
    recoded: tuple[Recoded, ...] = ()
    recoding: str = ""

    @property
    def n(self) -> int:
        """Records of the original."""
        return self.original.n

    @property
    def m(self) -> int:
        """Releases."""
        return len(self.released)

    def _rows(self) -> Iterator[tuple[str, str, str, str, float]]:
        for label, one in self._files():
            for intruder, place, figure, value in one._rows():
                yield intruder, place, figure, label, value
        both = [(one.name, place, found) for one in self.intruders for place, found in one.results.items()]
        if self.utility is not None:
            both.append(("", "utility_overview", self.utility))
        both += [("", place, found) for place, found in self.attacks.items()]
        for name, place, found in both:
            for figure, value in found._flat():
                yield name, place, figure, "both", value

    def _files(self) -> Iterator[tuple[str, Assessment]]:
        yield "original", self.original
        for number, one in enumerate(self.released, 1):
            yield ("released" if self.m == 1 else f"released {number}"), one

    def summary(self) -> Any:
        """The leading figures of every measure and file as a frame like `details`, of at most 20 rows."""
        # The releases first, then what compares them, then the original.
        order = {"both": 1, "original": 2}
        rows = sorted((row for row in self._rows() if row[2] != "n"), key=lambda row: order.get(row[3], 0))
        parts = [list(part) for _, part in groupby(rows, key=itemgetter(0, 1, 3))]
        return self._frame(NAMES, leading(parts), self.original.backend)

    def details(self) -> Any:
        """Every figure as a frame: ``intruder``, ``measure``, ``figure``, ``file``, ``value``.

        `file` is "original", "released" (with its number where there are several), or "both".
        """
        return self._frame(NAMES, self._rows(), self.original.backend)

    def to_dict(self) -> dict[str, Any]:
        """All figures, exact, ready for JSON; for the session, not for release (`to_json` writes that)."""
        found = self._dict({"n": self.n, "m": self.m})
        return found | {
            "original": self.original.to_dict(),
            "released": [one.to_dict() for one in self.released],
            "utility": None if self.utility is None else self.utility.to_dict(),
            "attacks": {place: result.to_dict() for place, result in self.attacks.items()},
            "attacks_skipped": listed_reasons(self.attacks_skipped),
            "recoded": [asdict(one) for one in self.recoded],
        }

    def _need_data(self) -> None:
        self.original._need_data()

    def _first_line(self) -> str:
        against = f"an original of {counted(self.n, 'record')}, {counted(len(self.intruders), 'intruder')}"
        return f"{counted(self.m, 'release')} against {against}"
