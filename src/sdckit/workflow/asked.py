"""How simulated attacks were asked for, and what their intruders know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdckit.catalogue import Knowledge
from sdckit.catalogue.attacks import COLUMNS_AT_ONCE, LINKABILITY, SINGLING

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario


Halves = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Asked:
    """How attacks were asked for: what it takes to judge them, and to make them again.

    `columns` are those attacked. `n_columns` of the original is None where it came from a plan, of which only the
    declared ones were read; `columns_at_once` is of a query that singles out by several. `halves` are the two
    pieces of knowledge that may be joined, by intruder.
    """

    columns: tuple[str, ...]
    n_columns: int | None
    columns_at_once: int | None
    halves: Mapping[str, Halves]
    n_attacks: int
    seed: int | None


def declared_knowledge(
    scenario: Scenario, variables: Sequence[str], *, n_attacks: int
) -> dict[str, Knowledge]:
    """What each intruder of a scenario has to go by: the keys, and their two halves, in their order.

    `variables` are the columns of the attacks that are told none.

    Examples
    --------
    >>> from sdckit.data.scenarios.scenario import Scenario
    >>> found = declared_knowledge(Scenario(keys=["sex", "age", "region"]), ["sex"], n_attacks=100)
    >>> found["default"].halves
    (('sex', 'age'), ('region',))
    """
    numeric = tuple(scenario.numeric) or None
    found = {}
    for name, keys in scenario.intruders.items():
        half = (len(keys) + 1) // 2
        halves = (keys[:half], keys[half:]) if len(keys) > 1 else None
        found[name] = Knowledge(
            variables=tuple(variables), known=keys, halves=halves, targets=tuple(scenario.sensitive),
            numeric=numeric, n_attacks=n_attacks,
        )  # fmt: skip
    return found


def asked_for(
    knowledge: Mapping[str, Knowledge], places: Iterable[str], *, n_columns: int | None, seed: int | None
) -> Asked:
    """Sum up what intruders know and how it was used, by the places of the attacks made or tried."""
    first = next(iter(knowledge.values()))
    names = {place.partition(":")[0] for place in places}
    several = min(COLUMNS_AT_ONCE, len(first.variables)) if SINGLING.name in names else 1
    halves = {name: one.halves for name, one in knowledge.items() if one.halves and LINKABILITY.name in names}
    return Asked(first.variables, n_columns, several if several > 1 else None, halves, first.n_attacks, seed)
