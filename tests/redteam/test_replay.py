"""Whoever has the software writes the document of every file it could be: at least three values are left."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest

import sdckit as sdc
from draw import quiet
from redteam.remembered import remembering
from redteam.small_worlds import KINDS, Kind, World
from sdckit.report.chapters.document import build_document
from sdckit.report.gate.protect import protect

SAFE_VALUES = 3
LEVELS_OF_K = (3, 4)


# Level of k and sampling fraction of the documents of one file: what they print alike is decided once.
ASKED = (*((k, None) for k in LEVELS_OF_K), (3, 0.1))
SAMPLED = ("one key", "households")
Documents = Callable[[str], list[list[str]]]


@pytest.fixture(scope="module")
def documents() -> Documents:
    """Those of a kind, made once for all tests: so they run in one process."""
    return cache(_documents)


def _documents(name: str) -> list[list[str]]:
    """For every document that is asked for, that of each world of a kind."""
    kind = KINDS[name]
    asked = ASKED if name in SAMPLED else ASKED[: len(LEVELS_OF_K)]
    with remembering():
        each = [[printed(world, kind, k, fraction) for k, fraction in asked] for world in kind.worlds()]
    return [list(texts) for texts in zip(*each, strict=True)]


def printed(world: World, kind: Kind, k: int, fraction: float | None = None) -> str:
    """The whole document, but for what differs by the day."""
    scenario = sdc.Scenario(
        intruders={"neighbour": list(kind.keys)}, thresholds={"k": k}, household=kind.household,
        sampling_fraction=fraction,
    )  # fmt: skip
    with quiet():
        found = sdc.assess(world.frame, scenario=scenario, measures=kind.measures)
    plain = protect(build_document(found))
    return json.dumps({name: one for name, one in plain.items() if name != "date"}, sort_keys=True, default=str)


@dataclass
class Replayed:
    """What a replay of all worlds leaves: worlds of which every small count has three values, and the others.

    Worlds beyond those tried may look like those at the edge, and leave more values: these are `open`.
    """

    safe: list[World] = field(default_factory=list)
    told: list[tuple[str, set[int], int]] = field(default_factory=list)
    open: list[tuple[str, set[int], int]] = field(default_factory=list)


def replay(worlds: Sequence[World], texts: Sequence[str]) -> Replayed:
    """Give what is left of each world by what is printed of it."""
    alike: dict[str, list[World]] = defaultdict(list)
    for world, text in zip(worlds, texts, strict=True):
        alike[text].append(world)
    found = Replayed()
    for same in alike.values():
        left = {name: {world.counts[name] for world in same} for name in same[0].counts}
        few = [
            (name, values, len(same))
            for name, values in left.items()
            if len(values) < SAFE_VALUES and any(0 < value < 5 for value in values)
        ]
        if not few:
            found.safe += same
        elif any(world.at_the_edge for world in same):
            found.open += few
        else:
            found.told += few
    return found


def test_a_document_is_the_same_without_memory(documents: Documents) -> None:
    """What a replay shares between its documents changes none of them."""
    name = "one key"  # of most different documents
    worlds = list(KINDS[name].worlds())
    for at in range(len(worlds) // 5, len(worlds), len(worlds) // 5):
        alone = [printed(worlds[at], KINDS[name], k, fraction) for k, fraction in ASKED]
        assert [texts[at] for texts in documents(name)] == alone


@pytest.mark.parametrize("name", KINDS)
def test_a_replay_leaves_three_values(name: str, documents: Documents) -> None:
    """For one document, for another with other k, and for both together."""
    kind = KINDS[name]
    worlds = list(kind.worlds())
    texts: Mapping[int, list[str]] = dict(zip(LEVELS_OF_K, documents(name), strict=False))
    found: dict[Any, Replayed] = {k: replay(worlds, texts[k]) for k in LEVELS_OF_K}
    found["both"] = replay(worlds, [a + b for a, b in zip(*texts.values(), strict=True)])
    assert {which: one.told for which, one in found.items() if one.told} == {}
    assert all(len(one.safe) >= kind.share_safe * len(worlds) for one in found.values())


@pytest.mark.parametrize("name", SAMPLED)
def test_a_census_and_a_sample_of_one_file_leave_three_values(name: str, documents: Documents) -> None:
    """For the document with a sampling fraction, and for it together with that of the same file as a census."""
    kind = KINDS[name]
    worlds = list(kind.worlds())
    census, _, sample = documents(name)
    found = {"sample": replay(worlds, sample)}
    found["both"] = replay(worlds, [a + b for a, b in zip(census, sample, strict=True)])
    assert {which: one.told for which, one in found.items() if one.told} == {}
    assert all(len(one.safe) >= kind.share_safe * len(worlds) for one in found.values())


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
    assert replay(worlds, texts).told
