"""Which attacks a command line asks for, and with what knowledge: settled before a file is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sdckit.catalogue import Knowledge, rows
from sdckit.cli.options import Texts, split, split_named
from sdckit.data.nearest import did_you_mean
from sdckit.errors import ScenarioError

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.plan import Planned

# The options that say how rows of a release are matched back: the scenario's table ``[matching]`` as
# typed.


MATCH = partial(typer.Option, rich_help_panel="How rows are matched back")
WIDTH = "--match-width"
NO_RELEASE = "--match-… and --high-risk are for a release beside its original; give --released FILE"


@dataclass(frozen=True, kw_only=True)
class MatchingOptions:
    """How somebody looks for the row made from a person whose values they know, as typed."""

    match_width: Annotated[
        Texts,
        MATCH(
            WIDTH,
            metavar="X|A=X",
            help="How far a number may be off, as a share of it: 0.1 for every changed one, income=0.1 for one.",
        ),
    ] = None
    match_absolute: Annotated[
        Texts, MATCH("--match-absolute", metavar="A,B", help="Keys whose width is in their own unit.")
    ] = None
    match_known: Annotated[
        Texts, MATCH("--match-known", metavar="A,B", help="Keys left as they were; otherwise found out.")
    ] = None
    match_synthetic: Annotated[
        Texts, MATCH("--match-synthetic", metavar="A,B", help="Keys that were replaced; otherwise found out.")
    ] = None
    match_tol: Annotated[float | None, MATCH("--match-tol", metavar="T", help="Slack for rounding errors: 1e-9.")] = (
        None
    )
    high_risk: Annotated[
        float | None, MATCH("--high-risk", metavar="R", help="Match risk above which records are counted: 0.5.")
    ] = None

    @property
    def entries(self) -> dict[str, Any]:
        """What was typed, as entries of the table."""
        entries: dict[str, Any] = {
            "width": _width(self.match_width), "known": split(self.match_known),
            "synthetic": split(self.match_synthetic), "tol": self.match_tol, "high_risk": self.high_risk,
            "relative": dict.fromkeys(split(self.match_absolute), False),
        }  # fmt: skip
        return {name: value for name, value in entries.items() if value not in (None, [], {})}

    def check(self, *, has_release: bool) -> None:
        """Refuse what means nothing without a release."""
        if self.entries and not has_release:
            raise ScenarioError(NO_RELEASE)


def _width(texts: list[str] | None) -> float | dict[str, float] | None:
    parts = split(texts)
    if not parts:
        return None
    if len(parts) == 1 and "=" not in parts[0]:
        return _number(parts[0])
    if any("=" not in part for part in parts):
        raise ScenarioError(f"{WIDTH} takes one number for all, or key=number for each: {WIDTH} income=0.1,age=2")
    return {name: _number(value) for name, value in split_named(parts, option=WIDTH).items()}


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ScenarioError(f"{WIDTH} takes numbers, such as {WIDTH} 0.1 or {WIDTH} income=0.1") from None


INTRUDER = "default"
SIDES = 2
NOBODY_KNOWS = "(no column)"  # attacks without an intruder's knowledge, before the files are read
# What to give, by what an attack needs.
WAYS_OUT = {
    ("known",): "; give --known twice: --known A,B --known C,D",
    ("known", "target"): "; give --known A,B and --target COLUMN",
    ("control",): "; give --control FILE",
    ("variables",): "; give --known A,B and --id COLUMN, or --aligned",
}


@dataclass(frozen=True)
class Wanted:
    """What was asked for.

    `kinds` are the attacks named (none: all that apply), `sides` the pieces of knowledge as given: one, or two
    that may be joined. `rows` says whether the command line says that rows belong together, `declared` whether
    the scenario does; `typed` whether knowledge or a target was typed. A pair of linked records must meet one
    rule of `blocking`.
    """

    kinds: tuple[str, ...]
    sides: tuple[tuple[str, ...], ...]
    targets: tuple[str, ...]
    by: tuple[str, ...] = ()
    id: str | None = None
    rows: bool = False
    declared: bool = False
    blocking: tuple[tuple[str, ...], ...] = ()
    typed: bool = False

    @property
    def known(self) -> tuple[str, ...]:
        """Everything that is known, in one piece."""
        return tuple(dict.fromkeys(name for side in self.sides for name in side))

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns named, but the id."""
        return tuple(dict.fromkeys([*self.known, *self.targets, *self.by]))

    def knowledge(self, variables: Sequence[str], numeric: Sequence[str] | None, n_attacks: int) -> Knowledge:
        """The same as an attack takes it."""
        return Knowledge(
            variables=tuple(variables), known=self.known,
            halves=(self.sides[0], self.sides[1]) if len(self.sides) == SIDES else None, targets=self.targets,
            numeric=None if numeric is None else tuple(numeric), by=self.by, blocking=self.blocking,
            n_attacks=n_attacks,
        )  # fmt: skip


