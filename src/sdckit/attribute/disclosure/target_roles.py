"""Who knows what, and what they would learn: the roles of a measure of attribution on two files."""

from __future__ import annotations

from collections.abc import Sequence

from sdckit.cells.pair import Pair
from sdckit.data import arguments
from sdckit.data.scenarios.roles import resolve_roles
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import releases_have
from sdckit.errors import ColumnError, ScenarioError

MISSING_RULE = "a missing value is a level of its own, of keys and target"


def known_and_learnt(
    keys: Sequence[str] | None,
    target: str | Sequence[str] | None,
    scenario: Scenario | None,
    *,
    several: bool = False,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The keys, and the target; or with `several` the columns that are the target together.

    Examples
    --------
    >>> known_and_learnt(["sex"], "ill", None)
    (('sex',), ('ill',))
    """
    names = resolve_roles(scenario=scenario, keys=keys).keys
    if target is None:
        sensitive = scenario.sensitive if scenario else ()
        if len(sensitive) != 1:
            said = f"; the scenario has {', '.join(sensitive)}" if sensitive else ""
            words = f"say which variable an intruder would learn: target='...'{said}"
            raise ScenarioError(words, argument="target")
        target = sensitive[0]
    learnt = arguments.names(target, "target", single=True) or ()
    if not learnt:
        raise ScenarioError("target is empty; say which variable an intruder would learn", argument="target")
    if len(learnt) > 1 and not several:
        words = "target is one column; attribute_disclosure_table takes several in targets=[...]"
        raise ColumnError(words, argument="target")
    check_targets(learnt, names)
    return names, learnt


def check_targets(target: Sequence[str], keys: Sequence[str]) -> None:
    """Refuse a target that is a key."""
    if clash := [name for name in target if name in keys]:
        words = f"target {clash[0]!r} is a key; an intruder cannot learn what they know"
        raise ColumnError(words, argument="target")


def identical_note(pair: Pair, used: Sequence[str]) -> dict[str, str]:
    """A note where releases are the original in the columns used; nothing where none is."""
    same = sum(pair.identical(used))
    words = f"{releases_have(same, pair.m)} the original's keys and target, row by row"
    return {"released": words} if same else {}
