"""`propose`: the recipe with the least information loss that meets every threshold of a scenario."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sdckit.data import arguments, frames, limits, replace
from sdckit.data.losses import INFORMATION, LOSSES, OF_CALLER
from sdckit.data.nearest import did_you_mean
from sdckit.data.scenarios.scenario import Scenario
from sdckit.data.scenarios.scenario_toml import INSIDE
from sdckit.errors import ColumnError, DataError, ScenarioError, SdcError
from sdckit.numerics.threads import WORKER, job, result_of
from sdckit.workflow.check import require_gate
from sdckit.workflow.proposing import find_best
from sdckit.workflow.proposing.find_best import Asked, Begun, Loss
from sdckit.workflow.proposing.proposal import Alternative, Candidate, Proposal, in_words
from sdckit.workflow.proposing.search import LEAST, Searched, goal_of
from sdckit.workflow.proposing.trials import Judged, Trials, all_steps, limits_of, open_lattice, surrounding_steps
from sdckit.workflow.recipes import exact_relations, given_back, recipe, recipe_checks, recipe_figures
from sdckit.workflow.recipes.starter_recipe import from_folder, write_starter

# Writing the proposal: its recipe, the comments, the alternatives.


TITLE = "A proposed recipe"


def write_proposal(
    trials: Trials, searched: Searched, judged: Judged, others: Sequence[tuple[str, Judged]],
    columns: Sequence[str], folder: Path | None, head: Sequence[str], *, by: str = INFORMATION, by_loss: bool = True,
) -> Proposal:  # fmt: skip
    """Build the proposal for a file of these `columns`, with the least loss `by` name.

    `by_loss`: no combination has less of that loss than the search takes it to have.
    """
    scenario, lattice = trials.scenario, trials.lattice
    alternatives = tuple(_alternative(trials, why, other, columns, folder) for why, other in others)
    before, after = surrounding_steps(scenario, columns)
    beside = [(alternative.words, alternative.passed, alternative.loss) for alternative in alternatives]
    closing = (None, find_best.outcome(trials, searched, judged, beside))
    reasons = find_best.step_reasons(trials, searched, judged)
    every = [*given_back.mixed_before([*before, *judged.mended.steps, *reasons], after), closing]
    steps = [(step and from_folder(step, scenario.folder, folder), lines) for step, lines in every]
    optimal = by_loss and judged.passed and _is_best(trials, searched, judged)
    bound = searched.bound  # of the information, which another goal says nothing of
    if trials.goal is not None:
        bound = judged.made.loss if optimal else 0.0
    return Proposal(
        recipe=_recipe(trials, judged, columns, folder), text=write_starter(TITLE, head, steps, judged.mended),
        passed=judged.gate, loss=judged.made.loss,
        bound=min(bound, judged.made.loss), risk=judged.risk, optimal=optimal,
        keys=find_best.key_words(trials, judged.made.node), hidden=judged.made.gone,
        resting=judged.resting / lattice.n,
        exceeded=tuple(dict.fromkeys(verdict.name for verdict in judged.verdicts if verdict.holds is False)),
        unjudged=tuple(dict.fromkeys(verdict.name for verdict in judged.verdicts if verdict.holds is None)),
        impossible=tuple(
            f"{verdict.intruder}: {verdict.sentence}" for verdict in judged.verdicts if verdict.holds is not True
        ),
        alternatives=alternatives, n=lattice.n, nodes=lattice.size, seen=searched.seen, tried=len(searched.losses),
        by=by, measured=judged.measured, expected=judged.expected, small=judged.small, promise=judged.promise,
        matched=judged.matched,
    )  # fmt: skip


def _is_best(trials: Trials, searched: Searched, judged: Judged) -> bool:
    """Whether the node is a proven optimum: every node was settled, at the declared limits and without extra steps."""
    scenario = trials.scenario
    sampled = scenario.weight is not None or scenario.sampling_fraction is not None
    estimated = any(side.limits.risk or side.limits.global_risk for side in trials.lattice.sides)
    asked = all(limits_of(scenario.intruder(name)).k == k for name, k in trials.aims.items())
    least = judged.measured <= searched.bound + LEAST
    return searched.whole and asked and least and not trials.how.draws and not (sampled and estimated)


def _alternative(trials: Trials, why: str, judged: Judged, columns: Sequence[str], folder: Path | None) -> Alternative:
    keys = find_best.key_words(trials, judged.made.node)
    return Alternative(
        _recipe(trials, judged, columns, folder), f"{why}: {in_words(keys)}", keys, judged.made.loss, judged.risk,
        judged.resting / trials.lattice.n, judged.gate, judged.failing, judged.expected, judged.small,
    )  # fmt: skip


def _recipe(trials: Trials, judged: Judged, columns: Sequence[str], folder: Path | None) -> recipe.Recipe:
    steps = all_steps(trials.scenario, columns, judged.made, judged.mended)
    return recipe.Recipe(
        [from_folder(step, trials.scenario.folder, folder) for step in steps], title=TITLE,
        folder=folder or trials.scenario.folder, derived=judged.mended.derived,
    )  # fmt: skip


AIMED_AT = tuple(name for name, kind in limits.LIMITS.items() if kind.aimed)
HEAD = "A recipe found by sdckit: of the recodings looked at, the one that loses least of what the keys tell."
BEST_BY = "A recipe found by sdckit: of the recodings looked at, the one with the least loss, which is here"
READ_IT = "Shares are ranges. Read it through: sdckit does not know what the columns mean."
OWN = "own"  # a loss of the caller
ALLOWED = ("pram", "synthesize")


def propose(
    data: Any,
    *,
    scenario: Scenario,
    keep: Sequence[str] = (),
    prefer: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    importance: Mapping[str, float] | None = None,
    allow: Mapping[str, str] | None = None,
    share: float = 1.0,
    loss: str | Loss = "information",
    formula: str | None = None,
    family: str = "linear",
    alternatives: int = 3,
    control: Any = None,
    internal: bool = False,
    folder: str | Path | None = None,
    time_limit: float | None = None,
    step: Callable[[str], None] | None = None,
) -> Proposal:
    """Search for the recipe that loses least of what the keys tell while every threshold of the scenario holds.

    Parameters
    ----------
    data : data frame in memory
        pandas, Polars or PyArrow; it is not modified.
    scenario : Scenario
        All its intruders at once; with a threshold on k, l, the risk or the mean risk. Its hierarchies, and what it
        says is numeric or ordered, make the recodings.
    keep : sequence of str
        Columns that are released as they are: not recoded, not left out. A value of theirs is taken out only where
        those of other keys do not do.
    prefer : mapping of str to sequence of mapping, optional
        The recodings to try for a key instead of ours, finest first, each as the arguments of `recode` (or with
        ``method``): ``{"age": [{"bands": [0, 30, 60, None]}]}``.
    importance : mapping of str to number, optional
        As in `local_suppression`: 1 for the key to protect most, a larger number for one that may go first. The loss
        counts a key by one over its number; keys not named have 1.
    allow : mapping of str to {"pram", "synthesize"}, optional
        Columns that may be drawn anew where recodings and suppression do not do, and how.
    share : float
        Of the records, those that the recodings may leave beyond a threshold at most; suppression does the rest.
        By default the loss decides how much is recoded and how much taken out, as far as no more records are expected
        to be matched back than k promises. Many records may still reach k only through missing values of others
        (``resting``): 0.05 bounds it.
    loss : {"information", "pmse", "model"}, name of a figure, or callable
        What a release loses: of what the keys tell (see below); how well logistic regression tells it from the file,
        by `propensity`; one less the mean overlap of the intervals of a regression, by `compare_models`; a figure of
        `generalization_loss` on the keys: "loss", "precision" (what it lacks to 1), "entropy_share", "entropy",
        "height" (of the values that are left), "discernibility", "average_class_size" or "ambiguity"; or your own
        measure, called with the file and with a release of it, which gives a number, less being better. The figures are
        searched by (the last three where there are few enough records and combinations); all else but the first ranks
        the releases that are tried: those near the best, keys as they are or left out, and neighbours.
    formula : str, optional
        The regression of "model".
    family : {"linear", "logistic", "poisson", "multinomial"}
        Of that regression.
    alternatives : int
        How many recipes to look for beside the best, 0 or more: first one that leaves at most 0.05 of the records to
        suppression, then some that keep a key finer, or take no value out.
    control : data frame, optional
        People who were never used; the threshold on the residual risk needs them.
    internal : bool
        Whether recodings that name values few records have are taken, too. The recipe then stays in the room.
    folder : str or Path, optional
        Where the recipe is to lie: paths of hierarchies start there. Default the folder of the scenario.
    time_limit : float, optional
        Seconds after which the search goes on with the best so far. With it, what is found depends on the machine.
    step : callable, optional
        Is told in words how far it is.

    Returns
    -------
    Proposal
        ``recipe``, ``text`` with the comments, ``passed``, ``loss``, ``bound``, ``optimal``, ``alternatives``, and what
        was ``impossible``.

    Raises
    ------
    ScenarioError
        No scenario, no threshold that recodings could aim at, one that does not hold even if all records are alike, or
        guesses in it that nobody has confirmed.
    ColumnError
        A column of the scenario or of an argument is absent.
    DataError
        Recodings in `prefer` that do not follow from each other or that do not fit.

    Notes
    -----
    Every key has a ladder of recodings: as it is; coarser and coarser; left out. A combination of rungs is looked at
    only on the cells. Let h be the entropy of a key in the file, a missing value being a value, h′ after its recoding,
    s the share of its values taken out, and v its weight, one over its importance. The loss is
    ``1 - Σ v (1 - s) h′/h / Σ v``: 0 for the file as it is, 1 where nothing is left.

    Recodings merge cells. So where a combination leaves too many records beyond a threshold on k or l, each finer one
    does, and where it leaves few enough, each coarser one does. A combination cannot lose less than its recodings and
    the values that suppression takes out at least. Combinations are settled by these two rules, the least loss first;
    what might be the best is tried on the file with suppression of the rest. ``optimal`` says that all were settled:
    then no combination of these rungs loses less, with the suppression of this program. With thresholds on the
    risk of a sample the first rule is all but always right, and nothing is called optimal.

    The best is then applied, and held against every threshold as `check` does, with those on households, matches,
    attacks, and on what the release gives back. If one does not hold, columns that give back a key lose their values
    with it, or are left out; then the next combinations are tried; then those for two and four times the k, and those
    that leave at most 0.05 of the records to suppression; then the columns in `allow` are drawn anew. What was still
    not met stands in ``impossible``. Ctrl-C ends the search with the best so far.

    A limit of k promises that nobody is found with a chance above one in k, which records that reach k through missing
    values of others do not keep. So without a limit on records matched back in the scenario, no more than one over k
    of them are expected to be, for each intruder: ``kept`` says so, and ``caution`` where no recipe was found by which
    that is so. What keeps it at a larger loss than the best of all is never called ``optimal``.

    A missing key is no wildcard to l: records that lack different keys are in different groups. Groups with too few
    sensitive values lose one key, then half of them, then all.

    References
    ----------
    Samarati, P. (2001). Protecting respondents' identities in microdata release. IEEE Transactions on Knowledge and
    Data Engineering 13(6). El Emam, K. et al. (2009). A globally optimal k-anonymity method for the de-identification
    of health data. Journal of the American Medical Informatics Association 16(5). Kohlmayer, F., Prasser, F., Eckert,
    C., Kemper, A. and Kuhn, K. A. (2012). Flash: efficient, stable and optimal k-anonymity. PASSAT 2012.

    Examples
    --------
    >>> import polars as pl
    >>> from sdckit import Scenario, propose
    >>> survey = pl.DataFrame({"age": [18 + i % 67 for i in range(600)], "sex": ["f", "m", "f"] * 200})
    >>> found = propose(survey, scenario=Scenario(keys=["age", "sex"], thresholds={"k": 5}), share=0.05)
    >>> found.passed, found.optimal, found.words
    (True, True, 'keeps sex as it is; age in 14 bands')
    """
    with job():
        if arguments.scenario_or_none(scenario) is None:
            raise ScenarioError("scenario= is missing: its thresholds are what has to hold", argument="scenario")
        frame = replace.open_eager(data, {})
        if folder is not None and not isinstance(folder, str | Path):
            raise ScenarioError("folder= is a path, where the recipe is to lie", argument="folder")
        return make_proposal(
            data, scenario, columns=frame.columns, keep=arguments.names(keep, "keep") or (), prefer=prefer,
            importance=importance, allow=allow, share=share,
            loss=loss, formula=formula, family=family, alternatives=alternatives, control=control, internal=internal,
            folder=None if folder is None else Path(folder), time_limit=time_limit, step=step,
        )  # fmt: skip


def make_proposal(
    data: Any, scenario: Scenario, *, columns: Sequence[str], keep: Sequence[str] = (),
    prefer: Mapping[str, Sequence[Mapping[str, Any]]] | None = None, importance: Mapping[str, float] | None = None,
    allow: Mapping[str, str] | None = None, share: float = 1.0, loss: str | Loss = "information",
    formula: str | None = None, family: str = "linear", alternatives: int = 3,
    control: Any = None, internal: bool = False, folder: Path | None = None, time_limit: float | None = None,
    step: Callable[[str], None] | None = None, then: Sequence[str] = (), kept: Begun | None = None,
    passing: Callable[[Alternative], None] | None = None, judging: Callable[[Candidate | None], None] = lambda _: None,
) -> Proposal:  # fmt: skip
    """`propose` for a file of these `columns`, of which `data` need not hold the identifiers.

    `then`: lines that end the comment at the head of the recipe. `kept`: what `begin_proposal` made of the same file
    and scenario, where nothing is wished for. `passing` gets each recipe that loses less than those before it and holds
    every threshold, before the search ends; `judging` gets what may be the first of them while it is judged, and None
    where it fails.
    """
    arguments.flag(internal, "internal")
    arguments.share(share, "share", "is a share of the records")
    arguments.count(alternatives, "alternatives", "counts recipes beside the best", at_least=0)
    until = math.inf
    if time_limit is not None:
        until = time.monotonic() + arguments.amount_above(time_limit, "time_limit", "is a number of seconds")
    _check_control(control)
    frame = replace.open_eager(data, {})
    scenario.changed(identifiers=()).check_columns(frame.columns)
    _require_aim(data, scenario)
    keys = scenario.all_keys
    numbers = _importance(importance, keys, keep)
    _check_names("keep", keep, frame.columns)
    allowed = _allowed(allow, frame.columns)
    tell = step or (lambda _: None)
    given = frame.drop([name for name in scenario.identifiers if name in frame.columns]).to_native()
    measure = find_best.measure_of(loss, formula, family, given, scenario)
    least = [math.inf]

    def passes(within: Trials, judged: Judged) -> None:
        if passing is not None and judged.measured < least[0]:
            least[0] = judged.measured
            passing(_alternative(within, "passes", judged, columns, folder))

    heard = passes if passing is not None else None
    asked = Asked(tuple(keep), numbers, allowed, measure, control, until, tell, heard, judging, kept or Begun())
    weights = {} if numbers is None else {key: 1 / number for key, number in numbers.items()}
    trials = _open_trials(
        given, scenario, asked, share=share, prefer=_preferred(prefer, keys), weights=weights, internal=internal
    )  # fmt: skip
    if isinstance(measure, recipe_figures.CoarseningLoss):
        trials.goal = goal_of(measure, trials.lattice, given, trials.recoded)
    trials, search, searched, judged = find_best.find_best(trials, asked)
    others = list(find_best.variants(trials, search, judged, asked, alternatives))
    by = loss if isinstance(loss, str) else OWN
    return write_proposal(
        trials, searched, judged, others, columns, folder, [_head(by), READ_IT, INSIDE, *then], by=by,
        # A bound: no release of a combination has less of the loss searched by than its recodings alone.
        by_loss=measure is None or (trials.goal is not None and (trials.goal.certain or trials.share == 0)),
    )  # fmt: skip


def begin_proposal(
    data: Any, scenario: Scenario, kept: Begun, *, internal: bool = False, step: Callable[[str], None]
) -> None:
    """Do ahead what a search with no wishes begins with, up to the recipe that passes early."""
    _require_aim(data, scenario)
    asked = Asked((), None, {}, None, None, math.inf, step, kept=kept, within=step)
    trials = _open_trials(data, scenario, asked, share=1.0, prefer={}, weights={}, internal=internal)
    find_best.pass_early(trials, asked)


def _require_aim(data: Any, scenario: Scenario) -> None:
    """Raise where the scenario is no gate, or has no threshold that recodings could aim at, or one out of reach."""
    require_gate(scenario, compared=True)
    if not any(name in scenario.limits.declared for name in AIMED_AT):
        raise ScenarioError(
            "the scenario has no threshold that recodings could aim at; add [thresholds] with k, l or risk, or a type "
            "of release"
        )
    recipe_checks.require_reach(data, scenario)


def _open_trials(
    given: Any, scenario: Scenario, asked: Asked, *, share: float, prefer: Mapping[str, Sequence[dict[str, Any]]],
    weights: Mapping[str, float], internal: bool,
) -> Trials:  # fmt: skip
    """The problem of the search; relations between columns are looked for meanwhile."""
    if asked.kept.trials is None:
        asked.tell("finding recodings")
        relations = begun(lambda: exact_relations.relations_of(given, scenario))
        lattice = open_lattice(given, scenario, keep=asked.keep, prefer=prefer, weights=weights, internal=internal)
        asked.kept.trials = Trials(
            given, scenario, lattice, share, asked.importance, internal=internal, relations=relations
        )
    return asked.kept.trials


def _head(by: str) -> str:
    """What the recipe is, in a sentence.

    >>> _head("pmse")[-69:]
    'which is here: how well a regression tells the release from the file.'
    """
    return HEAD if by == INFORMATION else f"{BEST_BY}: {LOSSES.get(by, OF_CALLER)}."


def _check_control(control: Any) -> None:
    if control is not None:
        try:
            frames.open_frame(control)
        except SdcError as error:
            raise type(error)(f"control: {error}", argument="control") from None


def _importance(
    given: Mapping[str, float] | None, keys: Sequence[str], keep: Sequence[str]
) -> Mapping[str, float] | None:
    """Importance of each key, smaller for the keys to keep; None where nothing is asked for."""
    numbers = arguments.mapping(given or {}, "importance", "is {key: number}")
    _check_names("importance", numbers, keys)
    says = "of a key is 1 for the one to protect most"
    by_key = {key: arguments.amount_above(numbers.get(key, 1.0), "importance", says) for key in keys}
    if not numbers and not set(keep) & set(keys):
        return None
    first = min(by_key.values())
    return {key: first / 2 if key in keep else number for key, number in by_key.items()}


def _preferred(
    given: Mapping[str, Sequence[Mapping[str, Any]]] | None, keys: Sequence[str]
) -> dict[str, list[dict[str, Any]]]:
    """Validate `prefer`: recodings to try, by key."""
    says = "is {key: [recodings]}, each recoding the arguments of recode, finest first"
    by_key = arguments.mapping(given or {}, "prefer", says)
    _check_names("prefer", by_key, keys)
    for recodings in by_key.values():
        steps = isinstance(recodings, Sequence) and not isinstance(recodings, str) and len(recodings) > 0
        if not steps or not all(isinstance(step, Mapping) for step in recodings):
            raise DataError(f"prefer= {says}", argument="prefer")
    return {str(key): [dict(step) for step in recodings] for key, recodings in by_key.items()}


def _allowed(given: Mapping[str, str] | None, columns: Sequence[str]) -> Mapping[str, str]:
    methods = arguments.mapping(given or {}, "allow", 'is {column: "pram" or "synthesize"}')
    _check_names("allow", methods, columns)
    for method in methods.values():
        arguments.choice(method, "allow", ALLOWED)
    return methods


def _check_names(role: str, names: Any, offered: Sequence[str]) -> None:
    for name in names:
        if name not in offered:
            raise ColumnError(f"{role}: {name!r} is not among them; {did_you_mean(str(name), offered)}", argument=role)


# Work that is begun on a thread of its own and waited for where its result is needed.


R = TypeVar("R")


def begun(make: Callable[[], R]) -> Callable[[], R]:
    """Begin work that is beside the rest: give what waits for its result, or raises its error, at every call.

    No warning is to come of it, since they are caught by process and not by thread.

    >>> begun(lambda: 2 + 2)()
    4
    """
    alone = ThreadPoolExecutor(1, thread_name_prefix=WORKER)  # kernels of it leave the other threads to the rest
    work = alone.submit(make)
    alone.shutdown(wait=False)
    return partial(result_of, work)
