"""Turn a lattice node into recipe steps, run them on the file, and judge the release."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.catalogue.attribute import NUMBERS
from sdckit.cells.packing import group_codes
from sdckit.cells.table import Cells
from sdckit.data import methods, seeds
from sdckit.data.columns import float_values
from sdckit.data.limits import LIMITS, PROMISED
from sdckit.data.outgoing.only_records import on_the_way
from sdckit.data.replace import open_eager
from sdckit.data.scenarios.scenario import Scenario
from sdckit.data.scenarios.thresholds import not_said
from sdckit.errors import DataError, ScenarioError, SdcError, SdcWarning
from sdckit.numerics import array_types, grouping
from sdckit.workflow import assess, check, plan
from sdckit.workflow.assessment import ReleaseAssessment
from sdckit.workflow.proposing import proposal, search
from sdckit.workflow.proposing.ladders import Lattice, Limits, Node, Rung, Side, ladder_of, thinned
from sdckit.workflow.recipes import given_back, number_steps, starter_recipe as starter
from sdckit.workflow.recipes.exact_relations import ExactRelation, Mended, mend_relations
from sdckit.workflow.recipes.given_back import CommentedStep
from sdckit.workflow.recipes.recipe import TRIAL, Kept, recodings_of, tried
from sdckit.workflow.recipes.recipe_checks import call_arguments, checked_step
from sdckit.workflow.recipes.recipe_steps import GIVEN_BACK, LACKING_VALUES, RISK_MEASURE, lose_values, method_of
from sdckit.workflow.recipes.run_step import lacking_values, run_step
from sdckit.workflow.verdicts import Verdict

Step = dict[str, Any]
ROUNDS = 4  # of suppression, one intruder after the other, until nothing changes


@dataclass(frozen=True)
class How:
    """Options of the suppression after the recodings.

    `bundles`: by key, the columns from which it follows, suppressed together with it. `without`: further columns left
    out. `draws`: perturbation steps, on columns where the caller allows them. `classes`: columns of numbers put in size
    classes. `taken`: steps that take keys out of the records which are below a limit with what the release gives back.
    """

    bundles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    draws: tuple[Step, ...] = ()
    classes: tuple[str, ...] = ()
    taken: tuple[Step, ...] = ()


@dataclass(frozen=True, eq=False)
class Made:
    """Steps of a node, the suppression they need and the loss of its release.

    `steps`: each with its purpose ("recoding", "left out", "weight", "k", "l", "risk", "allowed", "classes", "given
    back"). `hidden`: the share of suppressed values of each column, without those `taken` by steps of the last purpose,
    which are known once the node is judged. `matched`: the share of the records that are expected to be
    matched back, of the intruder for whom it is largest; 0 where no limit on it has to be looked at.
    """

    node: Node
    steps: tuple[tuple[str, Step], ...]
    hidden: Mapping[str, float]
    loss: float
    matched: float = 0.0
    taken: Mapping[str, float] = field(default_factory=dict)

    @property
    def gone(self) -> dict[str, float]:
        """The share of the values of each column that all steps take out."""
        names = dict.fromkeys([*self.hidden, *self.taken])
        return {name: self.hidden.get(name, 0.0) + self.taken.get(name, 0.0) for name in names}

    @property
    def drawn(self) -> bool:
        """Whether some step draws random numbers."""
        return any(method_of(step["method"], "").random for _, step in self.steps)


_Suppression = tuple[str, Step, dict[str, int], Any]  # purpose, step, values taken out by column, the data after it


@dataclass(eq=False)
class _Lacking:
    """The sensitive values lacking to l against one intruder, kept of the data that they were asked of last."""

    intruder: Scenario
    data: Any = None
    values: array_types.Floats | None = None

    def of(self, data: Any) -> array_types.Floats:
        """Those of each record of the data."""
        if self.values is None or self.data is not data:
            self.data, self.values = data, lacking_values(data, self.intruder)
        return self.values


@dataclass(eq=False)
class Trials:
    """A lattice and its file: the `Problem` of the search.

    `share`: largest share of the records left to suppression. `data` need not hold direct identifiers.
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
    # by which columns may tell what steps change; looked for when the first release is judged
    relations: Callable[[], tuple[ExactRelation, ...]] = tuple
    goal: search.Goal | None = None  # another loss to search by
    # how many combinations of keys are left at most, over those that let few enough be matched back for certain
    leeway: float | None = None

    @cached_property
    def most(self) -> proposal.MostMatched | None:
        """The share of the records that may be expected to be matched back; None where every share will do."""
        return proposal.most_matched(self.scenario)

    def kept(self, node: Node) -> bool:
        """Whether no more records are expected to be matched back by the release of a node than may be."""
        return self.most is None or self.most.holds(self.made[node].matched)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rungs of each key."""
        return self.lattice.shape

    def all_coarsening(self) -> NDArray[np.float64]:
        """Loss of the recodings of every node."""
        return self.lattice.all_coarsening() if self.goal is None else self.goal.least

    def enough(self, node: Node) -> bool:
        """Whether at most `share` of the records are beyond a limit, and some key is released."""
        if all(ladder.rungs[rung].left_out for ladder, rung in zip(self.lattice.ladders, node, strict=True)):
            return False
        if self.lets_many_match(node):
            return False
        most = self.share * self.lattice.n
        pairs = zip(self.lattice.beyond(node, most=most), self.lattice.sides, strict=True)
        return all(beyond.records <= most * side.may_hide and not beyond.expected for beyond, side in pairs)

    def lets_many_match(self, node: Node) -> bool:
        """Whether more combinations of keys are left than the leeway allows."""
        if self.leeway is None or self.most is None:
            return False
        return self.lattice.most_combinations(node) > self.leeway * self.most.share * self.lattice.n

    def least(self, node: Node) -> float:
        """Lower bound on the loss of the node's release."""
        if self.goal is not None:
            return float(self.goal.least[node])
        return self.lattice.coarsening(node) + self.lattice.least_hidden(node)

    def real(self, node: Node) -> float:
        """Exact loss of the node's release; infinite where a step fails, or with a leeway too many are matched back."""
        try:
            self.made[node], release = self._make(node, whole=self.goal is not None)
            if self.leeway is not None and not self.kept(node):
                return float("inf")
            return self.made[node].loss if self.goal is None else self.goal.of(self.data, release)
        except SdcError:  # such as a hierarchy that lacks a value
            return float("inf")

    def tried(self, node: Node) -> Any:
        """The release of a node, recorded in `made`; None where a step fails."""
        try:
            self.made[node], release = self._make(node)
        except SdcError:
            return None
        return release

    def make(self, node: Node) -> Made:
        """Run the steps of a node on the file."""
        return self._make(node, whole=False)[0]

    def recoded(self, data: Any, rung: Rung) -> Any:
        """A file after the recoding of one rung."""
        return data if rung.step is None else self._run(data, dict(rung.step))[0]

    def release(self, node: Node) -> Any:
        """The file after the steps of a node."""
        return self._make(node)[1]

    @cached_property
    def _read(self) -> list[str]:
        """Columns that the steps of a trial read or change: all where some are drawn anew, by any of the others."""
        how = self.how
        read = {*self.scenario.columns, *how.without, *how.classes, *chain.from_iterable(how.bundles.values())}
        return [name for name in open_eager(self.data, {}).columns if how.draws or name in read]

    def _make(self, node: Node, *, whole: bool = True) -> tuple[Made, Any]:
        """The steps of a node and its release; unless `whole`, of the columns that steps read alone."""
        steps: list[tuple[str, Step]] = []
        frame: Any = open_eager(self.data, {})
        hidden: dict[str, int] = {}
        with warnings.catch_warnings(action="ignore", category=SdcWarning):  # an assessment tells them
            data = (frame if whole else frame[self._read]).to_native()
            for kind, step in self._before(node):
                data = self._run(data, step)[0]
                steps.append((kind, step))
            if (coarser := starter.coarser_weight(data, self._left_scenario(data))[0]) is not None:
                data = self._run(data, coarser)[0]
                steps.append(("weight", coarser))
            recoded = data
            for kind, step, changed, after in self._suppressed(data, node):
                data = after
                steps.append((kind, step))
                for name, count in changed.items():
                    hidden[name] = hidden.get(name, 0) + count
            self._check(data)
            steps += [("given back", step) for step in self._taken(node)]
            most = self.most
            matched = 0.0 if most is None else proposal.matched_back(recoded, data, self._left_scenario(data), most)
        shares = {name: count / self.lattice.n for name, count in hidden.items() if count}
        return Made(node, tuple(steps), shares, self.lattice.loss(node, shares), matched), data

    def _check(self, data: Any) -> None:
        """Raise where suppression did not reach k and l, as in strata too small for it."""
        from sdckit.identity.k_anonymity import k_anonymity

        scenario = self._left_scenario(data)
        for side in self.lattice.sides:
            if side.name not in scenario.intruders:
                continue
            intruder = scenario.intruder(side.name)
            k = side.limits.k
            if k is not None and side.may_hide and k_anonymity(data, scenario=intruder, k=[k]).violations[k]:
                raise DataError("records stay below k")
            if intruder.limits.l is not None and intruder.sensitive and lacking_values(data, intruder).max() > 0:
                raise DataError("groups stay without enough sensitive values")

    def _before(self, node: Node) -> Iterator[tuple[str, Step]]:
        """Steps before suppression: columns left out, recodings, and perturbations allowed by the caller."""
        pairs = [(ladder, ladder.rungs[rung]) for ladder, rung in zip(self.lattice.ladders, node, strict=True)]
        gone = [*(ladder.key for ladder, rung in pairs if rung.left_out), *self.how.without]
        if gone:
            yield "left out", {"method": "drop_identifiers", "columns": gone}
        for _, rung in pairs:
            if rung.step is not None:
                yield "recoding", dict(rung.step)
        for step in self.how.draws:
            names = [name for name in step["columns"] if name not in gone]
            if names:
                yield "allowed", {**step, "columns": names}
        for name in self.how.classes:
            classes = number_steps.size_classes(name, float_values(open_eager(self.data, {})[name], "magnitude"))
            if classes is not None and name not in gone:
                yield "classes", classes

    def _run(self, data: Any, step: Step, *, lacking: array_types.Floats | None = None) -> tuple[Any, dict[str, int]]:
        with on_the_way():  # a trial goes nowhere
            done, change = run_step(
                1, checked_step(1, step), data, scenario=self.scenario.changed(identifiers=()),
                folder=self.scenario.folder, mixed=seeds.Mixed(TRIAL), lacking=lacking,
            )  # fmt: skip
        return done, change.changed

    def _left_scenario(self, data: Any) -> Scenario:
        """The scenario without the keys that are absent from the data."""
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

    def _suppressed(self, data: Any, node: Node) -> Iterator[_Suppression]:
        """Suppression steps, intruder by intruder, repeated until none changes a value; each with the data after it."""
        scenario = self._left_scenario(data)
        lacking = {name: _Lacking(scenario.intruder(name)) for name in scenario.intruders}
        idle: dict[str, Any] = {}  # by step: the data that it changed nothing in
        for turn in range(ROUNDS):
            before = data
            for name, of_values in lacking.items():
                data = yield from self._against(data, node, name, of_values, idle, first=turn == 0)
            if data is before:
                break

    def _against(
        self, data: Any, node: Node, name: str, lacking: _Lacking, idle: dict[str, Any], *, first: bool
    ) -> Generator[_Suppression, None, Any]:
        """Suppression steps against one intruder, each with the data after it; it returns the data after all.

        `idle`: by step, the data in which it changed nothing.
        """
        short = False
        for kind, step, last in self._of_intruder(data, lacking.intruder, name, node):
            values = lacking.of(data) if kind == "l" else None
            if values is not None and not (values > 0).any() and not (last and short):
                continue
            short |= values is not None
            if idle.get(repr(step)) is data:
                continue
            done, changed = self._run(data, step, lacking=values)
            # next year's file may need the step for k that this one does not, and other draws the last for l
            if any(changed.values()) or (first and (kind == "k" or last)):
                yield kind, step, changed, done
            if any(changed.values()):
                data = done
            else:
                idle[repr(step)] = data
        return data

    def _of_intruder(self, data: Any, intruder: Scenario, name: str, node: Node) -> Iterator[tuple[str, Step, bool]]:
        """Suppression steps for k, l and risk, and whether it is the last for l."""
        k, wild = self.aims.get(name), not starter.protects_nobody(intruder)
        shared = given_back.mostly_shared(data, intruder)
        if k is not None and wild:
            how: dict[str, Any] = {"shared": shared, "importance": self.importance, "bundles": self.how.bundles}
            yield "k", starter.suppression_step(self.data, self.scenario, intruder, k, **how), False
        ordered = sorted(intruder.keys, key=lambda key: (-self._levels(key, node), key))
        blank = wild or intruder.person is None or intruder.missing == "category"  # else no key may be missing
        if intruder.limits.l is not None and intruder.sensitive and blank:
            for count in dict.fromkeys((1, (len(ordered) + 1) // 2, len(ordered))):
                columns = given_back.with_home(self._with_bundles(ordered[:count]), shared, intruder.household)
                yield "l", lose_values(self.scenario, name, LACKING_VALUES, 0, columns), count == len(ordered)
        if intruder.limits.risk is not None and wild:
            columns = given_back.with_home(self._with_bundles(ordered), shared, intruder.household)
            yield "risk", lose_values(self.scenario, name, RISK_MEASURE, intruder.limits.risk, columns), False

    def _levels(self, key: str, node: Node) -> int:
        for ladder, rung in zip(self.lattice.ladders, node, strict=True):
            if ladder.key == key:
                return int(ladder.rungs[rung].group.max(initial=0)) + 1
        return 0

    def _with_bundles(self, keys: Sequence[str]) -> list[str]:
        """Keys, and the columns from which their values can be reconstructed."""
        tellers = [name for key in keys for name in self.how.bundles.get(key, ())]
        return list(dict.fromkeys([*keys, *tellers]))

    def _taken(self, node: Node) -> list[Step]:
        """These steps, of the keys that are there and what tells them."""
        pairs = zip(self.lattice.ladders, node, strict=True)
        left_out = {ladder.key for ladder, rung in pairs if ladder.rungs[rung].left_out}
        there = {*open_eager(self.data, {}).columns} - left_out - {*self.how.without}
        steps = ({**step, "columns": self._with_bundles(step["columns"])} for step in self.how.taken)
        return [own for step in steps if (own := given_back.on_columns(step, there)) is not None]

    def with_how(self, how: How) -> Trials:
        """The same trials with other options of suppression."""
        return replace(self, how=how, made={})

    def with_classes(self, node: Node, keep: Sequence[str]) -> Trials:
        """The same trials with size classes for numbers that would go out as they are after a node's recodings."""
        data = self.data
        with warnings.catch_warnings(action="ignore", category=SdcWarning):
            for _, step in self._before(node):
                data = self._run(data, step)[0]
            left = self._left_scenario(data).narrowed(open_eager(data, {}).columns)
            large = number_steps.exact_columns(data, data, left)
        kept = {*self.scenario.all_keys, *keep, *self.how.classes}
        classes = (*self.how.classes, *(name for name in large if name not in kept))
        return self.with_how(replace(self.how, classes=classes))


# Judging a recipe: applied to the file and checked against every threshold, as `check` does.


SMALL = 5


@dataclass(frozen=True, eq=False)
class Judged:
    """A node with the gate's verdicts on its release."""

    made: Made
    how: How
    verdicts: tuple[Verdict, ...]
    assessment: ReleaseAssessment
    released: Any = None  # the file, where steps have changed it that a trial of the node leaves out
    measured: float = math.inf  # by the loss that the caller asked for
    estimated: bool = False  # whether the risk is that of a sample
    unsaid: tuple[str, ...] = ()  # what no recipe can mend: the scenario says nothing of a role, or of columns
    mended: Mended = field(default_factory=Mended)
    unrepaired: str = ""  # why no other suppression could be made, where one was needed
    promised: tuple[Verdict, ...] = ()  # on what k promises, which the search keeps of its own accord
    promise: int = 0  # the k of these, where all of them could be judged

    @property
    def passed(self) -> bool:
        """Whether every threshold was checked and holds, but for what no recipe can mend."""
        return bool(self.verdicts) and not self.failing

    @property
    def broken(self) -> bool:
        """Whether more are expected to be matched back than k promises."""
        return any(verdict.holds is False for verdict in self.promised)

    @property
    def matched(self) -> float:
        """Share of the records expected to be matched back, of the intruder with most; NaN if not judged."""
        values = [verdict.value for verdict in (*self.promised, *self.verdicts) if verdict.name == PROMISED.name]
        return max((value for value in values if value is not None), default=math.nan)

    @property
    def meets(self) -> bool:
        """Whether every threshold holds and no more are expected to be matched back than k promises."""
        return self.passed and not self.broken

    @property
    def gate(self) -> bool:
        """Whether the release passes `check`."""
        return self.passed and all(verdict.holds is True for verdict in self.verdicts)

    @property
    def failing(self) -> tuple[str, ...]:
        """Thresholds that do not hold, or were not judged, and that a recipe could mend."""
        failed = dict.fromkeys(verdict.name for verdict in self.verdicts if verdict.holds is not True)
        return tuple(name for name in failed if name not in self.unsaid)

    @property
    def resting(self) -> int:
        """Records that reach k only through other records' missing values, for the intruder with most of them."""
        return max((verdict.n_resting or 0 for verdict in self.verdicts), default=0)

    @property
    def risk(self) -> float:
        """The expected share of re-identifications, of the intruder for whom it is largest."""
        measured = self._worst.get("individual_risk")
        return 0.0 if measured is None else float(measured.global_risk)

    @property
    def expected(self) -> float:
        """The expected re-identifications of that intruder."""
        measured = self._worst.get("individual_risk")
        return 0.0 if measured is None else float(measured.expected_reidentifications)

    @property
    def small(self) -> int:
        """Records in groups of fewer than five, where that number is estimated from them; else 0."""
        counted = self._worst.get("k_anonymity")
        return int(counted.violations[SMALL]) if self.estimated and counted is not None else 0

    @property
    def distance(self) -> tuple[int, float]:
        """From meeting every threshold: how many fail, and what is matched back beyond the promise."""
        return len(self.failing), self.matched if self.broken else 0.0

    @property
    def takes_few(self) -> bool:
        """Whether few records at most lose keys since the release gives values back."""
        return max(self.made.taken.values(), default=0.0) <= given_back.FEW_TAKEN

    def let_go(self) -> Judged:
        """Where nothing is to be mended: without original and release, which the measures of two files hold."""
        return replace(self, assessment=replace(self.assessment, intruders=()))

    @property
    def _worst(self) -> Any:
        files = [file[name] for file in self.assessment.released for name in file]
        return max(files, key=lambda file: float(file["individual_risk"].global_risk), default={})


def surrounding_steps(scenario: Scenario, columns: Sequence[str]) -> tuple[list[CommentedStep], list[CommentedStep]]:
    """Steps before and after those on the keys for a file of these columns, each with its comment.

    The order of the records is mixed last; the scenario may say that it stays.
    """
    before, after = starter.identifier_steps(scenario, columns), starter.last_step(scenario, columns)
    return [pair for pair in before if pair[0] is not None], [pair for pair in after if pair[0] is not None]


def judge_cells(trials: Trials, release: Any) -> tuple[Verdict, ...]:
    """The verdicts that the cells of a node's release give by themselves; no other limit is judged by them."""
    scenario = trials._left_scenario(release).narrowed(open_eager(release, {}).columns)
    with warnings.catch_warnings(action="ignore", category=SdcWarning):
        *_, alone = assess.assess_in_turn(
            release, scenario=scenario, step=lambda _: None, compared=True, only=plan.read_by_limits(scenario)
        )
    return alone.verdicts


def judge(
    trials: Trials, made: Made, how: How, *, control: Any = None, keep: Sequence[str] = (), soon: bool = False,
    tell: Callable[[str], None] = lambda _: None, secret: bytes = TRIAL, tries: Kept | None = None,
) -> Judged:  # fmt: skip
    """Apply the steps and check every threshold; the data are without their direct identifiers.

    `secret`: what the steps draw by. `tries`: what earlier trials kept. `soon`: where large numbers go out as they are,
    nothing else is judged, and there is no verdict: `improved` looks at nothing else then.
    """
    data, scenario = trials.data, trials.scenario
    mended = mend_relations(trials.relations(), [step for _, step in made.steps], scenario, keep)
    steps = all_steps(scenario, open_eager(data, {}).columns, made, mended)
    most = trials.most if made.matched else None
    kept = (scenario if most is None else most.asked(scenario)).changed(identifiers=())
    # of the original: an assessment of it tells them
    with warnings.catch_warnings(action="ignore", category=SdcWarning):
        applied = tried(data, scenario, steps, mended.derived, step=tell, secret=secret, kept=tries)
        recodings = recodings_of(applied)
        measured: Any = assess.assess_read(
            data, applied.data, scenario=kept, control=control, seed=given_back.SEED, recipe=recodings, whole=True,
            lean=True, step=tell, recovered=None if tries is None else tries.recovered(applied.data, recodings),
            soonest=(NUMBERS, lambda results: bool(_beyond(results, scenario, keep, how))) if soon else None,
        )  # fmt: skip
        if not measured.released:
            return Judged(made, how, (), measured, mended=mended)
        checked: Any = check.check_assessment(measured)
    released = applied.data if how.taken else None
    made = replace(made, taken=given_back.taken_shares(applied))
    made = replace(made, loss=trials.lattice.loss(made.node, made.gone))
    sampled = scenario.weight is not None or scenario.sampling_fraction is not None
    k = 0 if most is None else most.promise
    promised = tuple(verdict for verdict in checked.verdicts if k and verdict.name == PROMISED.name)
    judged = bool(promised) and all(verdict.holds is not None for verdict in promised)
    return Judged(
        made, how, tuple(own for own in checked.verdicts if own not in promised), checked.assessment, released,
        estimated=sampled, unsaid=_unsaid(checked, scenario), mended=mended, promised=promised, promise=k * judged,
    )  # fmt: skip


def all_steps(scenario: Scenario, columns: Sequence[str], made: Made, mended: Mended) -> list[Step]:
    """The steps of a release, from those on identifiers to the order of the records."""
    before, after = surrounding_steps(scenario, columns)
    commented = [*before, *mended.steps, *((step, ()) for _, step in made.steps)]
    return [dict(step) for step, _ in given_back.mixed_before(commented, after) if step is not None]


def _unsaid(checked: check.CheckResult, scenario: Scenario) -> tuple[str, ...]:
    """Names of verdicts that are open since the scenario says nothing of a role, or of a column."""
    names = dict.fromkeys(verdict.name for verdict in checked.undefined)
    return tuple(name for name in names if LIMITS[name].scope == "columns" or not_said(name, scenario))


def improved(judged: Judged, scenario: Scenario, keep: Sequence[str]) -> How | None:
    """Other suppression options where suppressed values can be reconstructed; None where there are no others.

    First columns from which a key follows are suppressed together with it; then such columns are left out. Numbers that
    go out as they are are put in size classes.
    """
    if large := _large(judged, scenario, keep):
        return replace(judged.how, classes=(*judged.how.classes, *large))
    if not set(judged.failing) & given_back.PUT_BACK:
        return None
    clues = _tellers(judged, scenario)
    how = judged.how
    bundles = {
        key: tuple(dict.fromkeys([*how.bundles.get(key, ()), *clues.get(key, ())])) for key in {**how.bundles, **clues}
    }
    if bundles != dict(how.bundles):
        return replace(how, bundles=bundles)
    needed = {*scenario.columns, *keep, *how.without}
    gone = tuple(dict.fromkeys(name for names in clues.values() for name in names if name not in needed))
    if not gone:
        return None
    left = {key: tuple(name for name in names if name not in gone) for key, names in how.bundles.items()}
    return replace(how, bundles=left, without=(*how.without, *gone))


def _large(judged: Judged, scenario: Scenario, keep: Sequence[str]) -> list[str]:
    """Columns with large numbers that go out as they are above the limit, and are not in size classes yet."""
    results = (judged.assessment[name].get(NUMBERS.name) for name in judged.assessment)
    return _beyond(results, scenario, keep, judged.how)


def _beyond(results: Iterable[Any], scenario: Scenario, keep: Sequence[str], how: How) -> list[str]:
    beyond = number_steps.columns_beyond((result for result in results if result is not None), scenario)
    return [name for name in beyond if name not in {*scenario.all_keys, *keep, *how.classes}]


def _tellers(judged: Judged, scenario: Scenario) -> dict[str, tuple[str, ...]]:
    """By key, the other columns from which its values can be reconstructed."""
    tellers: dict[str, tuple[str, ...]] = {}
    fixed = {*scenario.all_keys, scenario.household, scenario.weight}
    for name in judged.assessment:
        result = judged.assessment[name].get(GIVEN_BACK)
        if result is None:
            continue
        for column in (column for file in result.columns for column in file):
            if column.counted and column.column in scenario.all_keys:
                sources = (*column.sources, *column.known_sources)
                names = [name for source in sources for name in source.columns if name not in fixed]
                if names:
                    tellers[column.column] = tuple(dict.fromkeys([*tellers.get(column.column, ()), *names]))
    return tellers


# Building the lattice from a file and its scenario.


OWN = "as preferred"


def limits_of(intruder: Scenario, aim: int = 1) -> Limits:
    """Limits of the search for one intruder, with `aim` times the declared k."""
    limits = intruder.limits
    k = starter.wanted_k(intruder)
    if aim > 1:
        k = aim * (k or starter.DEFAULT_K)
    return Limits(k, limits.l if intruder.sensitive else None, limits.risk, limits.global_risk)


def open_lattice(
    data: Any, scenario: Scenario, *, keep: Sequence[str], prefer: Mapping[str, Sequence[Step]],
    weights: Mapping[str, float], internal: bool,
) -> Lattice:  # fmt: skip
    """Tabulate a file by all keys and sensitive variables, and build the generalisation lattice."""
    from sdckit.identity.contributions.coarsening import declared_kinds, levels_of

    keys = scenario.all_keys
    # of keys with many values, which is what the search is about
    with warnings.catch_warnings(action="ignore", category=SdcWarning):
        cells = _tabulated(data, scenario)
    declared = declared_kinds(keys, scenario)
    ladders = []
    for key in keys:
        levels = levels_of(cells, key, declared)
        own = [_preferred(data, scenario, levels, key, step) for step in prefer.get(key, ())]
        if any(not grouping.refines(*pair) for pair in pairwise([group for _, _, group in own])):
            raise DataError(
                f"prefer: the recodings of {key!r} do not follow from each other; give them finest first, each made of "
                "the groups of the one before",
                argument="prefer",
            )
        ladders.append(ladder_of(levels, key, internal=internal, stays=key in keep, own=own))
    sides = tuple(_side(cells, scenario.intruder(name), name, keys) for name in scenario.intruders)
    return thinned(Lattice(tuple(ladders), sides, tuple(weights.get(key, 1.0) for key in keys), cells.n))


def _tabulated(data: Any, scenario: Scenario) -> Cells:
    """Contingency table of all keys and sensitive variables, missing values as a category."""
    from sdckit.cells.as_cells import tabulate_given

    columns = [*scenario.all_keys, *scenario.sensitive]
    cells: Any = tabulate_given(data, keys=columns, weight=scenario.weight, missing="category")
    return cells  # type: ignore[no-any-return]


def _side(cells: Cells, intruder: Scenario, name: str, keys: Sequence[str]) -> Side:
    """Contingency table of one intruder, summed over the keys they do not know."""
    table, limits = cells.table, limits_of(intruder)
    at = tuple(keys.index(key) for key in intruder.keys)
    places = [*at, *(cells.keys.index(variable) for variable in intruder.sensitive)]
    columns = [np.asarray(table.codes[j]) for j in places]
    size, weight = table.size, table.weight
    if {*places} != {*range(len(cells.keys))}:  # else all cells differ
        groups = group_codes(columns, len(size))
        of_cell, count = groups.of_row, len(groups.size)
        columns = [column[grouping.first_of_groups(of_cell, count)] for column in columns]
        weight = None if weight is None else grouping.sum_by(of_cell, weight, count)
        size = np.bincount(of_cell, size, count)
    missing = intruder.missing
    rules = [missing if isinstance(missing, str) else missing.get(key, "wildcard") for key in intruder.keys]
    return Side(
        name, at, tuple(columns[: len(at)]), tuple(columns[len(at) :]), size.astype(np.int64), weight,
        tuple(rule == "wildcard" and cells.n_missing[j] > 0 for rule, j in zip(rules, at, strict=True)), limits,
        may_hide=not starter.protects_nobody(intruder), alpha=intruder.alpha, fraction=intruder.sampling_fraction,
    )  # fmt: skip


def _preferred(data: Any, scenario: Scenario, levels: Any, key: str, step: Step) -> tuple[str, Step, array_types.Ints]:
    """A recoding preferred by the caller, with the group of each level, found by running it on the column."""
    from sdckit.data.columns import code_column

    given = {"method": "recode", **step, "column": key}
    place = f"prefer: {key}"
    try:
        recoding = checked_step(1, given)
        method = method_of(recoding.method, place)
        if not method.kind.recodes:
            *most, last = (name for name, kind in methods.METHODS.items() if kind.recodes)
            raise ScenarioError(f"a recoding is {', '.join(most)} or {last}")
        made = method.function(
            open_eager(data, {})[[key]].to_native(), **call_arguments(recoding, scenario=None, folder=scenario.folder)
        )
    except SdcError as error:
        raise type(error)(f"{place}: {error}", argument="prefer") from None
    before, after = code_column(open_eager(data, {})[key]), code_column(open_eager(made.data, {})[key])
    new_of = np.full(before.span + 1, -1, np.int64)
    new_of[before.codes()] = after.codes()
    if ((new_of[before.codes()] == after.span) & (before.codes() != before.span)).any():
        raise DataError(
            f"{place}: the recoding makes values missing; give one that takes every value", argument="prefer"
        )
    group = np.unique(new_of[levels.codes], return_inverse=True)[1].astype(np.int64)
    return OWN, {"method": recoding.method, **recoding.arguments}, group
