"""Which attacks a command line asks for, and with what knowledge: settled before a file is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdckit.data.nearest import did_you_mean
from sdckit.errors import ScenarioError

if TYPE_CHECKING:
    from sdckit.data.scenario import Scenario

__all__ = ["KINDS", "Plan", "make_plan"]

KINDS = ("singling-out", "linkability", "inference", "membership", "distances")
KNOWLEDGE = ("linkability", "inference")
SIDES = 2


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
    """

    kinds: tuple[str, ...]
    sides: tuple[tuple[str, ...], ...]
    targets: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that the plan names."""
        return tuple(dict.fromkeys([*(name for side in self.sides for name in side), *self.targets]))

    def known_for(self, target: str) -> tuple[str, ...]:
        """What is known where a column is inferred: everything but this column."""
        names = dict.fromkeys(name for side in self.sides for name in side)
        return tuple(name for name in names if name != target)


def make_plan(
    *,
    kinds: Sequence[str],
    known: Sequence[Sequence[str]],
    targets: Sequence[str],
    has_control: bool,
    scenario: Scenario | None = None,
) -> Plan:
    """Choose the attacks: those named, else all that what is given allows.

    Raises
    ------
    ScenarioError
        An unknown kind; one that lacks what it needs; knowledge or a target that no attack would use.

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
    plan = Plan(_chosen(kinds, sides, targets, has_control=has_control), sides, tuple(dict.fromkeys(targets)))
    _check_needs(plan, has_control=has_control)
    if typed and not set(plan.kinds) & set(KNOWLEDGE):
        raise ScenarioError(
            "--known and --target are used by no attack here: linkability takes --known twice, inference "
            "--known and --target"
        )
    return plan


def _chosen(
    kinds: Sequence[str], sides: Sequence[Sequence[str]], targets: Sequence[str], *, has_control: bool
) -> tuple[str, ...]:
    if kinds:
        return tuple(name for name in KINDS if name in kinds)
    possible = {
        "linkability": len(sides) == SIDES,
        "inference": bool(targets) and bool(sides),
        "membership": has_control,
    }
    return tuple(name for name in KINDS if possible.get(name, True))


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
