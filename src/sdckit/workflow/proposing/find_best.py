"""Find the lattice node with the least loss that passes every threshold, and alternatives to it."""

import math
import re
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise, product
from typing import Any

import numpy as np

from sdckit.data import arguments
from sdckit.data.limits import limits_asked
from sdckit.data.losses import COARSENING, LOSSES, MODEL, PMSE
from sdckit.data.replace import open_eager
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import counted, printable
from sdckit.errors import DataError, SdcError, SdcWarning
from sdckit.report.chapters.sentences import listed
from sdckit.workflow.proposing.ladders import FEW, Node, Rung
from sdckit.workflow.proposing.proposal import INSTEAD, Candidate, about_loss, caution, in_words, promise_kept
from sdckit.workflow.proposing.search import INTERRUPTED, LEAST, Search, Searched
from sdckit.workflow.proposing.trials import How, Judged, Trials, improved, judge, judge_cells, limits_of
from sdckit.workflow.recipes import given_back, recipe, recipe_figures, recipe_steps, starter_recipe
from sdckit.workflow.verdicts import Verdict

TOLD_FOR_SURE = 0.25  # pMSE where every record of two files of one size is told apart
MOST_CORNERS = 64
MOST_MOVES = 60

Loss = Callable[[Any, Any], float]
Hold = Callable[..., Judged]  # judges a node of some trials


@dataclass(frozen=True)
class Needing:
    """A loss that takes its maximum where a release lacks one of these `columns`."""

    of: Loss
    columns: frozenset[str]

    def __call__(self, data: Any, release: Any) -> float:
        """The loss of a release."""
        return self.of(data, release)


def measure_of(loss: str | Loss, formula: str | None, family: str, data: Any, scenario: Scenario) -> Loss | None:
    """The loss function asked for; None for the information of the keys, which the search itself minimises."""
    from sdckit.utility.models.model_fits import FAMILIES

    arguments.choice(family, "family", FAMILIES)
    if not callable(loss) and loss not in LOSSES:
        raise DataError(
            f"loss= is {', '.join(map(repr, LOSSES))}, or is a function of the file and a release of it, which gives "
            "a number",
            argument="loss",
        )
    if (loss == MODEL) is (formula is None):
        raise DataError('loss="model" and formula= go together, as in formula="income ~ age"', argument="formula")
    if callable(loss):
        return loss
    if loss in COARSENING:
        return recipe_figures.CoarseningLoss(loss, scenario)
    if loss == PMSE:
        return Needing(partial(_pmse, scenario=scenario), frozenset(scenario.all_keys))
    if formula is None:
        return None
    loss_of_model = partial(_model, formula=arguments.text(formula, "formula"), family=family, scenario=scenario)
    loss_of_model(data, data)  # a formula that does not fit the file is refused before any search
    return Needing(loss_of_model, frozenset(key for key in scenario.all_keys if _names(formula, key)))


def _names(formula: str, key: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(key)}(?!\w)", formula) is not None


def _pmse(data: Any, release: Any, *, scenario: Scenario) -> float:
    """Propensity score MSE of a release; the maximum where a key is left out or changed its type."""
    before, after = open_eager(data, {}), open_eager(release, {})
    for key in scenario.all_keys:
        if key not in after.columns or before.schema[key].is_numeric() is not after.schema[key].is_numeric():
            return TOLD_FOR_SURE
    aside = {scenario.weight, scenario.household, scenario.person}
    kept = [name for name in before.columns if name in after.columns and name not in aside]
    return recipe_figures.pmse(data, release, kept, aligned=True)


def _model(data: Any, release: Any, *, formula: str, family: Any, scenario: Scenario) -> float:
    """1 minus the mean confidence interval overlap of the regression coefficients."""
    from sdckit.utility.models.compare_models import compare_models

    comparison = compare_models(data, release, formula=formula, family=family, scenario=scenario)
    return 1.0 - comparison.mean_overlap


