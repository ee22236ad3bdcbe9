"""Branch and bound over the lattice of recodings, least loss first, with predictive tagging of finer and coarser nodes.

Recodings only merge cells. So where a node has too many records beyond a limit, every finer one has, too, and where
it has few enough, every coarser one has (predictive tagging). The loss of the recodings is monotone from fine to
coarse, and suppression adds to it: nodes whose loss is not below that of the best release found so far are cut off.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.pair import read_pair
from sdckit.data.losses import BY_COLUMN
from sdckit.data.replace import open_eager
from sdckit.numerics.array_types import Floats
from sdckit.utility.losses.generalization_loss import Column, judged_together, read_column
from sdckit.workflow.proposing.ladders import Lattice, Rung
from sdckit.workflow.recipes.recipe_figures import CoarseningLoss

Node = tuple[int, ...]
LEAST = 1e-12  # a difference of losses
TRIALS = 8  # after which what trials lose beyond their bounds says what others lose
OPEN, TOO_MANY, DONE = 0, 1, 2
INTERRUPTED = "interrupted: going on with the best so far"
UNCHECKED = " before every threshold is checked"  # a release that the search likes may be beyond one, and is dropped


class Problem(Protocol):
    """Interface of the problem to search."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rungs of each key."""

    def all_coarsening(self) -> NDArray[np.float64]:
        """Information loss of the recodings of every node."""

    def enough(self, node: Node) -> bool:
        """Whether few enough records are beyond a limit for suppression to handle."""

    def least(self, node: Node) -> float:
        """Lower bound on the loss of the node's release."""

    def real(self, node: Node) -> float:
        """Exact loss of the node's release; infinite where none can be made."""


@dataclass(frozen=True)
class Searched:
    """Outcome of a search.

    `losses`: of the nodes that were tried on the file. `bound`: lower bound on the loss of every node. `seen`: number
    of nodes counted, the others are implied by them. `whole`: every node is settled.
    """

    losses: dict[Node, float]
    bound: float
    seen: int
    whole: bool

    def ranked(self) -> list[Node]:
        """The nodes tried with a finite loss, least loss first."""
        usable = [node for node, loss in self.losses.items() if np.isfinite(loss)]
        return sorted(usable, key=lambda node: (self.losses[node], node))


