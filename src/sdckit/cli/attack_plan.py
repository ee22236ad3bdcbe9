"""Which attacks a command line asks for, and with what knowledge: settled before a file is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from sdckit.data.nearest import did_you_mean
from sdckit.errors import ScenarioError

if TYPE_CHECKING:
    from sdckit.data.scenario import Scenario

__all__ = ["KINDS", "Plan", "make_plan"]

LINKAGE = "probabilistic-linkage"
KINDS = ("singling-out", "linkability", LINKAGE, "inference", "membership", "distances")
KNOWLEDGE = ("linkability", LINKAGE, "inference")
SIDES = 2
FEWEST_KNOWN = 2  # columns whose agreement is weighed


@dataclass(frozen=True)
class Plan:
    """The attacks to make.

    Attributes
    ----------
    kinds : tuple of str
        Of `KINDS`, in their order.
    sides : tuple of tuple of str
        The pieces of knowledge as given: one, or the two of linkability.
    targets : tuple of str
        Columns to be inferred.
    by : tuple of str
        Columns of subgroups.
    id : str or None
        Column that says which rows belong together.
    blocking : tuple of tuple of str
        Rules of which a pair of linked records must meet one.
    """

    kinds: tuple[str, ...]
    sides: tuple[tuple[str, ...], ...]
    targets: tuple[str, ...]
    by: tuple[str, ...] = ()
    id: str | None = None
    blocking: tuple[tuple[str, ...], ...] = ()

    @property
    def known(self) -> tuple[str, ...]:
        """Everything that is known, in one piece."""
        return tuple(dict.fromkeys(name for side in self.sides for name in side))

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that the plan names, but the id."""
        return tuple(dict.fromkeys([*self.known, *self.targets, *self.by]))

    def known_for(self, target: str) -> tuple[str, ...]:
        """What is known where a column is inferred: everything but this column."""
        return tuple(name for name in self.known if name != target)


def make_plan(
    *,
    kinds: Sequence[str],
    known: Sequence[Sequence[str]],
    targets: Sequence[str],
    has_control: bool,
    by: Sequence[str] = (),
    id: str | None = None,
    aligned: bool = False,
    blocking: Sequence[Sequence[str]] = (),
    scenario: Scenario | None = None,
) -> Plan:
    """Choose the attacks: those named, else all that what is given allows.

    Raises
    ------
    ScenarioError
        An unknown kind; one that lacks what it needs; knowledge, a target or rows that belong together where
        no attack would use them.

    Examples
    --------
    >>> make_plan(kinds=[], known=[["age"]], targets=["income"], has_control=False).kinds
    ('singling-out', 'inference', 'distances')
    """
    if unknown := [name for name in kinds if name not in KINDS]:
        raise ScenarioError(f"--kind {unknown[0]!r} is unknown; {did_you_mean(unknown[0], KINDS)}")
    sides = tuple(tuple(side) for side in known if side)
    typed = bool(sides or targets)
    if scenario is not None:
        if not sides and len(scenario.intruders) == 1:
            sides = (tuple(scenario.keys),)
        targets = targets or scenario.sensitive
    if len(sides) > SIDES:
        raise ScenarioError(
            "--known stands once, or twice for linkability; join columns with commas: --known A,B"
        )
    rows = aligned or id is not None  # asked for: no other attack needs to know which rows belong together
    declared = scenario is not None and scenario.aligned
    possible = {
        "linkability": len(sides) == SIDES,
        LINKAGE: rows or (declared and bool(sides) and find_spec("splink") is not None),
        "inference": bool(targets) and bool(sides),
        "membership": has_control,
    }
    chosen = tuple(name for name in KINDS if (name in kinds if kinds else possible.get(name, True)))
    plan = Plan(
        chosen, sides, tuple(dict.fromkeys(targets)), tuple(dict.fromkeys(by)), id,
        tuple(tuple(rule) for rule in blocking),
    )  # fmt: skip
    _check_needs(plan, has_control=has_control)
    _check_linkage(plan, rows=rows, declared=declared)
    if typed and not set(plan.kinds) & set(KNOWLEDGE):
        raise ScenarioError(
            "--known and --target are used by no attack here: linkability takes --known twice, inference "
            "--known and --target, probabilistic-linkage --known and --id or --aligned"
        )
    if plan.by and set(plan.kinds) == {LINKAGE}:
        raise ScenarioError("probabilistic-linkage knows no subgroups; leave --by out")
    return plan


def _check_needs(plan: Plan, *, has_control: bool) -> None:
    if "linkability" in plan.kinds:
        if len(plan.sides) != SIDES:
            raise ScenarioError(
                "linkability joins two pieces of knowledge: give --known twice, --known A,B --known C,D"
            )
        if both := [name for name in plan.sides[0] if name in plan.sides[1]]:
            raise ScenarioError(
                f"{both[0]!r} stands in both --known: what joins two pieces anyway is no attack; leave it out of one"
            )
    if "inference" in plan.kinds:
        if not plan.targets:
            raise ScenarioError("inference needs to know what is inferred: --target COLUMN")
        for target in plan.targets:
            if not plan.known_for(target):
                raise ScenarioError(f"nothing is known from which {target!r} could be inferred: --known A,B")
    if "membership" in plan.kinds and not has_control:
        raise ScenarioError("membership shows only beside people who were never in the file: --control FILE")


def _check_linkage(plan: Plan, *, rows: bool, declared: bool) -> None:
    if LINKAGE not in plan.kinds:
        if rows or plan.blocking:
            raise ScenarioError("--id, --aligned and --blocking are for --kind probabilistic-linkage")
        return
    if not (rows or declared):
        raise ScenarioError(
            "probabilistic-linkage is scored by which rows belong together: --id COLUMN, or --aligned where row i "
            "of a release was made from row i of FILE"
        )
    if len(plan.known) < FEWEST_KNOWN:
        raise ScenarioError("probabilistic-linkage needs two known columns or more: --known A,B")
    if plan.id in plan.known:
        raise ScenarioError(f"{plan.id!r} says which rows belong together: leave it out of --known")
    if find_spec("splink") is None:
        raise ScenarioError("probabilistic-linkage needs splink: pip install 'sdckit[linkage]'")