def ranked_by(loss: Loss, trials: Trials, searched: Searched, until: Callable[[], bool]) -> list[tuple[float, Node]]:
    """Rank nodes by a loss, best first: those tried, corners of the lattice, then by hill climbing from the best.

    Nodes whose loss is undefined come last. `until`: whether the time limit is reached.
    """
    own: dict[Node, float] = {}
    for node in [*searched.ranked(), *_corners(trials)]:
        if node not in own and not (own and until()):
            _measure(loss, trials, searched, node, own)
    usable = [node for node in own if node in trials.made]
    moves = 0
    while usable and moves < MOST_MOVES and not until():
        best = min(own, key=lambda node: (own[node], searched.losses.get(node, math.inf), node))
        neighbours = [node for node in _neighbours(best, trials.shape) if node not in own][: MOST_MOVES - moves]
        for node in neighbours:
            _measure(loss, trials, searched, node, own)
        moves += len(neighbours)
        if min(own[node] for node in [*neighbours, best]) >= own[best]:
            break
    made = [node for node in own if node in trials.made and node in searched.losses]
    return [(own[node], node) for node in sorted(made, key=lambda node: (own[node], searched.losses[node], node))]


def measured(loss: Loss, data: Any, release: Any) -> float:
    """The loss of a release; infinite where it is undefined, such as a regression on a column that was left out."""
    with warnings.catch_warnings(action="ignore", category=SdcWarning):
        try:
            value = float(loss(data, release))
        except SdcError:
            return math.inf
    return math.inf if math.isnan(value) else value


def _measure(loss: Loss, trials: Trials, searched: Searched, node: Node, own: dict[Node, float]) -> None:
    """Make the release of a node and write its loss to `own[node]`."""
    own[node] = math.inf
    if node not in trials.made and _lacks(loss, trials, node):  # it comes last: no need to make it
        return
    release = trials.tried(node) if trials.enough(node) else None
    if release is None:
        return
    searched.losses[node] = trials.made[node].loss
    if trials.kept(node):
        own[node] = measured(loss, trials.data, release)


def _lacks(loss: Loss, trials: Trials, node: Node) -> bool:
    """Whether a node leaves out a key without which the loss is at its maximum."""
    pairs = zip(trials.lattice.ladders, node, strict=True)
    gone = {ladder.key for ladder, rung in pairs if ladder.rungs[rung].left_out}
    return isinstance(loss, Needing) and not gone.isdisjoint(loss.columns)


def _corners(trials: Trials) -> list[Node]:
    """Corners of the lattice (each key unchanged or coarsest): all, or for many keys those with one key of a kind."""
    shape = trials.shape
    tops = [size - 1 for size in shape]
    if 2 ** len(shape) <= MOST_CORNERS:
        return [tuple(node) for node in product(*({0, top} for top in tops))]
    alone = [tuple(0 if i == j else top for i, top in enumerate(tops)) for j in range(len(shape))]
    others = [tuple(top if i == j else 0 for i, top in enumerate(tops)) for j in range(len(shape))]
    return [tuple(0 for _ in shape), *others, *alone]


def _neighbours(node: Node, shape: tuple[int, ...]) -> list[Node]:
    """Nodes of the lattice that differ by one rung of one key."""
    moved = [(*node[:j], node[j] + by, *node[j + 1 :]) for j in range(len(node)) for by in (-1, 1)]
    return [other for other in moved if all(0 <= rung < size for rung, size in zip(other, shape, strict=True))]


# Comments of a proposed recipe: why each step is there. Shares are ranges, since the recipe may be published.


STEP_REASONS = {
    "weight": "Many weights occur with one value of a key only, and would reveal what is taken out there.",
    "allowed": "Allowed by the caller: thresholds that recodings and suppression do not meet ask for it.",
    "risk": starter_recipe.STILL_ABOVE,
    "classes": "Numbers that dominate their group went out as they are: size classes with round edges tell none.",
    "given back": given_back.TAKEN,
}


def key_words(trials: Trials, node: Node) -> dict[str, str]:
    """What is done to each key, in words."""
    return {ladder.key: ladder.rungs[rung].words for ladder, rung in zip(trials.lattice.ladders, node, strict=True)}


