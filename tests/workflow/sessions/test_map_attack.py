"""What 60 recipes of one file tell together: an attack on planted small counts with all that the map shows of them."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

from sdckit.errors import SdcWarning
from sdckit.workflow.sessions import exploring, protecting, releasing
from sdckit.workflow.sessions.answering import Desk
from session_files import SECRET

RECORDS = 1000
TOPS = (100, 99, 98, 97, 96, 95)  # of the pay; between two of them lie
PLANTED = (1, 2, 3, 4, 1)  # records: what no reader may learn
KEPT = tuple(round(0.5 + 0.045 * at, 3) for at in range(10))  # of the jobs
VALUES = 3 * RECORDS  # a map counts those that differ
SCENARIO: dict[str, Any] = {"keys": ["job", "sex"], "insensitive": ["pay"], "insensitive_because": "a test"}
Interval = tuple[int, int]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A file of three columns; the pay of few records lies between two limits.

    All recipes draw alike here, which they do not in a session: so the attack is stronger than it can be.
    """
    rng, n = np.random.default_rng(8), RECORDS
    few = [top - 0.5 for top, count in zip(TOPS, PLANTED, strict=False) for _ in range(count)]
    pay = np.concatenate([few, np.full(200, 120.0), rng.uniform(10, 90, n - 200 - len(few)).round(1)])
    jobs, sexes = rng.choice(list("abcdefghijklmnopqrst"), n), rng.choice(["f", "m"], n)
    path = tmp_path_factory.mktemp("attack") / "file.csv"
    pl.DataFrame({"job": jobs, "sex": sexes, "pay": pay}).write_csv(path)
    desk = Desk(path.parent)
    desk.open(str(path), {})
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(protecting, "_secret_of", lambda *given: given[-1])
        for top, kept in itertools.product(TOPS, KEPT):
            exploring.applied(desk, desk.scenario(SCENARIO), steps_of(top, kept), SECRET, lambda _: None)
        yield desk


def steps_of(top: float, kept: float) -> list[dict[str, Any]]:
    """The pay cut off, and the jobs changed at random: what the two change adds up."""
    cut = {"method": "top_bottom_code", "arguments": {"column": "pay", "top": top}, "on": True}
    return [cut, {"method": "pram", "arguments": {"columns": ["job"], "pd": kept}, "on": True}]


def shown(desk: Desk, *, exact: bool = False) -> list[dict[str, Any]]:
    """The 60 recipes as the page gets them."""
    how: dict[str, Any] = {"scenario": SCENARIO, "secret": SECRET, "steps": steps_of(TOPS[-1], KEPT[-1])}
    points: list[dict[str, Any]] = exploring.map_of_recipes(desk, lambda _: None, exact=exact, **how)["map"]["points"]
    return points


def allowed(low: float, high: float) -> Interval:
    """The whole numbers of values between two shares."""
    return math.ceil(low * VALUES - 1e-6), math.floor(high * VALUES + 1e-6)


def in_steps(step: float) -> Callable[[float], Interval]:
    """What a share tells that is printed in such steps."""
    return lambda share: allowed(share - step / 2, share + step / 2)


def recovered(losses: Sequence[Interval]) -> list[Interval]:
    """All that follows of the records between two limits, by the shortest paths of a system of differences.

    A loss is what the cut changes plus what the chance changes, all unknown: `losses` bounds such sums. The bounds of
    the differences are sharp, since every system of this kind has whole numbers in its corners.
    """
    n = len(TOPS) + len(KEPT)
    far = np.full((n, n), np.inf)
    np.fill_diagonal(far, 0)
    for (cut, chance), (low, high) in zip(itertools.product(range(len(TOPS)), range(len(KEPT))), losses, strict=True):
        far[len(TOPS) + chance, cut], far[cut, len(TOPS) + chance] = high, -low
    for cut in range(len(TOPS) - 1):
        far[cut + 1, cut] = 0  # a lower limit cuts no fewer: everybody knows that
    for by in range(n):
        far = np.minimum(far, far[:, [by]] + far[[by], :])
    assert (np.diag(far) >= 0).all()
    return [(int(-far[cut + 1, cut]), int(far[cut, cut + 1])) for cut in range(len(TOPS) - 1)]


def narrowed(bounds: Sequence[Interval]) -> list[Interval]:
    """Those that say more of a small count than "<5" does."""
    return [(low, high) for low, high in bounds if high < 4 or (low > 1 and low < 5)]


def test_sixty_recipes_tell_no_small_count_by_their_places(desk: Desk) -> None:
    points = shown(desk)
    assert len(points) == 60
    step = 0.01
    assert all(round(100 * point["ends"][0], 6) % 1 == 0 for point in points)
    bounds = recovered([in_steps(step)(point["ends"][0]) for point in points])
    assert all(low <= true <= high for (low, high), true in zip(bounds, PLANTED, strict=True))
    assert not narrowed(bounds)
    assert {point["risk"] for point in points} <= {"0", "<5", "withheld", *(f"{at}" for at in range(5, 200, 5))}


def test_the_attack_finds_them_in_finer_figures(desk: Desk) -> None:
    """Nobody could tell else whether it is only weak."""
    exact = [point["ends"][0] for point in shown(desk, exact=True)]
    assert recovered([in_steps(1e-9)(share) for share in exact]) == [(true, true) for true in PLANTED]
    assert narrowed(recovered([in_steps(0.001)(round(share, 3)) for share in exact]))


def test_a_verdict_tells_no_more_than_the_printed_figures(desk: Desk) -> None:
    """A limit between two prints would part them: what the check says of it is left open."""
    points = shown(desk)
    true = shown(desk, exact=True)[0]
    limit = (true["height"] + 0.5) / RECORDS
    scenario = {**SCENARIO, "thresholds": {"global_risk": limit}}
    with warnings.catch_warnings(action="ignore", category=SdcWarning):
        outcome = releasing.judged(desk, desk.scenario(scenario), points[0]["steps"], SECRET, lambda _: None)
        for exact, told in ((False, None), (True, True)):
            releasing.document_of(desk, outcome, exact=exact)
            assert releasing.verdict_of(desk, desk.scenario(scenario), outcome.made.recipe, exact=exact) is told
    assert outcome.passed
