"""The best node that passes every threshold, and others beside it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sdckit.display import printable
from sdckit.errors import DataError
from sdckit.workflow.proposing.judging import Judged, improved, judge
from sdckit.workflow.proposing.losses import Loss, measured, ranked_by
from sdckit.workflow.proposing.opening import limits_of
from sdckit.workflow.proposing.proposal import in_words
from sdckit.workflow.proposing.reasons import key_words
from sdckit.workflow.proposing.search import Found, Search
from sdckit.workflow.proposing.trials import Trials

if TYPE_CHECKING:
    from sdckit.workflow.proposing.lattice import Node


AIMS = (1, 2, 4)  # times the k that is asked for, where other thresholds do not hold
MOST_SEEN = 20_000
MOST_TRIED = 40
BESIDE = (2_000, 3)  # nodes counted and tried for an alternative
WITHIN = 0.1  # of the loss: what the caller's own measure chooses from
JUDGED = 3  # combinations held against every threshold at each aim
REPAIRS = 3  # of one of them
BOUNDED = (
    0.05  # of the records, left to suppression: in the alternative shown first, and where nothing else holds
)
OTHER_SHARES = {"no value taken out": 0.0, "more values taken out": 1.0, "very few values taken out": 0.01}

_Way = tuple[Trials, Search, "Found", "Judged"]


@dataclass(frozen=True, eq=False)
class Asked:
    """What the caller wants."""

    keep: tuple[str, ...]
    importance: Mapping[str, float] | None
    allow: Mapping[str, str]
    loss: Loss | None
    control: Any
    until: float
    tell: Callable[[str], None]


def at_aim(trials: Trials, aim: int) -> Trials:
    """The same for `aim` times the k that is asked for."""
    limits = {name: limits_of(trials.scenario.intruder(name), aim) for name in trials.scenario.intruders}
    sides = tuple(replace(side, limits=limits[side.name]) for side in trials.lattice.sides)
    lattice = replace(trials.lattice, sides=sides)
    return replace(trials, lattice=lattice, aims={name: one.k for name, one in limits.items()}, made={})


def find_best(trials: Trials, asked: Asked) -> tuple[Trials, Search, Found, Judged]:
    """Search and judge, at ever stricter aims, until every threshold holds; else what comes nearest.

    The bound is that of the first search, at the thresholds themselves.
    """
    tried: list[_Way] = []
    bound = math.inf
    for ways in _ways(trials, asked):
        for now in ways:
            search = _search(now, asked)
            found = search.run()
            bound = min(bound, found.bound)
            tried += _judged(now, search, replace(found, bound=bound), asked)
            if time.monotonic() >= asked.until and tried:
                break
        passing = [one for one in tried if one[3].passed]
        if passing:
            return min(passing, key=lambda one: (one[3].measured, one[3].made.loss))
        if time.monotonic() >= asked.until and tried:
            break
    if not tried:
        raise DataError(
            "no combination of recodings leaves few enough records beyond the thresholds; keep fewer columns, allow "
            "a larger share= to suppression, or declare hierarchies"
        )
    return min(tried, key=lambda one: len(one[3].failing))


def _search(now: Trials, asked: Asked) -> Search:
    within = 0.0 if asked.loss is None else WITHIN
    return Search(now, MOST_SEEN, MOST_TRIED, until=asked.until, tell=asked.tell, within=within)


def _judged(now: Trials, search: Search, found: Found, asked: Asked) -> list[_Way]:
    """What is found in one way: the first that passes, else what comes nearest; empty where nothing can be made."""
    nearest: list[_Way] = []
    for node in _ranked(now, found, asked)[:JUDGED]:
        judged = _measured(now, _repaired(now, node, asked), asked)
        one = (now.with_how(judged.how), search, found, judged)
        if judged.passed:
            return [one]
        if not nearest or len(judged.failing) < len(nearest[0][3].failing):
            nearest = [one]
    return nearest


def _measured(now: Trials, judged: Judged, asked: Asked) -> Judged:
    """With the caller's own measure of the release."""
    if asked.loss is None:
        return replace(judged, measured=judged.made.loss)
    release = now.with_how(judged.how).release(judged.made.node)
    return replace(judged, measured=measured(asked.loss, now.data, release))