def step_reasons(trials: Trials, searched: Searched, judged: Judged) -> Iterator[given_back.CommentedStep]:
    """The recoding and suppression steps, each with its comment."""
    places = {ladder.key: j for j, ladder in enumerate(trials.lattice.ladders)}
    for kind, step in judged.made.steps:
        if kind == "recoding":
            yield step, list(_of_recoding(trials, searched, judged.made.node, places[str(step["column"])]))
        elif kind == "left out":
            yield step, list(_of_left_out(trials, searched, judged, places, step["columns"]))
        elif kind in ("k", "l"):
            yield step, list(_of_suppression(step))
        else:
            yield step, [STEP_REASONS[kind]]


def _of_recoding(trials: Trials, searched: Searched, node: Node, j: int) -> Iterator[str]:
    ladder, lattice = trials.lattice.ladders[j], trials.lattice
    rung = ladder.rungs[node[j]]
    kept = about_loss(rung.kept, lattice.n)
    tells = f", which keeps {kept} of what it tells" if kept else ""
    yield f"{printable(ladder.key)} {rung.words}{tells}. {_why(trials, searched, node, j)}"
    if _names_few(trials, rung, j):
        yield starter_recipe.FROM_VALUES


def _of_left_out(
    trials: Trials, searched: Searched, judged: Judged, places: Mapping[str, int], columns: Sequence[str]
) -> Iterator[str]:
    for name in columns:
        if name in places:
            yield f"{printable(name)} is left out. {_why(trials, searched, judged.made.node, places[name])}"
        else:
            yield f"{printable(name)} is left out: it reveals values that are taken out of a key."


def _why(trials: Trials, searched: Searched, node: Node, j: int) -> str:
    """Why a key is not released one rung finer, everything else equal."""
    finer = (*node[:j], node[j] - 1, *node[j + 1 :])
    words = trials.lattice.ladders[j].rungs[finer[j]].words
    if trials.lets_many_match(finer):
        return f"With it {words}, more records might be matched back than may be."
    if not trials.enough(finer):
        return f"With it {words}, more records are beyond a threshold than suppression may be left with."
    least = searched.losses.get(finer, trials.least(finer))
    if least >= searched.losses.get(node, 1.0):
        return f"With it {words}, what has to be taken out costs more than that keeps."
    return f"With it {words}, a threshold did not hold, or it was not tried."


def _names_few(trials: Trials, rung: Rung, j: int) -> bool:
    """Whether the step names rare values of a key; only where the recipe is internal."""
    if not trials.internal or rung.step is None or "groups" not in rung.step:
        return False
    ladder, side = trials.lattice.ladders[j], next(seen_by for seen_by in trials.lattice.sides if j in seen_by.at)
    records = np.bincount(side.codes[side.at.index(j)], side.size, ladder.missing + 1)
    return bool(records[ladder.codes].min() < FEW)


def _of_suppression(step: Mapping[str, Any]) -> Iterator[str]:
    whom = f" for {printable(str(step['intruder']))}" if "intruder" in step else ""
    if "keys" in step:
        whom = f" for whoever knows {listed([printable(name) for name in step['keys']])}"
    if step.get("risk") == recipe_steps.LACKING_VALUES:
        columns = [printable(name) for name in step["columns"]]
        yield f"Records{whom} in groups with too few sensitive values lose {listed(columns)}."
        return
    yield starter_recipe.the_rest(whom)
    if "together" in step:
        yield "Columns that tell a key lose their value where the key does."
    if step.get("hide_implied"):
        yield f"{starter_recipe.NOT_IMPLIED}."
    if step.get("true_keys"):
        yield f"{starter_recipe.TRUE_KEYS}."


