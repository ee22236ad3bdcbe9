"""What is counted on cells against the measures on the recoded file, and what holds on the whole lattice."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from proposals import SCENARIOS, survey, trials
from sdckit.workflow.proposing.find_best import at_aim
from sdckit.workflow.proposing.ladders import Lattice, Node
from sdckit.workflow.proposing.trials import Trials

pytestmark = pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")


def nodes(one: Trials, every: int = 1) -> list[Node]:
    return list(product(*map(range, one.shape)))[::every]


def recoded(one: Trials, node: Node, data: pl.DataFrame) -> Any:
    """The file after the recodings of a node, by the public functions."""
    for ladder, rung in zip(one.lattice.ladders, node, strict=True):
        step = ladder.rungs[rung].step
        if step is not None:
            given = {name: value for name, value in step.items() if name != "method"}
            data = getattr(sdc, step["method"])(data, **given).data
        elif ladder.rungs[rung].left_out:
            data = data.drop(ladder.key)
    return data


@pytest.mark.parametrize("name", ["two", "learnt", "sample", "mean"])
@pytest.mark.parametrize("missing", [False, True])
def test_cells_say_what_the_measures_say(name: str, missing: bool) -> None:
    data = survey(missing=missing)
    one = trials(name, data)
    for node in nodes(one, 5):
        release = recoded(one, node, data)
        for side, beyond in zip(one.lattice.sides, one.lattice.beyond(node), strict=True):
            keys = [one.lattice.ladders[j].key for j in side.at if one.lattice.ladders[j].key in release.columns]
            if not keys:
                assert beyond.records == 0
                continue
            fraction = one.scenario.sampling_fraction
            if side.limits.k is not None:
                found = sdc.k_anonymity(release, keys=keys, k=[side.limits.k])
                assert beyond.below_k == found.violations[side.limits.k]
            risk = sdc.individual_risk(release, keys=keys, sampling_fraction=fraction)
            if side.limits.risk is not None:
                assert beyond.above_risk == risk.count_above(side.limits.risk)
            if side.limits.global_risk is not None:
                over = (risk.global_risk - side.limits.global_risk) * len(data)
                assert beyond.expected == pytest.approx(max(0.0, over))
            if side.limits.l is not None:
                learnt = sdc.l_diversity(release, keys=keys, sensitive="ill", levels=[side.limits.l])
                assert beyond.below_l == learnt.violations["ill"]["distinct"][side.limits.l]


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_is_beyond_never_rises_and_what_is_lost_never_falls(name: str) -> None:
    one = trials(name, survey(200))
    lost = one.all_coarsening()
    beyond = np.zeros(one.shape)
    for node in nodes(one):
        beyond[node] = sum(side.records + side.expected for side in one.lattice.beyond(node))
        assert lost[node] == pytest.approx(one.lattice.coarsening(node))
    for axis in range(len(one.shape)):
        assert (np.diff(beyond, axis=axis) <= 1e-9).all()
        assert (np.diff(lost, axis=axis) >= 0).all()
    assert lost.flat[0] == 0.0
    assert lost.flat[-1] == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["two", "learnt"])
@pytest.mark.parametrize("missing", [False, True])
def test_no_release_loses_less_than_its_bound(name: str, missing: bool) -> None:
    one = trials(name, survey(150, missing=missing), share=1.0)
    above = 0
    for node in nodes(one, 7):
        least = one.least(node)
        assert least <= one.real(node) + 1e-12
        above += least > one.lattice.coarsening(node)
    assert above


def test_the_loss_is_what_recodings_and_missing_values_leave_out() -> None:
    one = trials("one")
    top = tuple(size - 1 for size in one.shape)
    assert one.lattice.loss((0, 0, 0), {}) == 0.0
    assert one.lattice.loss((0, 0, 0), {"sex": 0.3}) == pytest.approx(0.1)
    assert one.lattice.loss(top, {"age": 0.5}) == 1.0


def test_whether_few_enough_are_beyond_is_known_before_every_limit_is_counted() -> None:
    lattice = trials("learnt", survey(300)).lattice
    skipped = False
    for node in product(*map(range, lattice.shape)):
        for most in (0, 15, 300):
            (whole,), (soon,) = lattice.beyond(node), lattice.beyond(node, most=most)
            assert (whole.records <= most) is (soon.records <= most)
            skipped |= soon != whole
    assert skipped


def test_an_intruder_is_looked_at_once_for_the_rungs_of_their_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    one, asked = trials("two", survey()), []
    bound = Lattice._bound
    every = {node: max(bound(one.lattice, side, node) for side in one.lattice.sides) for node in nodes(one)}
    monkeypatch.setattr(Lattice, "_bound", lambda *given: asked.append(given[1:]) or bound(*given))
    least = {node: one.lattice.least_hidden(node) for node in nodes(one)}
    assert {node for node in every if every[node]} == {node for node in least if least[node]} != set()
    assert len(asked) == sum(len({tuple(node[j] for j in side.at) for node in every}) for side in one.lattice.sides)
    assert len(asked) < 2 * len(every)
    stricter = at_aim(one, 2)
    assert any(stricter.lattice.least_hidden(node) > least[node] for node in least)


@pytest.mark.parametrize("missing", [False, True])
def test_a_bound_is_never_beyond_the_values_of_k_records(missing: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the bound of many cells at risk, which takes their square, need not be reckoned."""
    lattice, risky = trials("two", survey(400, missing=missing)).lattice, 0
    for node in product(*map(range, lattice.shape)):
        for side in lattice.sides:
            bound = lattice._bound(side, node)
            risky += bound > 0
            assert bound <= (side.limits.k or 0) * len(side.at)
    assert risky
    monkeypatch.setattr("sdckit.workflow.proposing.ladders.MOST_PRICED", 0)
    unpriced = trials("two", survey(400, missing=missing)).lattice
    for node in product(*map(range, lattice.shape)):
        assert (unpriced.least_hidden(node) > 0) is (lattice.least_hidden(node) > 0)
        assert unpriced.least_hidden(node) <= lattice.least_hidden(node)
