"""Where the limit of each verdict comes from: the scenario, its type of release, or an office."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from sdckit.data.scenarios.release_types import limits_in_force
from sdckit.workflow.verdicts import Verdict

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario


UNDONE = "_undone"  # k and risk are judged again on a release with what it gives back put back


def with_origins(
    verdicts: Iterable[Verdict], scenario: Scenario, *, compared: bool = False
) -> tuple[Verdict, ...]:
    """Write into each verdict where its limit comes from; nothing where no type of release is named."""
    if scenario.release is None:
        return tuple(verdicts)
    limits = limits_in_force(scenario, compared=compared)
    words = {name: limit.words(scenario.release) for name, limit in limits.items()}
    return tuple(replace(one, origin=words.get(one.name.removesuffix(UNDONE), "")) for one in verdicts)