def _ways(trials: Trials, asked: Asked) -> Iterator[list[Trials]]:
    """Problems to search, ever stricter: of those in one list the better one is taken.

    What loses least mostly leaves much to suppression; thresholds that this does not meet are met by recodings.
    """
    bounded = [replace(trials, share=BOUNDED, made={})] if trials.share > BOUNDED else []
    yield [at_aim(trials, AIMS[0])]
    for before, aim in pairwise(AIMS):
        yield [at_aim(trials, aim), *(at_aim(one, before) for one in bounded)]
    yield [at_aim(one, AIMS[-1]) for one in bounded]
    if asked.allow:
        steps = tuple(
            {"method": method, "columns": [name for name, one in asked.allow.items() if one == method]}
            for method in dict.fromkeys(asked.allow.values())
        )
        drawn = [one.with_how(replace(one.how, draws=steps)) for one in (trials, *bounded)]
        yield [at_aim(one, 1) for one in drawn]


def _ranked(trials: Trials, found: Found, asked: Asked) -> list[Node]:
    """The nodes tried, the best first, by the caller's own measure where there is one."""
    if asked.loss is None:
        return found.ranked()
    asked.tell("measuring releases by loss=")
    return [node for _, node in ranked_by(asked.loss, trials, found, lambda: time.monotonic() >= asked.until)]


def _repaired(trials: Trials, node: Node, asked: Asked) -> Judged:
    """Hold a node against every threshold; where what was taken out is given back, take it out in other ways."""
    asked.tell(f"checking every threshold: {in_words(key_words(trials, node))}")
    judged = judge(trials.data, trials.scenario, trials.made[node], trials.how, control=asked.control)
    for _ in range(REPAIRS):
        how = None if judged.passed else improved(judged, trials.scenario, asked.keep)
        if how is None:
            break
        asked.tell("taking values out in another way: some are given back")
        judged = judge(
            trials.data, trials.scenario, trials.with_how(how).make(node), how, control=asked.control
        )
    return judged


def beside(
    trials: Trials, search: Search, judged: Judged, asked: Asked, count: int
) -> Iterator[tuple[str, Judged]]:
    """Recipes that take fewer values out, or release one of the keys finer: those first that lose most in the best."""
    made = {judged.made.node}
    for words, now, one in _searches_beside(trials, search, judged, asked):
        if len(made) > count or time.monotonic() >= asked.until:
            return
        nodes = one.run().ranked()
        if "finer" in words:  # of other shares only the best tells anything
            nodes = [other for other in nodes if other not in made]
        if nodes and nodes[0] not in made:
            made.add(nodes[0])
            yield words, _repaired(now, nodes[0], asked)


def _searches_beside(
    trials: Trials, search: Search, judged: Judged, asked: Asked
) -> Iterator[tuple[str, Trials, Search]]:
    """Searches for other recipes, each with what sets them apart."""
    node, lattice = judged.made.node, trials.lattice
    yield from _other_shares(trials, asked, {"fewer values taken out": BOUNDED})
    coarse = [j for j in range(len(node)) if node[j] > 0]
    order = sorted(coarse, key=lambda j: (-lattice.lost[j][node[j]], j))
    for number, j in enumerate(order):
        if number == 1:
            yield from _other_shares(trials, asked, OTHER_SHARES)
        one = Search(trials, *BESIDE, until=asked.until, tell=asked.tell, known=search)
        one.finer(j, node[j])
        yield f"{printable(lattice.ladders[j].key)} finer", trials, one
    if len(order) < 2:
        yield from _other_shares(trials, asked, OTHER_SHARES)


def _other_shares(
    trials: Trials, asked: Asked, shares: Mapping[str, float]
) -> Iterator[tuple[str, Trials, Search]]:
    """Searches where fewer records are left to suppression, or more."""
    for words, share in shares.items():
        if share != trials.share and (share < trials.share) is (not words.startswith("more")):
            now = replace(trials, share=share, made={})
            yield words, now, Search(now, *BESIDE, until=asked.until, tell=asked.tell)