def outcome(trials: Trials, searched: Searched, judged: Judged, others: Sequence[tuple[str, bool, float]]) -> list[str]:
    """Closing comments of the recipe: thresholds met, loss, suppressed values, extent of the search, alternatives."""
    n, nodes = trials.lattice.n, trials.lattice.size
    words = in_words(key_words(trials, judged.made.node))
    lines = [f"In all it {words}." if words.startswith(("keeps", "gives")) else f"In all: {words}."]
    if loss := about_loss(judged.made.loss, n):
        lines.append(f"Of what the keys tell, {loss} is lost.")
    hidden = {name: about_loss(share, n) for name, share in judged.made.gone.items()}
    if shares := [f"{printable(name)} {share}" for name, share in hidden.items() if share]:
        lines.append(f"Values taken out: {'; '.join(shares)}.")
    promise = judged.promise
    if kept := promise_kept(promise, judged.matched):
        lines.append(f"{kept}.")
    if told_of_most := caution(judged.resting / n, n, promise, judged.matched):
        lines.append(f"{told_of_most}.")
    elif judged.resting and (resting := about_loss(judged.resting / n, n)):
        enough = "" if kept else f" Where that is not enough, {INSTEAD}."
        lines.append(f"Of the records, {resting} reach k only through missing values of others.{enough}")
    if judged.gate:
        lines.append("Tried on the file: every threshold holds after these steps.")
    elif judged.failing:
        lines.append(
            f"Tried on the file: these thresholds do not hold, or could not be judged: {listed(judged.failing)}."
        )
        lines += starter_recipe.not_looked_for(judged.failing)
    else:
        lines.append("Tried on the file: every other threshold holds after these steps.")
    if judged.unrepaired:
        lines.append(f"Values cannot be taken out in another way here: {judged.unrepaired}.")
    if judged.unsaid:
        lines.append(f"Not judged, since the scenario does not say enough of the columns: {listed(judged.unsaid)}.")
    lines.append(
        f"Of {counted(nodes, 'combination')} of recodings, {searched.seen:,} were counted "
        f"and {len(searched.losses):,} tried; the others follow from them"
        f"{'' if searched.whole else ', or were not reached'}."
    )
    for other, passed, lost in others:
        about = about_loss(lost, n)
        loses = f" (loses {about})" if about else ""
        lines.append(f"Another: {other}{loses}{'' if passed else '; a threshold does not hold'}.")
    return lines


AIMS = (1, 2, 4)  # times the k that is asked for, where other thresholds do not hold
MOST_SEEN = 20_000
MOST_TRIED = 40
BESIDE = (2_000, 3)  # nodes counted and tried for an alternative
WITHIN = 0.1  # of the loss: what the caller's own measure chooses from
TRIED_AGAIN = (MOST_TRIED, 12, 12, 12)  # where few records may be matched back: combinations tried at each leeway
LEAST_LEEWAY = 1.25  # after the first
JUDGED = 3  # combinations held against every threshold at each aim
REPAIRS = 3  # of one of them
OTHER_DRAWS = tuple(bytes([i]) * len(recipe.TRIAL) for i in (1, 2))  # with which a recipe must hold, too
DRAWN_ONCE = 100_000  # records, beyond which a recipe is judged once
TAKEN_ONCE = 5_000  # records, beyond which the first recipe that passes is taken, though many records lose keys by it
BOUNDED = 0.05  # of the records, left to suppression: in the alternative shown first, and where nothing else holds
EARLY = (0.0, BOUNDED)  # shares of the first recipe that is handed over
OTHER_SHARES = {"no value taken out": 0.0, "more values taken out": 1.0, "very few values taken out": 0.01}

_Way = tuple[Trials, Search, "Searched", "Judged"]


@dataclass(eq=False)
class Begun:
    """What a search begins with, kept for where the same is asked for: its problem, and the node that passes early.

    `early` is empty where none does, and None where nobody looked yet.
    """

    trials: Trials | None = None
    early: list[tuple[Trials, Judged]] | None = None