@dataclass(eq=False)
class Search:
    """One search; at most `most_seen` nodes counted and `most_tried` tried, until the monotonic clock reads `until`.

    `known`: an earlier search of the same problem, whose tags are reused. `losses`: of nodes tried before, `best` the
    least of them. `within`: nodes whose loss exceeds the best by less than this are tried, too, for another loss to
    choose from.
    """

    problem: Problem
    most_seen: int
    most_tried: int
    until: float = np.inf
    tell: Callable[[str], None] = lambda _: None
    known: Search | None = None
    within: float = 0.0
    seen: int = 0
    losses: dict[Node, float] = field(default_factory=dict)
    least: dict[Node, float] = field(default_factory=dict)  # of nodes that are yet to be tried
    best: float = np.inf

    def __post_init__(self) -> None:
        self.lost = self.problem.all_coarsening()
        self.top: Node = tuple(size - 1 for size in self.lost.shape)  # the coarsest node to look at
        self.beyond: list[float] = []  # what trials have lost beyond their bounds
        if self.known is None:
            self.state = np.zeros(self.lost.shape, np.int8)
            self.enough = np.zeros(self.lost.shape, np.bool_)
        else:
            self.state = np.where(self.known.state == TOO_MANY, TOO_MANY, OPEN).astype(np.int8)
            self.enough = self.known.enough.copy()
        for node in self.losses:  # tried before
            self.state[node] = DONE

    def finer(self, key: int, rung: int) -> None:
        """Restrict the search to nodes that release a key finer than this rung."""
        coarse = (slice(None),) * key + (slice(rung, None),)
        self.state[coarse] = DONE
        self.top = tuple(rung - 1 if j == key else size - 1 for j, size in enumerate(self.lost.shape))

    def run(self) -> Searched:
        """Run the search; an interruption (Ctrl-C) ends it with the best so far."""
        order = np.argsort(self.lost, axis=None, kind="stable")
        whole = False
        try:
            self.descend()
            whole = self._settle(order)
            self._try_rest()
        except KeyboardInterrupt:
            self.tell(INTERRUPTED)
        rest = self._open_least(order)
        waiting = [least for least in self.least.values() if least < self.best + self.within - LEAST]
        bound = min([self.best, rest, *waiting])
        whole = whole and not waiting and rest >= self.best + self.within - LEAST
        return Searched(self.losses, float(bound), self.seen, whole)

    def _over(self) -> bool:
        return self.seen >= self.most_seen or time.monotonic() >= self.until

    def _is_enough(self, node: Node) -> bool:
        """Whether `problem.enough(node)`, known from another node where possible; tag the nodes it implies."""
        if self.enough[node]:
            return True
        if self.state[node] == TOO_MANY:
            return False
        self.seen += 1
        if self.problem.enough(node):
            self.enough[tuple(slice(rung, None) for rung in node)] = True
            return True
        self.state[tuple(slice(None, rung + 1) for rung in node)] = TOO_MANY
        return False

    def descend(self) -> None:
        """Greedy descent from the coarsest node: take the finer neighbour of least loss while it is still enough."""
        node = self.top
        while not self._over():
            steps = [_moved(node, j, -1) for j in range(len(node)) if node[j] > 0]
            steps = sorted(steps, key=lambda step: (self.lost[step], step))
            below = next((step for step in steps if self._is_enough(step)), None)
            if below is None:
                break
            node = below
        # The coarsest releases no key, so that it is not enough and says that no other is: only a search that went on
        # to the next ones may ask for it.
        if self.enough[node] or (not self._over() and self._is_enough(node)):
            self._close(node)

    def _settle(self, order: NDArray[np.intp]) -> bool:
        """Settle the nodes in order of loss; return whether all are settled."""
        states, losses = self.state.ravel(), self.lost.ravel()
        for turn, flat in enumerate(order):
            if losses[flat] >= self.best + self.within - LEAST:
                return True
            if states[flat] != OPEN:
                continue
            if self._over():
                return False
            if turn % 16 == 0:
                self.tell(self._progress())
            self._climb(tuple(int(i) for i in np.unravel_index(flat, self.lost.shape)))
        return True

    def _climb(self, node: Node) -> None:
        """Bisect a chain of ever coarser nodes for the first with few enough records beyond a limit."""
        chain = [node]
        while True:
            above = [_moved(chain[-1], j, 1) for j in range(len(node)) if chain[-1][j] + 1 < self.lost.shape[j]]
            above = [step for step in above if self.lost[step] < self.best + self.within - LEAST and self._inside(step)]
            if not above or self.enough[chain[-1]]:
                break
            chain.append(min(above, key=lambda step: (self.lost[step], step)))
        low, high = 0, len(chain) - 1
        if not self._is_enough(chain[high]):
            return
        while low < high:
            middle = (low + high) // 2
            if self._is_enough(chain[middle]):
                high = middle
            else:
                low = middle + 1
        if self.state[chain[high]] == OPEN:
            self._close(chain[high])

    def _inside(self, node: Node) -> bool:
        return all(rung <= top for rung, top in zip(node, self.top, strict=True))

    def _close(self, node: Node) -> None:
        """Compute the lower bound of a node; try it where it might be the best."""
        self.state[node] = DONE
        least = self.problem.least(node)
        if least >= self.best + self.within - LEAST:
            return
        self.least[node] = least
        if least + max(self.beyond, default=0.0) < self.best + self.within and len(self.losses) < self.most_tried:
            self._try(node)

    def _try(self, node: Node) -> None:
        least = self.least.pop(node)
        self.losses[node] = self.problem.real(node)
        if np.isfinite(self.losses[node]):
            self.beyond.append(self.losses[node] - least)
        if self.losses[node] < self.best:
            self.best = self.losses[node]
            self.tell(self._progress())

    def _try_rest(self) -> None:
        """Try the nodes that may still be better, least lower bound first.

        Where they are more than can be tried, the search ends once none would be better than the best if it lost as
        little beyond its bound as any has: of many keys the bounds are far below what suppression takes.
        """
        too_many = len(self.least) + len(self.losses) > self.most_tried
        while self.least and len(self.losses) < self.most_tried and time.monotonic() < self.until:
            node = min(self.least, key=lambda untried: (self.least[untried], untried))
            known = too_many and len(self.beyond) >= TRIALS
            if known and self.least[node] + min(self.beyond) >= self.best + self.within:
                return
            if self.least[node] >= self.best + self.within - LEAST:
                self.least.clear()
                return
            self._try(node)

    def _open_least(self, order: NDArray[np.intp]) -> float:
        """Least information loss of any open node; infinite where none is open."""
        flat = order[self.state.ravel()[order] == OPEN]
        return float(self.lost.ravel()[flat[0]]) if len(flat) else np.inf

    def _progress(self) -> str:
        best = (
            "" if np.isinf(self.best) else f", least loss {self.best:{'.0%' if self.best <= 1 else ',.4g'}}{UNCHECKED}"
        )
        return f"{self.seen:,} of {self.lost.size:,} combinations counted, {len(self.losses)} tried{best}"


