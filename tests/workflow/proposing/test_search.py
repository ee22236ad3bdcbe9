"""The search against looking at every node: on made-up lattices, monotone and nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdckit.workflow.proposing.search import Search, Searched

Node = tuple[int, ...]


@dataclass(eq=False)
class Made:
    """A lattice: what each rung loses, how much every node is beyond a limit, what suppression adds there."""

    lost: list[np.ndarray]
    beyond: np.ndarray
    added: np.ndarray
    part: float  # of what suppression adds, the bound knows this part
    limit: float
    asked: list[Node] = field(default_factory=list)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.beyond.shape

    def all_coarsening(self) -> np.ndarray:
        found = np.zeros(())
        for one in self.lost:
            found = np.add.outer(found, one)
        return found

    def enough(self, node: Node) -> bool:
        self.asked.append(node)
        return bool(self.beyond[node] <= self.limit)

    def least(self, node: Node) -> float:
        return float(self.all_coarsening()[node] + self.part * self.added[node])

    def real(self, node: Node) -> float:
        return float(self.all_coarsening()[node] + self.added[node])

    def brute(self) -> float:
        """The least loss of all nodes that have enough."""
        usable = [self.real(one) for one in product(*map(range, self.shape)) if self.beyond[one] <= self.limit]
        return min(usable, default=np.inf)


@st.composite
def problems(draw: st.DrawFn) -> Made:
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    lost = [np.cumsum(np.append(0.0, rng.choice([0.0, 0.05, 0.1, 0.3], size - 1))) for size in shape]
    beyond = rng.integers(0, 100, shape).astype(float)
    for axis in range(len(shape)):  # never more on the way up
        beyond = np.flip(np.maximum.accumulate(np.flip(beyond, axis), axis), axis)
    added = rng.choice([0.0, 0.02, 0.2], shape) * rng.random(shape)
    return Made(
        lost, beyond, added, draw(st.sampled_from([0.0, 0.5, 1.0])), draw(st.sampled_from([0.0, 20.0, 60.0, 100.0]))
    )


def run(problem: Made, seen: int = 10_000, tried: int = 10_000) -> Searched:
    return Search(problem, seen, tried).run()


@given(problems())
def test_it_finds_the_best_of_all_nodes(problem: Made) -> None:
    found, best = run(problem), problem.brute()
    assert found.whole
    assert min(found.losses.values(), default=np.inf) == pytest.approx(best)
    assert found.bound == pytest.approx(best)
    assert len(problem.asked) == len(set(problem.asked)) == found.seen


def test_the_least_loss_of_the_search_is_not_told_as_that_of_a_recipe() -> None:
    """A release that the search likes may be beyond a limit that only its check sees."""
    rising = [np.array([0.0, 0.1, 0.3])] * 2
    problem = Made(rising, np.array([[9.0, 5.0, 1.0]] * 3), np.full((3, 3), 0.1), 1.0, 6.0)
    heard: list[str] = []
    Search(problem, 10_000, 10_000, tell=heard.append).run()
    losses = [text for text in heard if "loss" in text]
    assert losses
    assert all(re.search(r", least loss \S+ before every threshold is checked$", text) for text in losses)


@given(problems(), st.integers(1, 12), st.integers(1, 4))
def test_cut_short_it_says_how_far_it_may_be_from_the_best(problem: Made, seen: int, tried: int) -> None:
    found, best = run(problem, seen, tried), problem.brute()
    assert found.bound <= best + 1e-12
    assert all(loss >= best - 1e-12 for loss in found.losses.values())
    if found.whole and found.losses:
        assert min(found.losses.values()) == pytest.approx(best)


@given(problems(), st.data())
def test_alternatives_are_the_best_of_those_that_are_finer(problem: Made, data: st.DataObject) -> None:
    first = Search(problem, 10_000, 10_000)
    first.run()
    key = data.draw(st.integers(0, len(problem.shape) - 1))
    rung = data.draw(st.integers(0, problem.shape[key] - 1))
    if rung == 0:
        return
    beside = Search(problem, 10_000, 10_000, known=first)
    beside.finer(key, rung)
    found = beside.run()
    nodes = [one for one in product(*map(range, problem.shape)) if one[key] < rung]
    best = min((problem.real(one) for one in nodes if problem.beyond[one] <= problem.limit), default=np.inf)
    assert min(found.losses.values(), default=np.inf) == pytest.approx(best)
    assert all(one[key] < rung for one in found.losses)


def test_tags_spare_most_of_the_counting() -> None:
    lost = [np.linspace(0, 1, 8) for _ in range(4)]
    beyond = 40.0 - np.indices((8, 8, 8, 8)).sum(axis=0)
    problem = Made(lost, beyond, np.zeros((8, 8, 8, 8)), 1.0, 40.0 - 6)
    found = run(problem)
    assert found.ranked()[0] in {one for one in found.losses if sum(one) == 6}
    assert found.seen < 8**4 / 4


def test_an_interruption_leaves_the_best_so_far() -> None:
    class Interrupted(Made):
        def enough(self, node: Node) -> bool:
            if len(self.asked) > 12:
                raise KeyboardInterrupt
            return super().enough(node)

    beyond = 12.0 - np.indices((4, 4, 4)).sum(axis=0)
    problem = Interrupted([np.linspace(0, 1, 4)] * 3, beyond, np.full((4, 4, 4), 0.01), 0.0, 9.0)
    found = run(problem)
    assert not found.whole
    assert found.losses
    assert found.bound <= min(found.losses.values())


def test_a_node_that_cannot_be_made_is_passed_over() -> None:
    class Failing(Made):
        def real(self, node: Node) -> float:
            return np.inf if node == (1, 0) else super().real(node)

    found = run(
        Failing([np.array([0.0, 0.1]), np.array([0.0, 0.2])], np.array([[9.0, 0], [0, 0]]), np.zeros((2, 2)), 1.0, 0.0)
    )
    assert found.ranked()[0] == (0, 1)


@pytest.mark.parametrize(("tried", "ends"), [(40, True), (10_000, False)])
def test_where_not_all_can_be_tried_it_ends_once_trials_say_that_none_is_better(tried: int, ends: bool) -> None:
    """Bounds that know nothing of what suppression takes: with many keys they prune nothing."""
    shape = (6, 6, 6)
    added = 0.2 + 0.01 * np.random.default_rng(5).random(shape)
    problem = Made([np.linspace(0, 0.09, 6)] * 3, np.zeros(shape), added, 0.0, 0.0)
    found, best = run(problem, tried=tried), problem.brute()
    assert (len(found.losses) < 20) is ends
    assert found.whole is not ends
    assert found.bound <= best == pytest.approx(min(found.losses.values()))