def read_wanted(
    *, kinds: Sequence[str], known: Sequence[Sequence[str]], targets: Sequence[str], by: Sequence[str] = (),
    id: str | None = None, aligned: bool = False, blocking: Sequence[Sequence[str]] = (),
    scenario: Scenario | None = None,
) -> Wanted:  # fmt: skip
    """Read the options; a scenario says what they leave open.

    Examples
    --------
    >>> read_wanted(kinds=[], known=[["age"]], targets=["income"]).columns
    ('age', 'income')
    """
    names = {row.kind: row.name for row in rows("attack")}
    if unknown := [name for name in kinds if name not in names]:
        raise ScenarioError(f"--kind {unknown[0]!r} is unknown; {did_you_mean(unknown[0], tuple(names))}")
    sides = tuple(tuple(side) for side in known if side)
    if len(sides) > SIDES:
        raise ScenarioError("--known stands once, or twice for two pieces: --known A,B --known C,D")
    if len(sides) == SIDES and (both := [name for name in sides[0] if name in sides[1]]):
        raise ScenarioError(f"{both[0]!r} stands in both --known: what joins two pieces anyway is no attack")
    wanted = Wanted(
        kinds=tuple(names[name] for name in dict.fromkeys(kinds)), sides=sides,
        targets=tuple(dict.fromkeys(targets)), by=tuple(dict.fromkeys(by)), id=id,
        rows=aligned or id is not None, blocking=tuple(tuple(rule) for rule in blocking),
        typed=bool(sides or targets),
    )  # fmt: skip
    if id in wanted.known:
        raise ScenarioError(f"{id!r} says which rows belong together: leave it out of --known")
    if scenario is None:
        return wanted
    if not sides and len(scenario.intruders) == 1:
        wanted = replace(wanted, sides=(tuple(scenario.keys),))
    return replace(wanted, targets=wanted.targets or tuple(scenario.sensitive), declared=scenario.aligned)


def planned(
    wanted: Wanted, variables: Sequence[str] = (), *, numeric: Sequence[str] | None = None, n_attacks: int,
    **known: Any,
) -> tuple[Planned, ...]:  # fmt: skip
    """Plan the attacks; one that was named and cannot be made is refused, others are left out."""
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.plan import plan_attacks

    scenario = Scenario(intruders={INTRUDER: wanted.known or tuple(variables) or (NOBODY_KNOWS,)})
    knowledge = {INTRUDER: wanted.knowledge(variables, numeric, n_attacks)}
    aligned = wanted.rows or wanted.declared
    every = plan_attacks(scenario, knowledge, kinds=wanted.kinds, aligned=aligned, **known)
    made = tuple(plan for plan in every if not plan.lacks)
    for plan in every:
        if plan.lacks and plan.row.name in wanted.kinds:
            raise ScenarioError(f"--kind {plan.row.kind}: {plan.lacks}{WAYS_OUT.get(plan.row.needs, '')}")
    _check_used(wanted, every)
    return made


def _check_used(wanted: Wanted, every: Sequence[Planned]) -> None:
    """Refuse options that no attack uses."""
    made = {plan.row.name: plan.row for plan in every if not plan.lacks}
    if wanted.typed and not any(row.of_intruder for row in made.values()):
        raise ScenarioError(
            "--known and --target are used by no attack here: linkability takes --known twice, inference "
            "--known and --target, linking records --known and --id or --aligned"
        )
    linking = [plan for plan in every if "variables" in plan.row.needs]
    if (wanted.rows or wanted.blocking) and all(plan.lacks for plan in linking):
        reason = f": {linking[0].lacks}" if linking else ""
        raise ScenarioError(f"--id, --aligned, --blocking are for linking records that belong together{reason}")
    if wanted.by and len(linking) == len(made):
        raise ScenarioError(f"{linking[0].row.kind} knows no subgroups; leave --by out")
