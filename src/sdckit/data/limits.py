"""The limits (thresholds) of a release, one row each: what each reads, how it is worded, and what to do about it.

The rows stand in `limits.toml`. Scenario, release types, command line, verdicts, documents, proposals and app ask
them: a new limit is a row there, its name in the signature of `Thresholds`, its test and its page. Rows are plain data;
`judged` names how the workflow judges them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from sdckit.data.methods import ADVICE
from sdckit.data.packaged import packaged, rows


class ShareAtPoints(float):
    """A limit on a share, which is a number, for whoever knows so many points of a person.

    Examples
    --------
    >>> limit = ShareAtPoints(0.05, points=3)
    >>> limit == 0.05, limit.points, limit.entry
    (True, 3, {'points': 3, 'alone': 0.05})
    """

    points: int

    def __new__(cls, alone: float, points: int = 2) -> ShareAtPoints:
        """Make one of a share and a number of points."""
        made = super().__new__(cls, alone)
        made.points = points
        return made

    def __getnewargs__(self) -> tuple[float, int]:  # type: ignore[override]
        return float(self), self.points

    def __eq__(self, other: object) -> bool:
        return float(self) == other and self.points == getattr(other, "points", self.points)

    __hash__ = float.__hash__

    @property
    def entry(self) -> dict[str, float]:
        """As a scenario writes it."""
        return {"points": self.points, "alone": float(self)}


@dataclass(frozen=True, kw_only=True)
class LimitKind:
    """A row: everything known about a limit.

    Attributes
    ----------
    name : str
        Its name in ``[thresholds]`` of a scenario.
    values : str
        "level" (a whole number, 2 or more), "share" (above 0, at most 1), "share from 0", "multiple" (of what guessing
        reaches, 1 to 100), or "share at points", a `ShareAtPoints`.
    scope : str
        What the verdict is about: a "file", a sensitive "variable" of it, a file with its "ledger" of earlier
        releases, what is "released" (of a file by itself the file, else a release compared with its original), or a
        "release" compared with its original, in this order, for each intruder; the "columns" or files that
        go out, once, without one.
    per_variable : bool
        Judged once for each sensitive variable.
    alone : bool
        Of a limit on a release: judged of a file without its original, too, where values are missing or in ranges.
    of : str
        The declared limit that is applied a second time, to the release with reconstructed values filled in (by its own
        measure, where it `needs` a role), or with the keys of linked releases.
    measure, figure : str
        The measure, and the attribute of its result: a share, or a method that counts the records above the limit.
    judged : str
        Kind of verdict (`sdckit.workflow.verdicts`): "violations", "count", "share", "groups", "ledger",
        "points", "worst release", "worst column", "attacks", "undone", "linked", "roles" or "beside".
    without : str
        The reason given where the measure has no result and no reason of its own.
    looked_at, nothing : str
        Figure of the result that is 0 where there was nothing to look at, and the reason given then.
    needs : str
        The role that the limit is about: "sensitive", "household" or "magnitudes"; or "followed": a type of release
        asks for it where the scenario says whose row each is.
    declarable : bool
        Whether a scenario can set the limit; a verdict on something else has none.
    numbers : bool
        Whether it looks at the numbers that go out, so that `numeric` says enough of a column.
    holds, exceeded : str
        Templates of the exact verdict: `limit`, `value`, both in per cent (`limit_percent`, `percent`), `records`,
        `figure` (the value beside its limit), `variable`, `reason`, `ends` (of an interval). A limit stands in the
        unit of its figure.
    printed : tuple of str, or str
        Templates of the verdict in documents, kept and exceeded: `limit`, `limit_percent`, `value`, `some`,
        `variable`, `reason`, `columns` (with how many attacks were made). A single text says what the value is a
        share of, and is continued by "not above" or "above" the limit. `points` is the number of known points.
    question : str
        Which question it answers: "singled", "linked", "learnt", "tried", "covered" or "used".
    asked : str
        What it is about, for readers who know no statistics.
    plain : tuple of str, or str
        The verdict for the same readers; as `printed`, with `others`, `values`, `chance` and `percent`. A single text
        says what the value is a share of.
    words, title : str
        Its name in sentences and in headings; `points` are the known ones.
    of_rows : bool
        Whether it looks at single rows: where a person has several, it says nothing of whoever follows them.
    advice : str
        What to do if it is exceeded; what protection methods do about it stands with them, as `ADVICE`.
    coarser : bool
        Whether recoding the keys helps.
    aimed : bool
        Whether the search for a recipe aims at it.
    part : tuple of str
        Names of the figure in documents, as entered by its view for an intruder, and of the total it is a part of, of
        the file or of an intruder, too. `points` are the known ones, of which fewer may be worse.
    mean : bool
        Whether that figure is a sum of probabilities.
    least : float or None
        For a share in documents: one suppressed as below a bound is at least this fraction of that bound.
    otherwise : str
        The figure under another reading of the data, which a result may have; the higher of the two is judged.
    promised : str
        The limit whose promise it is that this share is at most one over it: the search for a recipe keeps that where
        the scenario sets no limit of its own.
    open : bool
        Whether its figure finds people, and documents state it as open where no limit is on it.
    types : mapping
        Published types of release that set it, with its value.
    form : str
        Label of its field in the app; empty where the app does not show it.
    metavar, option : str
        Placeholder of its value, and its help text on the command line.
    """

    name: str
    values: str
    measure: str
    figure: str
    judged: str
    holds: str
    exceeded: str
    printed: tuple[str, str] | str
    question: str
    asked: str
    plain: tuple[str, str] | str
    scope: str = "file"
    per_variable: bool = False
    alone: bool = False
    of: str = ""
    without: str = "its measure did not run"
    looked_at: str = ""
    nothing: str = ""
    needs: str = ""
    declarable: bool = True
    numbers: bool = False
    words: str = ""
    title: str = ""
    of_rows: bool = False
    advice: str = ""
    coarser: bool = False
    aimed: bool = False
    part: tuple[str, str] | None = None
    mean: bool = False
    least: float | None = None
    otherwise: str = ""
    promised: str = ""
    open: bool = False
    types: Mapping[str, int | float] = field(default_factory=dict)
    form: str = ""
    metavar: str = "R"
    option: str = ""

    def shown(self, limit: float) -> str:
        """A limit of it where its figure does not stand beside it, in the same unit."""
        return limit_percent(limit) if "{limit_percent}" in self.holds else f"{limit:g}"


SCOPES = ("file", "variable", "ledger", "released", "release")


_TABLE = packaged("data/limits.toml")
RELEASE_WORDS: dict[str, str] = {name: row["words"] for name, row in _TABLE["types"].items()}
CONDITIONS = {name: tuple(row["conditions"]) for name, row in _TABLE["types"].items() if "conditions" in row}


def _read() -> Iterator[LimitKind]:
    """The rows of `limits.toml`, each with what limits have in common that are judged as it is."""
    entries = {name: _TABLE["judged"].get(entry["judged"], {}) | entry for name, entry in _TABLE["limits"].items()}
    for entry in entries.values():
        entry["advice"] = entry.get("advice", "").format(**ADVICE)
        if entry["values"] == "share at points":
            entry["types"] = {release: ShareAtPoints(**limit) for release, limit in entry["types"].items()}
    return rows(LimitKind, entries)


LIMITS = {kind.name: kind for kind in _read()}
FOLLOWING = next(kind for kind in LIMITS.values() if kind.judged == "points")  # of people followed through their rows
PROMISED = next(kind for kind in LIMITS.values() if kind.promised)  # what another limit promises and does not look at


def declarable() -> dict[str, LimitKind]:
    """The limits that a scenario can declare, in order of output.

    Examples
    --------
    >>> list(declarable())[:3]
    ['k', 'risk', 'l']
    """
    return {name: kind for name, kind in LIMITS.items() if kind.declarable and not kind.of}


def limits_asked(declared: Collection[str]) -> list[LimitKind]:
    """The limits that a scenario asks for which declares these, with those that follow from another.

    >>> [kind.name for kind in limits_asked(["k"])]
    ['k', 'k_undone', 'k_linked']
    """
    return [kind for kind in LIMITS.values() if (kind.of or kind.name) in declared]


def limit_percent(limit: float) -> str:
    """A limit in per cent, as it stands beside a figure in per cent.

    >>> limit_percent(0.05), limit_percent(0), limit_percent(1.0), limit_percent(1 / 60)
    ('5 %', '0 %', '100 %', '1.66667 %')
    """
    return f"{100 * limit:g} %"


def figure_beside(value: float, limit: float, times: int = 1) -> str:
    """A figure to three digits, or to as many as say on which side of its limit it is; both `times` as large.

    >>> figure_beside(5.12345, 5), figure_beside(5.0001, 5), figure_beside(0.12345, 0.05, 100)
    ('5.12', '5.0001', '12.3')
    >>> figure_beside(0.050001, 0.05, 100), figure_beside(1 / 60, 1 / 60, 100)
    ('5.0001', '1.66667')
    """
    beside = float(f"{times * limit:g}")
    texts = [f"{times * value:.{digits}g}" for digits in range(3, 18)]
    return next((text for text in texts if (float(text) > beside) == (value > limit)), texts[0])


def limit_words(name: str) -> str:
    """A limit as its field in the app; one that no field asks for in its own words, or as its name in words.

    >>> limit_words("k"), limit_words("k_undone"), limit_words("replicated_uniques")
    ('k-anonymity, k', 'k after reconstruction', 'replicated uniques')
    """
    kind = LIMITS.get(name)
    return (kind and (kind.form or kind.words)) or name.replace("_", " ")


def limits_of_type(release: str) -> dict[str, int | float]:
    """The limits that a published type of release sets.

    Examples
    --------
    >>> limits_of_type("scientific-use")
    {'k': 3, 'risk': 0.2, 'household_risk': 0.2}
    """
    return {name: kind.types[release] for name, kind in declarable().items() if release in kind.types}