@dataclass(frozen=True, eq=False)
class Asked:
    """Arguments of `propose` that guide the search."""

    keep: tuple[str, ...]
    importance: Mapping[str, float] | None
    allow: Mapping[str, str]
    loss: Loss | None
    control: Any
    until: float
    tell: Callable[[str], None]
    passing: Callable[[Trials, Judged], None] | None = None  # gets a node that passes, as soon as one does
    # gets what is being judged before the first passes, and None where it did not
    judging: Callable[[Candidate | None], None] = lambda _: None
    kept: Begun = field(default_factory=Begun)
    within: Callable[[str], None] = lambda _: None  # is told what is done while a node is judged
    repaired: dict[Any, Judged] = field(default_factory=dict)  # by node, options and aims

    @property
    def over(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() >= self.until


def at_aim(trials: Trials, aim: int) -> Trials:
    """The same trials with limits of `aim` times the declared k."""
    limits = {name: limits_of(trials.scenario.intruder(name), aim) for name in trials.scenario.intruders}
    sides = tuple(replace(side, limits=limits[side.name]) for side in trials.lattice.sides)
    lattice = replace(trials.lattice, sides=sides)
    return replace(trials, lattice=lattice, aims={name: own_limits.k for name, own_limits in limits.items()}, made={})


def find_best(trials: Trials, asked: Asked) -> tuple[Trials, Search, Searched, Judged]:
    """Search with ever stricter limits until a node passes every threshold; else return the one with fewest failures.

    The bound is that of the first search, at the thresholds themselves. The node of `pass_early` is returned where
    nothing that the search came to passes, or loses as little. It is looked for before the search where somebody waits
    for it or the time is limited, and else only where it could be returned.
    """
    early: list[tuple[Trials, Judged]] = []
    first = asked.passing is not None or asked.until < math.inf
    if first:
        early = pass_early(trials, asked)
    for way in early:
        if asked.passing is not None:
            asked.passing(*way)
    tried: list[_Way] = []
    bound, whole = math.inf, True
    for ways in _ways(trials, asked):
        for now in ways:
            search = _search(now, asked)
            searched = search.run()
            bound, whole = min(bound, searched.bound), whole and searched.whole
            fewer, search, searched = _matching_fewer(now, search, searched, asked)
            tried += _judged(fewer, search, replace(searched, bound=bound), asked)
            if asked.over and (tried or early):
                break
        settled = any(way[3].meets and (way[3].takes_few or trials.lattice.n > TAKEN_ONCE) for way in tried)
        if settled or (asked.over and (tried or early)):
            break
    meeting = [way for way in tried if way[3].meets]
    best = min(meeting, key=lambda way: (way[3].measured, way[3].made.loss), default=None)
    if not first and (best is None or _loses_less_early(trials, asked, best[3].measured, bound)):
        early = pass_early(trials, asked)
    if best is not None and all(best[3].measured <= judged.measured for _, judged in early):
        return best
    for now, judged in early:
        search, node = _search(now, asked), judged.made.node
        searched = min(tried, key=lambda way: way[3].distance)[2] if tried else Searched({}, bound, 0, whole=False)
        losses = {**searched.losses, node: judged.made.loss}
        return now, search, replace(searched, losses=losses, whole=False), judged
    if not tried:
        if asked.over and not whole:
            raise DataError(
                "the time given ended before a combination of recodings was found that leaves few enough records "
                "beyond the thresholds; give more time (time_limit), or keep fewer columns"
            )
        raise DataError(
            "no combination of recodings leaves few enough records beyond the thresholds; keep fewer columns, allow "
            "a larger share= to suppression, or declare hierarchies"
        )
    return min(tried, key=lambda way: way[3].distance)


def _matching_fewer(now: Trials, search: Search, searched: Searched, asked: Asked) -> tuple[Trials, Search, Searched]:
    """Search again where the best of all lets more records be matched back than may be.

    No more are expected to be than combinations of keys are left. So first only as many are allowed as there may be
    records matched back. Taking values out leaves fewer: then as many more are allowed as that did away with, and what
    lets too many be matched back is not taken.
    """
    ranked = searched.ranked()
    if not ranked or now.kept(ranked[0]) or asked.over:
        return now, search, searched
    asked.tell("looking for recodings by which fewer records are matched back")
    losses = {node: searched.losses[node] for node in ranked if now.kept(node)}
    way, seen, leeway = (now, search, replace(searched, losses=losses)), searched.seen, 1.0
    for tries in TRIED_AGAIN:
        again, least = replace(now, leeway=leeway), min(losses.values(), default=math.inf)
        other = replace(_search(again, asked), most_tried=len(losses) + tries, losses=dict(losses), best=least)
        result = other.run()
        seen += result.seen
        losses = {node: loss for node, loss in result.losses.items() if math.isfinite(loss)}
        way = again, other, replace(result, losses=losses, seen=seen, whole=False)
        if not losses:  # whatever lets fewest be matched back is the nearest
            return now, search, replace(searched, seen=seen, whole=False)
        if asked.over or min(losses.values()) >= least:
            break
        node = min(losses, key=lambda node: (losses[node], node))
        matched = again.made[node].matched * again.lattice.n
        leeway = max(LEAST_LEEWAY, again.lattice.most_combinations(node) / matched if matched else 0.0)
        if asked.loss is not None and now.goal is None:  # its releases are ranked by trying others near by
            return replace(now, leeway=leeway), *way[1:]
    return way


def _loses_less_early(trials: Trials, asked: Asked, least: float, bound: float) -> bool:
    """Whether a node of `pass_early` may lose less than the `least` so far; no node loses less than the `bound`."""
    if asked.loss is not None and trials.goal is None:
        return True  # what a release loses by another measure is known once it is made
    return least > bound + LEAST and any(now.least(node) < least for now, node in _early_nodes(trials, asked))


def _search(now: Trials, asked: Asked) -> Search:
    within = 0.0 if asked.loss is None or now.goal is not None else WITHIN
    return Search(now, MOST_SEEN, MOST_TRIED, until=asked.until, tell=asked.tell, within=within)


def _early_nodes(trials: Trials, asked: Asked) -> Iterator[tuple[Trials, Node]]:
    """Nodes of a greedy descent that leaves little to suppression; the search knows nothing of it."""
    for share in EARLY:
        now = replace(at_aim(trials, AIMS[0]), share=share)
        search = Search(now, BESIDE[0], 0, until=asked.until, tell=asked.tell)
        search.descend()
        yield from ((now, node) for node in search.least)


def pass_early(trials: Trials, asked: Asked) -> list[tuple[Trials, Judged]]:
    """The first of the early nodes that passes, kept for later.

    What has no value taken out is made and judged soonest. Large numbers are put in classes before it is made, and not
    once it was judged.
    """
    if asked.kept.early is None:
        try:
            asked.kept.early = list(_passing_early(trials, asked))
        except KeyboardInterrupt:
            asked.tell(INTERRUPTED)
            return []
    return asked.kept.early


def _passing_early(trials: Trials, asked: Asked) -> Iterator[tuple[Trials, Judged]]:
    for problem, node in _early_nodes(trials, asked):
        try:
            now = problem.with_classes(node, asked.keep)
            if (release := now.tried(node)) is None:
                continue
            asked.judging(_candidate(now, node, judge_cells(now, release)))
            judged = _measured(now, _repaired(now, node, asked), asked)
            if judged.meets:
                yield now.with_how(judged.how), judged.let_go()
                return
        except SdcError:  # of this recipe only, such as suppression in another way that fails
            pass
        asked.judging(None)


def _candidate(now: Trials, node: Node, verdicts: Sequence[Verdict]) -> Candidate | None:
    """What is known of a node once its cells are judged; None where a limit does not hold of them."""
    if any(verdict.holds is False for verdict in verdicts):
        return None
    open_limits = {verdict.name for verdict in verdicts if verdict.holds is None}
    held = tuple(dict.fromkeys(verdict.name for verdict in verdicts if verdict.name not in open_limits))
    scenario = now.scenario
    asked = [kind for kind in limits_asked(scenario.limits_of(compared=True).declared) if kind.name not in held]
    needed = ("ledger" if kind.scope == "ledger" else kind.needs for kind in asked)
    waiting = tuple(kind.name for kind, role in zip(asked, needed, strict=True) if getattr(scenario, role, True))
    return Candidate(key_words(now, node), now.made[node].loss, held, waiting)


def _judged(now: Trials, search: Search, searched: Searched, asked: Asked) -> list[_Way]:
    """The first ranked node that passes, else the one with fewest failures; empty where no release can be made."""
    nearest: list[_Way] = []
    for node in _ranked(now, searched, asked)[:JUDGED]:
        if asked.over and (nearest or asked.kept.early):
            break
        judged = _measured(now, _repaired(now, node, asked), asked)
        way = (now.with_how(judged.how), search, searched, judged)
        if judged.meets:
            if asked.passing is not None:
                asked.passing(way[0], judged)
            return [way]
        if not nearest or judged.distance < nearest[0][3].distance:
            nearest = [way]
    return nearest


def _measured(now: Trials, judged: Judged, asked: Asked) -> Judged:
    """Add the caller's loss of the release to a judged node."""
    if asked.loss is None:
        return replace(judged, measured=judged.made.loss)
    release = judged.released
    if release is None:
        release = now.with_how(judged.how).release(judged.made.node)
    return replace(judged, measured=measured(asked.loss, now.data, release))


def _ways(trials: Trials, asked: Asked) -> Iterator[list[Trials]]:
    """Versions of the problem, ever stricter; of the versions in one list the best outcome is taken.

    The least loss mostly needs much suppression; where that fails a threshold, stricter versions recode more.
    """
    bounded = [replace(trials, share=BOUNDED, made={})] if trials.share > BOUNDED else []
    yield [at_aim(trials, AIMS[0])]
    for before, aim in pairwise(AIMS):
        yield [at_aim(trials, aim), *(at_aim(problem, before) for problem in bounded)]
    yield [at_aim(problem, AIMS[-1]) for problem in bounded]
    if asked.allow:
        steps = tuple(
            {"method": method, "columns": [name for name, allowed in asked.allow.items() if allowed == method]}
            for method in dict.fromkeys(asked.allow.values())
        )
        drawn = [problem.with_how(replace(problem.how, draws=steps)) for problem in (trials, *bounded)]
        yield [at_aim(problem, 1) for problem in drawn]


def _ranked(trials: Trials, searched: Searched, asked: Asked) -> list[Node]:
    """The nodes tried, best first by the caller's loss, or by the information loss without one.

    Where each lets too many records be matched back, that of which fewest are comes first.
    """
    if asked.loss is None or trials.goal is not None:
        nodes = searched.ranked()
    else:
        asked.tell("measuring releases by loss=")
        nodes = [node for _, node in ranked_by(asked.loss, trials, searched, lambda: asked.over)]
    kept = [node for node in nodes if trials.kept(node)]
    return kept or sorted(nodes, key=lambda node: trials.made[node].matched)


def _repaired(trials: Trials, node: Node, asked: Asked) -> Judged:
    """A node as `_repair` leaves it, once for all searches that come to it."""
    place = (node, repr(trials.how), tuple(trials.aims.items()))
    if (judged := asked.repaired.get(place)) is None:
        judged = _repair(trials, node, asked)
        asked.repaired[place] = judged.let_go()
    return judged


def _repair(trials: Trials, node: Node, asked: Asked) -> Judged:
    """Check a node against every threshold; where suppressed values can be reconstructed, suppress in other ways.

    A way that fails is said and dropped: the node stays as it was judged before, and others may pass.
    """
    asked.tell(f"checking every threshold: {in_words(key_words(trials, node))}")
    hold = partial(judge, control=asked.control, keep=asked.keep, tell=asked.within, tries=recipe.Kept())
    judged = _drawn_again(trials, hold(trials, trials.made[node], trials.how, soon=True), hold)
    few = given_back.options_taking_more(judged, trials, given_back.FEW_TAKEN)
    if (taken := _without_reconstructed(trials, judged, few, asked, hold)) is not None:
        return taken
    many: How | None = None
    for _ in range(REPAIRS):
        how = None if judged.passed or asked.over else improved(judged, trials.scenario, asked.keep)
        many = many or (None if few else given_back.options_taking_more(judged, trials, given_back.MOST_TAKEN))
        if how is None:
            break
        asked.tell("taking values out in another way: some can be reconstructed")
        try:
            judged = _drawn_again(trials, hold(trials, trials.with_how(how).make(node), how), hold)
        except SdcError as error:
            asked.tell(f"this combination is dropped: {error}")
            if not judged.verdicts:
                judged = hold(trials, trials.made[node], trials.how)
            judged = replace(judged, unrepaired=str(error))
            break
    return _without_reconstructed(trials, judged, many, asked, hold) or judged


def _without_reconstructed(trials: Trials, judged: Judged, how: How | None, asked: Asked, hold: Hold) -> Judged | None:
    """A judged node that passes once records lose keys by these options and those for what is left; else None."""
    while how is not None and not (judged.passed or asked.over):
        asked.tell("taking keys out of the records that can be reconstructed")
        try:
            judged = _drawn_again(trials, hold(trials, trials.with_how(how).make(judged.made.node), how), hold)
        except SdcError:  # such as a file in which the records left are too few; other ways are tried
            return None
        how = given_back.options_taking_more(judged, trials, given_back.MOST_TAKEN)
    return judged if judged.passed and judged.how.taken else None


def _drawn_again(trials: Trials, judged: Judged, hold: Hold) -> Judged:
    """A node that passes, unless it fails with other random draws: ties of a suppression are broken by them."""
    if trials.lattice.n > DRAWN_ONCE or not judged.made.drawn or not judged.passed:
        return judged
    held = (hold(trials, judged.made, judged.how, secret=secret) for secret in OTHER_DRAWS)
    return next((again for again in held if not again.passed), judged)


def variants(trials: Trials, search: Search, judged: Judged, asked: Asked, count: int) -> Iterator[tuple[str, Judged]]:
    """Alternative recipes: fewer suppressions, or one key finer, starting with the key that loses most in the best."""
    made = {judged.made.node}
    for words, now, other_search in _searches_beside(trials, search, judged, asked):
        if len(made) > count or asked.over:
            return
        nodes = [other for other in other_search.run().ranked() if now.kept(other)]
        if "finer" in words:  # of other shares only the best tells anything
            nodes = [other for other in nodes if other not in made]
        if nodes and nodes[0] not in made:
            made.add(nodes[0])
            other = _repaired(now, nodes[0], asked)
            if not other.broken:
                yield words, other


def _searches_beside(
    trials: Trials, search: Search, judged: Judged, asked: Asked
) -> Iterator[tuple[str, Trials, Search]]:
    """Searches for the alternatives, each with a description of the difference."""
    node, lattice = judged.made.node, trials.lattice
    yield from _other_shares(trials, asked, {"fewer values taken out": BOUNDED})
    order = sorted([j for j in range(len(node)) if node[j] > 0], key=lambda j: (-lattice.lost[j][node[j]], j))
    for number, j in enumerate(order):
        if number == 1:
            yield from _other_shares(trials, asked, OTHER_SHARES)
        finer_search = Search(trials, *BESIDE, until=asked.until, tell=asked.tell, known=search)
        finer_search.finer(j, node[j])
        yield f"{printable(lattice.ladders[j].key)} finer", trials, finer_search
    if len(order) < 2:
        yield from _other_shares(trials, asked, OTHER_SHARES)


def _other_shares(trials: Trials, asked: Asked, shares: Mapping[str, float]) -> Iterator[tuple[str, Trials, Search]]:
    """Searches with a smaller or larger share of records left to suppression."""
    for words, share in shares.items():
        if share != trials.share and (share < trials.share) is (not words.startswith("more")):
            now = replace(trials, share=share, made={})
            yield words, now, Search(now, *BESIDE, until=asked.until, tell=asked.tell)
