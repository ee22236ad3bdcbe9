"""The verdicts of a gate in the words of a document that may leave the room, for logs and tools that others read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdckit.report.chapters.sentences import status, verdict_sentence
from sdckit.report.formats.write import plain_document
from sdckit.report.view import Plain

if TYPE_CHECKING:
    from sdckit.workflow.check import CheckResult
    from sdckit.workflow.verdicts import Verdict


@dataclass(frozen=True)
class ToldVerdict:
    """One limit against one intruder, as a protected document tells it.

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
    """All verdicts of a gate, and the warnings of the document that they are from.

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
        return len({one.intruder for one in self.verdicts}) > 1

    @property
    def sentences(self) -> tuple[str, ...]:
        """Every verdict in words, with its intruder where there are several."""
        return tuple(
            (f"Intruder “{one.intruder}”: " if self.several_intruders else "") + one.sentence
            for one in self.verdicts
        )


def told_verdicts(result: CheckResult) -> ToldVerdicts:
    """Give the verdicts as the protected document of the gate's assessment prints them.

    A limit without a verdict stays one that was not judged. A file of fewer than 50 records is refused, as for every
    document that leaves.
    """
    plain = plain_document(result.assessment)
    printed = [*plain["verdicts"], *map(_forgotten, result.verdicts[len(plain["verdicts"]) :])]
    return ToldVerdicts(tuple(_told(one, plain["n"]) for one in printed), tuple(plain["warnings"]))


def _told(one: Plain, n: Plain) -> ToldVerdict:
    release = one.get("release")
    sentence = (f"Release {release}: " if release else "") + verdict_sentence(one, n)
    return ToldVerdict(
        one["name"], one["intruder"], one["variable"], release, one["holds"]["value"], sentence
    )


def _forgotten(one: Verdict) -> Plain:
    """A limit that nobody judged, which no document can print."""
    return {
        "name": one.name, "intruder": one.intruder, "variable": one.variable, "limit": one.limit,
        "holds": {"value": None}, "reason": one.reason, "origin": one.origin,
    }  # fmt: skip
