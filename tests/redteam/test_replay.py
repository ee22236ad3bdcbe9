"""Whoever has the software writes the document of every file it could be: at least three values are left."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

import sdckit as sdc
from draw import quiet
from redteam.small_worlds import KINDS, Kind, World
from sdckit.report.chapters.document import build_document
from sdckit.report.gate.protect import protect

SAFE_VALUES = 3
LEVELS_OF_K = (3, 4)


def printed(world: World, kind: Kind, k: int) -> str:
    """The whole document, but for what differs by the day."""
    scenario = sdc.Scenario(
        intruders={"neighbour": list(kind.keys)}, thresholds={"k": k}, household=kind.household
    )
    with quiet():
        found = sdc.assess(world.frame, scenario=scenario, measures=kind.measures)
    plain = protect(build_document(found))
    return json.dumps(
        {name: one for name, one in plain.items() if name != "date"}, sort_keys=True, default=str
    )


def given_away(worlds: Sequence[World], texts: Sequence[str]) -> list[tuple[str, set[int], int]]:
    """Counts of which fewer than three values are left, one of them 1 to 4, by what is printed."""
    alike: dict[str, list[World]] = defaultdict(list)
    for world, text in zip(worlds, texts, strict=True):
        alike[text].append(world)
    found = []
    for same in alike.values():
        if any(world.at_the_edge for world in same):
            continue
        for name in same[0].counts:
            values = {world.counts[name] for world in same}
            if len(values) < SAFE_VALUES and any(0 < value < 5 for value in values):
                found.append((name, values, len(same)))
    return found


@pytest.mark.parametrize("name", KINDS)
def test_a_replay_leaves_three_values(name: str) -> None:
    """For one document, for another with other k, and for both together."""
    kind = KINDS[name]
    worlds = list(kind.worlds())
    texts: Mapping[int, list[str]] = {k: [printed(world, kind, k) for world in worlds] for k in LEVELS_OF_K}
    told: dict[Any, Any] = {k: given_away(worlds, texts[k]) for k in LEVELS_OF_K}
    told["both"] = given_away(worlds, [a + b for a, b in zip(*texts.values(), strict=True)])
    assert not any(told.values()), told


def test_a_replay_sees_what_a_careless_document_tells() -> None:
    """Rounding to 5 alone, with the file's size known, gives counts away: the replay is no test that cannot fail."""
    worlds = list(KINDS["one key"].worlds())
    texts = [
        ",".join(
            str(5 * round(n / 5)) if n >= 5 else "<5"
            for n in sorted(world.frame["key"].value_counts()["count"], reverse=True)
        )
        for world in worlds
    ]
    assert given_away(worlds, texts)
