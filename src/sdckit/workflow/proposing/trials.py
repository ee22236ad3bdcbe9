"""One combination of recodings, made into the steps of a recipe and tried on the file."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdckit.data.replace import open_eager
from sdckit.data.seeds import Mixed
from sdckit.errors import DataError, SdcError, SdcWarning
from sdckit.workflow.proposing.lattice import Lattice, Node
from sdckit.workflow.recipes.recipe_checks import checked_step
from sdckit.workflow.recipes.recipe_running import lacking_values, run_step
from sdckit.workflow.recipes.recipe_steps import LACKING_VALUES, RISK_MEASURE
from sdckit.workflow.recipes.starter_steps import household_sizes, weight_step

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario


Step = dict[str, Any]
TRIAL = bytes(32)  # the secret of trials, of which nothing is kept
ROUNDS = 4  # of suppression, one intruder after the other, until nothing changes


@dataclass(frozen=True)
class How:
    """How the rest is suppressed.

    `hide`: nothing taken out may follow from the rest. `bundles`: by key, the columns that tell it, taken out where it
    is. `without`: further columns left out. `draws`: further steps, on columns where the caller allows them.
    """

    hide: bool = False
    bundles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    draws: tuple[Step, ...] = ()


@dataclass(frozen=True, eq=False)
class Made:
    """The steps of a node, and what comes of them.

    `steps`: each with what it is for ("recoding", "left out", "weight", "k", "l", "risk", "allowed"). `hidden`: the
    share of each column's values taken out.
    """

    node: Node
    steps: tuple[tuple[str, Step], ...]
    hidden: Mapping[str, float]
    loss: float


@dataclass(eq=False)
class Trials:
    """A lattice and the file behind it: what `search` asks of a problem.

    `share`: of the records that suppression may be left with, at most. `data` need not hold direct identifiers.
    """

    data: Any
    scenario: Scenario
    lattice: Lattice
    share: float
    importance: Mapping[str, float] | None
    how: How = field(default_factory=How)
    aims: Mapping[str, int | None] = field(default_factory=dict)  # k by intruder
    internal: bool = False  # whether steps may name values that few records have
    made: dict[Node, Made] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, ...]:
        """Rungs of each key."""
        return self.lattice.shape

    def all_coarsening(self) -> NDArray[np.float64]:
        """Loss of the recodings of every node."""
        return self.lattice.all_coarsening()

    def enough(self, node: Node) -> bool:
        """Whether at most the share of the records is beyond a limit, and somebody still knows something."""
        if all(one.rungs[rung].left_out for one, rung in zip(self.lattice.ladders, node, strict=True)):
            return False
        most = self.share * self.lattice.n
        pairs = zip(self.lattice.beyond(node), self.lattice.sides, strict=True)
        return all(one.records <= most * side.may_hide and not one.expected for one, side in pairs)

    def least(self, node: Node) -> float:
        """What the loss of a release by this node is at least."""
        return self.lattice.coarsening(node) + self.lattice.least_hidden(node)

    def real(self, node: Node) -> float:
        """The loss of the release that is made by this node; infinite where a step fails."""
        try:
            self.made[node] = self.make(node)
        except SdcError:  # such as a hierarchy that lacks a value
            return float("inf")
        return self.made[node].loss

    def tried(self, node: Node) -> Any:
        """The release that is made by this node, which is noted in `made`; None where a step fails."""
        try:
            self.made[node], release = self._make(node)
        except SdcError:
            return None
        return release

    def make(self, node: Node) -> Made:
        """Run the steps of a node on the file."""
        return self._make(node)[0]

    def release(self, node: Node) -> Any:
        """The file after the steps of a node."""
        return self._make(node)[1]

    def _make(self, node: Node) -> tuple[Made, Any]:
        steps: list[tuple[str, Step]] = []
        frame: Any = open_eager(self.data, {})
        hidden: dict[str, int] = {}
        with warnings.catch_warnings():  # an assessment tells them
            warnings.simplefilter("ignore", SdcWarning)
            data = frame.to_native()
            for kind, step in self._before(node):
                data = self._run(data, step)[0]
                steps.append((kind, step))
            if (coarser := weight_step(data, self._left_scenario(data))) is not None:
                data = self._run(data, coarser)[0]
                steps.append(("weight", coarser))
            for kind, step, changed, after in self._suppressed(data, node):
                data = after
                steps.append((kind, step))
                for name, count in changed.items():
                    hidden[name] = hidden.get(name, 0) + count
            self._check(data)
        shares = {name: count / self.lattice.n for name, count in hidden.items() if count}
        return Made(node, tuple(steps), shares, self.lattice.loss(node, shares)), data

    def _check(self, data: Any) -> None:
        """Refuse a release that suppression did not bring to its k and l: some groups are too few for it."""
        from sdckit.identity.k_anonymity import k_anonymity

        scenario = self._left_scenario(data)
        for side in self.lattice.sides:
            if side.name not in scenario.intruders:
                continue
            one = scenario.intruder(side.name)
            k = side.limits.k
            if k is not None and side.may_hide and k_anonymity(data, scenario=one, k=[k]).violations[k]:
                raise DataError("records stay below k")
            if one.limits.l is not None and one.sensitive and lacking_values(data, one).max() > 0:
                raise DataError("groups stay without enough sensitive values")

    def _before(self, node: Node) -> Iterator[tuple[str, Step]]:
        """Recodings and columns left out."""
        pairs = [(one, one.rungs[rung]) for one, rung in zip(self.lattice.ladders, node, strict=True)]
        gone = [*(one.key for one, rung in pairs if rung.left_out), *self.how.without]
        if gone:
            yield "left out", {"method": "drop_identifiers", "columns": gone}
        for _, rung in pairs:
            if rung.step is not None:
                yield "recoding", dict(rung.step)
        for step in self.how.draws:
            names = [name for name in step["columns"] if name not in gone]
            if names:
                yield "allowed", {**step, "columns": names}

    def _run(self, data: Any, step: Step, number: int = 1) -> tuple[Any, dict[str, int]]:
        done, change = run_step(
            number, checked_step(number, step), data, scenario=self.scenario.changed(identifiers=()),
            folder=self.scenario.folder, mixed=Mixed(TRIAL),
        )  # fmt: skip
        return done, change.changed

    def _left_scenario(self, data: Any) -> Scenario:
        """The scenario without the keys that were left out."""
        columns = open_eager(data, {}).columns
        left = {
            name: kept
            for name, keys in self.scenario.intruders.items()
            if (kept := tuple(key for key in keys if key in columns))
        }
        missing = self.scenario.missing
        if isinstance(missing, dict):
            missing = {key: rule for key, rule in missing.items() if key in columns} or "wildcard"
        return self.scenario.changed(intruders=left, missing=missing, identifiers=())

    def _suppressed(self, data: Any, node: Node) -> Iterator[tuple[str, Step, dict[str, int], Any]]:
        """Steps that take values out, in turns, as long as they change anything; each with the file after it."""
        scenario = self._left_scenario(data)
        for turn in range(ROUNDS):
            before = data
            for name in scenario.intruders:
                one = scenario.intruder(name)
                for kind, step in self._of_intruder(data, one, name, node):
                    done, changed = self._run(data, step)
                    # next year's file may need the step for k that this one does not
                    if any(changed.values()) or (kind == "k" and turn == 0):
                        yield kind, step, changed, done
                    if any(changed.values()):
                        data = done
            if data is before:
                break

    def _of_intruder(self, data: Any, one: Scenario, name: str, node: Node) -> Iterator[tuple[str, Step]]:
        whom = {} if len(self.scenario.intruders) == 1 else {"intruder": name}
        k = self.aims.get(name)
        rules = {one.missing} if isinstance(one.missing, str) else set(one.missing.values())
        if k is not None and rules == {"wildcard"}:
            yield "k", self._local(data, one, name, k)
        ordered = sorted(one.keys, key=lambda key: (-self._levels(key, node), key))
        if one.limits.l is not None and one.sensitive:
            for count in dict.fromkeys((1, (len(ordered) + 1) // 2, len(ordered))):
                yield "l", {"method": "suppress_above", **whom, "risk": LACKING_VALUES, "threshold": 0,
                            "columns": self._with_bundles(ordered[:count])}  # fmt: skip
        if one.limits.risk is not None and rules == {"wildcard"}:
            yield "risk", {"method": "suppress_above", **whom, "risk": RISK_MEASURE, "threshold": one.limits.risk,
                           "columns": self._with_bundles(ordered)}  # fmt: skip

    def _levels(self, key: str, node: Node) -> int:
        for one, rung in zip(self.lattice.ladders, node, strict=True):
            if one.key == key:
                return int(one.rungs[rung].group.max(initial=0)) + 1
        return 0

    def _with_bundles(self, keys: Sequence[str]) -> list[str]:
        """Keys, and the columns that tell them."""
        told = [name for key in keys for name in self.how.bundles.get(key, ())]
        return list(dict.fromkeys([*keys, *told]))

    def _local(self, data: Any, one: Scenario, name: str, k: int) -> Step:
        step: Step = {"method": "local_suppression"}
        if len(one.keys) < len(self.scenario.intruders[name]):
            step |= {"keys": [*one.keys], "k": k}
        else:
            step |= {} if len(self.scenario.intruders) == 1 else {"intruder": name}
            step |= {} if k == one.limits.k else {"k": k}
        if self.importance is not None:
            step["importance"] = {key: self.importance.get(key, 1.0) for key in one.keys}
        together = [[key, *self.how.bundles[key]] for key in one.keys if self.how.bundles.get(key)]
        together += [[size, str(one.household)] for size in household_sizes(data, one)]
        if together:
            step["together"] = together
        if self.how.hide:
            step["hide_implied"] = True
        return step

    def with_how(self, how: How) -> Trials:
        """The same, where the rest is suppressed in another way."""
        return replace(self, how=how, made={})