def _moved(node: Node, key: int, by: int) -> Node:
    """The neighbour of a node, `by` rungs along one key."""
    return (*node[:key], node[key] + by, *node[key + 1 :])


# Another loss than that of what the keys tell to search by.


MOST = 20_000_000  # records looked at, over all combinations


@dataclass(frozen=True, eq=False)
class Goal:
    """A loss `of` file and release, and what each node loses at `least`: by its recodings, before any suppression.

    `certain`: suppression never takes anything from it, so that `least` is a bound.
    """

    of: Callable[[Any, Any], float]
    least: Floats
    certain: bool


def goal_of(of: CoarseningLoss, lattice: Lattice, data: Any, recoded: Callable[[Any, Rung], Any]) -> Goal | None:
    """The goal of a coarsening loss; None where the classes of all combinations are too much to look at.

    `recoded` gives the file with one rung's recoding.
    """
    shape, added = lattice.shape, of.figure in BY_COLUMN
    if not added and math.prod(shape) * lattice.n > MOST:
        return None
    ladders = [[_column(of, data, ladder.key, rung, recoded) for rung in ladder.rungs] for ladder in lattice.ladders]
    if added:  # a height is that of the values that are left
        return Goal(of, _added(of.figure, ladders), certain=of.figure != "height")
    least = np.empty(shape)
    for node in product(*map(range, shape)):
        columns = [ladder[rung] for ladder, rung in zip(ladders, node, strict=True)]
        least[node] = judged_together(lattice.n, columns, np.ones(len(columns))).figures[of.figure]
    return Goal(of, least, certain=False)


def _column(of: CoarseningLoss, data: Any, key: str, rung: Rung, recoded: Callable[[Any, Rung], Any]) -> Column:
    """What a rung makes of its key."""
    alone = open_eager(data, {}).select(key).to_native()
    made = open_eager(data, {}).drop(key).to_native() if rung.left_out else recoded(alone, rung)
    pair = read_pair(of.pair(alone, made, [key]), {"keys": (key,)}, aligned=True)
    edges = () if any(recoding.kind for recoding in pair.recoded) else None
    return read_column(pair, key, 0, of.hierarchies.get(key), edges)


def _added(figure: str, ladders: list[list[Column]]) -> Floats:
    """A figure that is a mean or a sum over the keys, for every node."""
    total, whole = np.zeros(()), 0.0
    for ladder in ladders:
        own = {
            "loss": [column.loss for column in ladder],
            "precision": [column.lost_levels for column in ladder],
            "entropy_share": [column.entropy for column in ladder],
            "entropy": [column.entropy for column in ladder],
            "height": [column.highest for column in ladder],
        }[figure]
        whole += ladder[0].most_entropy if figure == "entropy_share" else 1.0
        total = np.add.outer(total, np.array(own))
    return total / whole if whole and figure not in ("entropy", "height") else total
