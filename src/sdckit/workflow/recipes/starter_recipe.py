"""`starter_recipe`: a greedy recipe of advised recodings and local suppression, each step with its reason."""

from __future__ import annotations

import math
import os
import re
import tomllib
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from textwrap import wrap
from types import MappingProxyType
from typing import Any

import numpy as np

from sdckit.cells.pair import open_files
from sdckit.data import arguments, derived_formula, households, methods
from sdckit.data.columns import MONTHS, code_column, float_values
from sdckit.data.limits import FOLLOWING, LIMITS
from sdckit.data.replace import lend_rows, open_eager
from sdckit.data.scenarios.scenario import Scenario
from sdckit.data.scenarios.scenario_toml import INSIDE, toml_string
from sdckit.display import Displayed, plain_html, printable
from sdckit.errors import DataError, ScenarioError, SdcError, SdcWarning, sure
from sdckit.identity.contributions.coarsening import entropy, every_second, in_bands, step_text
from sdckit.protect.recoding.coarsen_weights import TELLS, told_by
from sdckit.report.chapters.sentences import RESTING, listed
from sdckit.report.views.key_contributions import UNSTEPPED
from sdckit.utility.weighted_totals import BEYOND, moved_figures
from sdckit.workflow.assess import assess_read
from sdckit.workflow.recipes import given_back, recipe_checks, recipe_steps
from sdckit.workflow.recipes.exact_relations import Mended, mend_relations, relations_of
from sdckit.workflow.recipes.given_back import CommentedStep
from sdckit.workflow.recipes.number_steps import number_steps
from sdckit.workflow.recipes.recipe import Applied, Kept, Recipe, recodings_of, tried

# The text of a starter recipe, with a comment above each step.
# A recipe may be published with its file, so its figures are shares in ranges of ten records or more.


FEWEST_RECORDS = 50  # of fewer nothing is said
RECORDS_IN_A_STEP = 10
PERCENT = 5
WIDTH = 100
COMMENT = re.compile(r"(?:^#.*\n)+", re.MULTILINE)


def about_share(count: int, n: int) -> str:
    """A share of the records as a range of whole percents, at least ten records wide; "" for a small file.

    >>> about_share(894, 944), about_share(3, 944), about_share(30, 60), about_share(1, 20)
    ('90 to 95 %', 'under 5 %', '40 to 60 %', '')
    """
    if n < FEWEST_RECORDS:
        return ""
    step = PERCENT * math.ceil(100 * RECORDS_IN_A_STEP / n / PERCENT)
    low = min(100 * count // n // step, 100 // step - 1) * step
    high = low + step if low < (100 // step - 1) * step else 100
    return f"{low} to {high} %" if low else f"under {step} %"


def write_starter(
    title: str, head: Sequence[str], commented: Sequence[CommentedStep], mended: Mended | None = None
) -> str:  # fmt: skip
    """Write a recipe as TOML with comments.

    >>> print(write_starter("Mine", ["A start."], [({"method": "random_order"}, ["Mixed."])]), end="")
    # A start.
    <BLANKLINE>
    title = "Mine"
    <BLANKLINE>
    # Mixed.
    [[steps]]
    method = "random_order"
    """
    blocks = [_comment(head), f"title = {toml_string(title)}"]
    if mended is not None and mended.derived:
        blocks.append(f"{_comment(mended.why)}\n{derived_formula.ENTRY} = {recipe_steps.written(mended.derived)}")
    blocks += ["\n".join(part for part in (_comment(lines), step_text(step)) if part) for step, lines in commented]
    return "\n\n".join(blocks) + "\n"


def comments_in(text: str, say: Callable[[str], str]) -> str:
    r"""Replace the comments of a recipe by `say(comment)`, wrapped anew; commands in them stay.

    >>> print(comments_in("# A start.\n#   sdckit check\n[[steps]]\n", str.upper), end="")
    # A START.
    #   sdckit check
    [[steps]]
    """
    return COMMENT.sub(lambda match: f"{_comment(_reworded(match[0], say))}\n", text)


def _reworded(comment: str, say: Callable[[str], str]) -> Iterator[str]:
    lines = (line[2:] for line in comment.splitlines())
    for command, group in groupby(lines, key=lambda line: line.startswith(" ")):
        block = list(group)
        yield from block if command else [say(" ".join(block))]


def _comment(lines: Iterable[str]) -> str:
    return "\n".join(f"# {part}" for line in lines for part in _folded(line))


def _folded(line: str) -> list[str]:
    """Wrap a line to a readable width; an indented line is a command and stays whole."""
    whole = line.startswith(" ") or not line
    return [line] if whole else wrap(line, WIDTH, break_long_words=False, break_on_hyphens=False)


# Greedy recoding of the keys: the step that protects most records per bit of information lost comes first.


Step = dict[str, Any]
FEWEST_BANDS = 3  # a key in fewer bands says little more than a missing one
DEFAULT_K = 2  # alone or not, where no k is asked for
NEARLY_ALL = 0.95  # of the records
RARE = 0.5  # least number of different values, over that of the records, of a key that no grouping helps
LEAST_LOST = 1e-9  # bits: a step that loses nothing comes first


@dataclass(frozen=True)
class Coarser:
    """One recoding of a key: the step, and the records over a limit before and after, by intruder."""

    key: str
    step: Step
    before: Mapping[str, Over]
    after: Mapping[str, Over]

    @property
    def helps(self) -> bool:
        """Whether it brings a record within a limit by itself, after the steps before it."""
        return any(_saved(self.before[name], over) > 0 for name, over in self.after.items())


@dataclass(frozen=True, eq=False)
class Way:
    """State of the greedy search for recodings.

    `first`: the advised step of each key; `unstepped`: the scale of each key without one; `steps`: the current
    recoding of each key; `done`: every step taken. `idle`: too many records are over a limit, and no step helps any.
    """

    original: Any
    data: Any
    scenario: Scenario
    first: Mapping[str, Step]
    unstepped: Mapping[str, str]
    over: Mapping[str, Over]
    steps: Mapping[str, Step]
    done: tuple[Coarser, ...] = ()
    idle: bool = False


def wanted_k(scenario: Scenario) -> int | None:
    """The k that meets the limit on k and, in a file that is the whole population, on the risk.

    >>> from sdckit import Scenario
    >>> wanted_k(Scenario(keys=["age"], thresholds={"k": 3, "risk": 0.1}))
    10
    >>> wanted_k(Scenario(keys=["age"], thresholds={"k": 3, "risk": 0.1}, weight="w"))
    3
    """
    k, risk = scenario.limits.k, scenario.limits.risk
    if risk is None or scenario.weight is not None or scenario.sampling_fraction not in (None, 1.0):
        return k
    return max(k or DEFAULT_K, math.ceil(1 / risk - LEAST_LOST))


def over_limits(data: Any, scenario: Scenario) -> dict[str, int]:
    """Number of records over a limit on k or on the risk, by intruder."""
    return {name: _over(data, scenario.intruder(name)).records for name in scenario.intruders}


@dataclass(frozen=True)
class Over:
    """Records over a limit on k or on the risk, and expected re-identifications over the limit on the mean risk."""

    records: int = 0
    expected: float = 0.0


def _over(data: Any, scenario: Scenario) -> Over:
    from sdckit.cells.as_cells import tabulate_roles
    from sdckit.data.scenarios.roles import resolve_roles
    from sdckit.identity.individual_risk import individual_risk
    from sdckit.identity.k_anonymity import k_anonymity

    limits, counts, expected = scenario.limits, [0], 0.0
    cells = tabulate_roles(data, resolve_roles(scenario=scenario))
    if (k := wanted_k(scenario)) is not None:
        counts.append(k_anonymity(cells, k=[k]).violations[k])
    if limits.risk is not None or limits.global_risk is not None:
        risk = individual_risk(cells, threshold=limits.risk)
        counts.append(risk.n_above or 0)
        expected = max(0.0, (risk.global_risk - (limits.global_risk or 1.0)) * risk.n)
    return Over(max(counts), expected)


def _all_over(data: Any, scenario: Scenario) -> dict[str, Over]:
    return {name: _over(data, scenario.intruder(name)) for name in scenario.intruders}


def coarsen_keys(data: Any, scenario: Scenario, *, share: float, internal: bool) -> Way:
    """Recode keys greedily until at most `share` of the records is over a limit for each intruder, or nothing helps.

    No suppression follows for a limit on the mean risk, so it has to hold.
    """
    first, unstepped = _advice(data, scenario, internal=internal)
    uncoarsened = way = Way(data, data, scenario, first, unstepped, _all_over(data, scenario), {})
    most, nearly = (part * len(open_eager(data, {})) for part in (share, NEARLY_ALL))
    while too_many := [name for name, over in way.over.items() if over.records > most or over.expected]:
        # while nearly all are over a limit, none may be helped by one key alone: born on a day, admitted on another
        stuck = min(way.over[name].records for name in too_many) > nearly
        best = _best(way, too_many) or (_most_telling(way, too_many) if stuck else None)
        if best is None:
            break
        coarser, data = best
        steps = {**way.steps, coarser.key: coarser.step}
        way = replace(way, data=data, over=coarser.after, steps=steps, done=(*way.done, coarser))
    return way if any(coarser.helps for coarser in way.done) else replace(uncoarsened, idle=bool(too_many))


def _advice(data: Any, scenario: Scenario, *, internal: bool) -> tuple[dict[str, Step], dict[str, str]]:
    """First advised step of each key, if it names no rare value; for the other keys their scale, or "rare"."""
    from sdckit.identity.contributions.key_contributions import key_contributions

    first: dict[str, Step] = {}
    unstepped: dict[str, str] = {}
    frame = open_eager(data, {})
    for name in scenario.intruders:
        intruder = scenario.intruder(name).changed(person=None)
        advised = key_contributions(data, scenario=intruder, pairs=False).coarsenings
        for key, row in advised.items():
            if row.step and (row.step_is_public or internal):
                first.setdefault(key, tomllib.loads(row.step)["steps"][0])
            else:
                unstepped.setdefault(key, row.scale)
        left = [key for key in scenario.intruders[name] if key not in advised]
        unstepped = {key: "rare" for key in left if frame[key].n_unique() >= RARE * len(frame)} | unstepped
    return first, unstepped


def _best(way: Way, intruders: Sequence[str]) -> tuple[Coarser, Any] | None:
    """The step with the largest reduction of records over a limit per bit lost, and its data; None if none helps."""
    best, chosen = (0.0, ""), None
    for key in dict.fromkeys(key for name in intruders for key in way.scenario.intruders[name]):
        for step, data in _trials(way, key):
            after = _all_over(data, way.scenario)
            saved = sum(_saved(way.over[name], after[name]) for name in intruders)
            if saved <= 0:
                continue
            lost = max(_bits(way.data, key) - _bits(data, key), LEAST_LOST)
            rank = (-float(f"{saved / lost:.9g}"), key)
            if rank < best:
                best, chosen = rank, (Coarser(key, step, way.over, after), data)
            break  # a coarser one is looked at when this one has been taken
    return chosen


def _most_telling(way: Way, intruders: Sequence[str]) -> tuple[Coarser, Any] | None:
    """The next step on the key that tells most of those that have one, and its data; None if none has."""
    keys = dict.fromkeys(key for name in intruders for key in way.scenario.intruders[name])
    for bits, key in sorted(((_bits(way.data, key), key) for key in keys), reverse=True):
        for step, data in _trials(way, key):
            if _bits(data, key) < bits:
                return Coarser(key, step, way.over, _all_over(data, way.scenario)), data
    return None


def _saved(before: Over, after: Over) -> float:
    return before.records - after.records + before.expected - after.expected


def _trials(way: Way, key: str) -> Iterator[tuple[Step, Any]]:
    """The further steps of a key that can be carried out, with the data after each."""
    for step in _steps_after(way, key):
        with suppress(SdcError):  # such as a value that a hierarchy has not at this level
            yield step, _recoded(way, step)


def _steps_after(way: Way, key: str) -> Iterator[Step]:
    """Steps that follow the current recoding of a key, each coarser than the last, from the advised one on."""
    step = _coarser(way, way.steps[key]) if key in way.steps else way.first.get(key)
    while step is not None:
        yield step
        step = _coarser(way, step)


def _coarser(way: Way, step: Step) -> Step | None:
    """The next coarser step on the same key: every second edge of bands, a longer period, one hierarchy level up."""
    if "bands" in step:
        edges = every_second(np.array(step["bands"][1:-1], np.float64))
        return in_bands(step["column"], edges) if len(edges) + 1 >= FEWEST_BANDS else None
    if "period" in step:
        coarser = [*MONTHS][[*MONTHS].index(step["period"]) + 1 :]
        return {**step, "period": coarser[0]} if coarser else None
    if "hierarchy" in step:
        from sdckit.data.hierarchy import read_hierarchy

        levels = len(read_hierarchy(way.scenario.folder / step["hierarchy"]).levels)
        return {**step, "level": step["level"] + 1} if step["level"] < levels else None
    return None


def _recoded(way: Way, step: Step) -> Any:
    """The current data, with one key recoded from its original values."""
    from sdckit.protect.recoding.recode import recode

    given = {name: value for name, value in step.items() if name != "method"}
    if "hierarchy" in given:
        given["hierarchy"] = way.scenario.folder / given["hierarchy"]
    lender = open_eager(recode(way.original, **given).data, {})
    return lend_rows(open_eager(way.data, {}), lender, {step["column"]: np.arange(len(lender))})


def _bits(data: Any, key: str) -> float:
    return entropy(np.bincount(code_column(open_eager(data, {})[key]).codes()))


# The steps of a starter recipe, each with its comment.


WHY = "this brings most records within the thresholds for the information it loses"
ALONE = "by itself this brings no record within the thresholds, with the other steps it does"
IDLE = (
    "No step for {}: no bands or periods that were tried bring a record within the thresholds, as long as the other "
    "keys stay as they are."
)
COUNTED = 0.5  # of the records: members may be missing from the file
FROM_VALUES = "It names values that few records have: keep this recipe in the room."
SHARES = (0.8, 0.9, 0.95, 0.99)  # of one value among the records of a weight: the first is the method's own
CHOOSE = (
    "Choose: leave the weight out of the release (drop_identifiers), make it coarser with margins that keep the totals "
    "you publish (coarsen_weights), or make these keys coarser, so that less is taken out."
)
STILL_ABOVE = "Records whose risk is still above the threshold lose their keys."


def before_suppression(way: Way, columns: Sequence[str]) -> list[CommentedStep]:
    """Steps on identifiers, keys and weights of a file with these columns."""
    return [*identifier_steps(way.scenario, columns), *_recodings(way), *_weight(way)]


BLOCKS = "With block = 2 and time = {time} everybody gets new ones after two waves, and is not followed any further."


def identifier_steps(scenario: Scenario, columns: Sequence[str]) -> Iterator[CommentedStep]:
    """Steps that drop direct identifiers and replace household and person numbers."""
    if named := [name for name in scenario.identifiers if name in columns]:
        yield {"method": "drop_identifiers", "columns": named}, ["Direct identifiers do not go out."]
    for role in ("household", "person"):
        if (name := getattr(scenario, role)) is not None:
            why = (
                f"The number of the {role} leads back to where it was given: a new one, the same for the same "
                f"{role}. Where nobody needs it, drop_identifiers instead."
            )
            followed = [BLOCKS.format(time=printable(scenario.time))] if role == "person" and scenario.time else []
            yield {"method": "new_ids", "column": name}, [why, *followed]


def _recodings(way: Way) -> Iterator[CommentedStep]:
    """One step per key at its final coarseness, with the records over a limit before and after."""
    n = len(open_eager(way.data, {}))
    for key, step in way.steps.items():
        own = [coarser for coarser in way.done if coarser.key == key]
        why = WHY if any(coarser.helps for coarser in own) else ALONE
        lines = [f"{printable(key)} {_how(step)}: {why}{', step after step' * (len(own) > 1)}."]
        if shares := _brought(own[0].before, own[-1].after, n):
            lines.append(f"Records beyond a threshold: {shares}.")
        if "groups" in step:
            lines.append(FROM_VALUES)
        yield step, lines
    if way.idle and way.first:
        yield None, [IDLE.format(listed([printable(key) for key in way.first]))]
    for scale in dict.fromkeys(way.unstepped.values()):
        names = listed([printable(key) for key, key_scale in way.unstepped.items() if key_scale == scale])
        yield None, [f"No step for {names}: {UNSTEPPED[scale]}."]


def _how(step: dict[str, Any]) -> str:
    if "bands" in step:
        return "in bands"
    if "period" in step:
        return f"by {step['period']}"
    return f"at level {step['level']} of its hierarchy" if "hierarchy" in step else "with its rare values joined"


def _brought(before: Any, after: Any, n: int) -> str:
    """Shares over a limit before and after, by intruder; "" where they may not be printed."""
    parts = []
    for name in before:
        ranges = [about_share(count[name].records, n) for count in (before, after)]
        if all(ranges):
            whom = f"{printable(name)} " if len(before) > 1 else ""
            parts.append(f"{whom}{ranges[0]} before, {ranges[1]} after")
    return "; ".join(parts)


def coarser_weight(data: Any, scenario: Scenario) -> tuple[Step | None, Sequence[str], Sequence[str]]:
    """The step that coarsens weights, the keys that they reveal, and the columns of which it would move totals.

    No step where it moves totals too far, or one value of a key has nearly all of the records.
    """
    if scenario.weight is None or scenario.weight in scenario.all_keys:
        return None, (), ()
    frame, keys = open_eager(data, {}), [*scenario.all_keys]
    unit = scenario.household or scenario.person  # its rows have one weight before, and must have one after
    shares = told_by(frame, scenario.weight, keys, household=unit)
    hide = [name for name, how_far in shares.items() if how_far > TELLS]
    for share in SHARES if hide else ():
        step: Step = {"method": "coarsen_weights", "weight": scenario.weight, "hide": hide}
        step |= {} if share == SHARES[0] else {"share": share}
        step |= {} if scenario.household or unit is None else {"household": unit}
        try:
            after = tried(data, scenario, [step]).data
        except DataError:  # one value of a key has more than this share of the records
            continue
        numeric = [name for name in scenario.numeric if name not in keys and name in frame.columns]
        figures = moved_figures(open_files(data, after), weight=scenario.weight, numeric=numeric, keys=keys)
        moved = list(dict.fromkeys(figure.variable for figure in figures if abs(figure.change) > BEYOND))
        return (None if moved else step), hide, moved
    return None, hide, ()


def _weight(way: Way) -> Iterator[CommentedStep]:
    """The step that coarsens weights, with its reason, or what can be chosen instead."""
    step, hide, moved = coarser_weight(way.data, way.scenario)
    if not hide:
        return
    names = listed([*map(printable, hide)], "or")
    why = f"Many weights occur with one value of {names} only, and would reveal what is taken out there."
    if step is not None:
        yield step, [why]
        return
    effect = f"it would move weighted totals, means or counts of {listed([*map(printable, moved)])} by more than 5 %"
    because = effect if moved else f"one value of {names} has nearly all of the records"
    yield None, [why, f"No coarsen_weights: {because}.", CHOOSE]


def suppressions(way: Way) -> Iterator[CommentedStep]:
    """Local suppression of the records still below k, one intruder after the other."""
    scenario = way.scenario
    for name in scenario.intruders:
        intruder = scenario.intruder(name)
        k = wanted_k(intruder)
        if k is None:
            continue
        whom = f" for {printable(name)}" if recipe_steps.whom_of(scenario, name) else ""
        if why := protects_nobody(intruder):
            yield None, [f"No local_suppression{whom}: {why}."]
            continue
        shared = given_back.mostly_shared(way.data, intruder)
        step = suppression_step(way.original, scenario, intruder, k, shared=shared)
        lines = [
            the_rest(whom),
            "k is what the threshold of the risk needs in a file taken for the whole population."
            if "k" in step
            else "k is that of the scenario.",
        ]
        if sizes := [printable(size) for size, _ in step.get("together", ()) if size not in shared]:
            lines.append(f"{listed(sizes)}: whoever sees the household together can count it.")
        if shared:
            alike = listed([*map(printable, shared)])
            lines.append(f"{alike}: most households have one value, which whoever sees them together can put back.")
        lines.append(f"{NOT_IMPLIED}.")
        if "true_keys" in step:
            lines.append(f"{TRUE_KEYS}.")
        yield step, lines


ROWS_OF_PEOPLE = (
    "people have several rows; a value taken out of single rows helps nobody who is known by others, and with a person "
    'a missing key must be a level of its own (missing = "category" in the scenario)'
)
NOT_IMPLIED = "What would follow from the rest is taken out with it, as far as this step sees it"


TRUE_KEYS = "As many records match everybody's true keys, which is more than k asks for"


def the_rest(whom: str) -> str:
    """Reason for local suppression; `whom` names the intruder."""
    return f"The rest{whom}: as few values as possible are taken out until every record has k like it."


def protects_nobody(intruder: Scenario) -> str:
    """Why a value taken out of a key protects nobody from an intruder; empty where it does."""
    rules = {intruder.missing} if isinstance(intruder.missing, str) else set(intruder.missing.values())
    if other := sorted(rules - {"wildcard"}):
        return f"the scenario takes a missing key for: {', '.join(other)}; a value taken out would protect nobody"
    return ROWS_OF_PEOPLE if intruder.person is not None else ""


def suppression_step(
    original: Any, scenario: Scenario, intruder: Scenario, k: int, *, shared: Sequence[str],
    importance: Mapping[str, float] | None = None, bundles: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Step:  # fmt: skip
    """The local suppression of the records that are still below k, and of what would give its values back.

    `original`: the file before any step. `intruder`: the scenario with one intruder and those of their keys that are
    still there. `bundles`: by key, the columns from which it follows. `shared`: keys that most households have in
    common.
    """
    (name,) = intruder.intruders
    step: Step = {"method": "local_suppression"}
    if len(intruder.keys) < len(scenario.intruders[name]):
        step |= {"keys": [*intruder.keys], "k": k}
    else:
        step |= recipe_steps.whom_of(scenario, name) | ({} if k == intruder.limits.k else {"k": k})
    if importance is not None:
        step["importance"] = {key: importance.get(key, 1.0) for key in intruder.keys}
    together = [[key, *bundles[key]] for key in intruder.keys if bundles.get(key)]
    told = dict.fromkeys([*household_sizes(original, intruder), *shared])  # in classes a size is told, too
    together += [[key, str(intruder.household)] for key in told]
    if together:
        step["together"] = together
    true = {"true_keys": True} if scenario.limits_of(compared=True).few_matches is not None else {}
    return step | {"hide_implied": True} | true


def household_sizes(data: Any, scenario: Scenario) -> list[str]:
    """Keys that equal the number of records of the household."""
    frame = open_eager(data, {})
    if scenario.household is None:
        return []
    coded = code_column(frame[scenario.household])
    homes = households.homes_of(coded.codes(), coded.span)
    size = homes.size[homes.of_row]
    size_keys = []
    for key in households.household_variables(data, household=scenario.household, among=scenario.keys):
        try:
            values = float_values(frame[key], key)
        except SdcError:
            continue
        known = ~np.isnan(values)
        if np.mean(values[known] == size[known]) > COUNTED:
            size_keys.append(key)
    return size_keys


def last_step(scenario: Scenario, columns: Sequence[str]) -> Iterator[CommentedStep]:
    """The step that shuffles the records, or a remark that their order stays."""
    if scenario.aligned:
        yield None, ["The order stays: the scenario says that row i is made from row i (aligned = true)."]
        return
    step: dict[str, Any] = {"method": "random_order"}
    if scenario.household in columns and scenario.household is not None:
        step["household"] = scenario.household
    yield step, ["The order of the records may tell who they are. The log knows it: check with --log."]


AIMED_AT = tuple(name for name, kind in LIMITS.items() if kind.aimed and not kind.per_variable)
TITLE = "A recipe to start from"
HEAD = (
    "A recipe to start from, written by sdckit. Each step follows the advice on the keys; its comment says why.",
    "Shares of records are ranges. Read it through and change it: sdckit does not know what the columns mean.",
    INSIDE,
)


@dataclass(frozen=True)
class StarterRecipe(Displayed):
    """A recipe to start from.

    Attributes
    ----------
    recipe : Recipe
        Its steps; they were tried on the file.
    text : str
        The same as TOML, with a comment above each step.
    exceeded : tuple of str
        The thresholds that do not hold after the last step, for one intruder at least.
    unjudged : tuple of str
        Those that could not be judged.
    """

    recipe: Recipe
    text: str = field(repr=False)
    exceeded: tuple[str, ...]
    unjudged: tuple[str, ...]

    def _repr_html_(self) -> str:
        return plain_html(self.text)


def starter_recipe(
    data: Any, *, scenario: Scenario, share: float = 0.05, internal: bool = False, folder: str | Path | None = None
) -> StarterRecipe:
    """Write a recipe to start from, by the ranked advice on the keys.

    Parameters
    ----------
    data : data frame in memory
        pandas, Polars or PyArrow; it is not modified.
    scenario : Scenario
        Its thresholds of k, of the risk and of the mean risk are what the steps aim at.
    share : float
        Keys are made coarser until no intruder has more than this share of the records beyond a threshold;
        `local_suppression` does the rest.
    internal : bool
        Whether recodings that name values few records have are taken, too. The recipe then stays in the room.
    folder : str or Path, optional
        Where the recipe is to lie: paths of hierarchies start there. Default the folder of the scenario.

    Returns
    -------
    StarterRecipe
        ``recipe``, and ``text`` with the comments.

    Raises
    ------
    ScenarioError
        No scenario, none of these thresholds in it, or one that does not hold even if all records are alike.
    ColumnError
        A column of the scenario is absent.
    DataError
        Suppression would take out all values of a key.

    Notes
    -----
    Identifiers are left out, numbers of households and persons replaced. Each key has a first step
    (`key_contributions`): numbers in bands with round edges, codes one level up their hierarchy. After it come bands
    twice as wide, or the next level. Of all steps the one that brings most records within the thresholds per bit of
    information lost is taken, and all are looked at again. Keys without a step are named in a comment. Weights that
    tell a key are coarsened, what is left is suppressed for one intruder after the other, and the order is mixed.

    Which steps are taken follows from the exact figures of the file. The comments give shares of records in ranges
    of five percent and ten records at least; with `internal` they are no less coarse.

    References
    ----------
    Hundepool, A. et al. (2012). Statistical Disclosure Control, chapter 3. Samarati, P. (2001). IEEE Transactions on
    Knowledge and Data Engineering 13(6).

    Examples
    --------
    >>> import polars as pl
    >>> from sdckit import Scenario, starter_recipe
    >>> survey = pl.DataFrame({"age": [18 + i % 67 for i in range(300)], "sex": ["f", "m", "f"] * 100})
    >>> scenario = Scenario(keys=["age", "sex"], thresholds={"k": 3})
    >>> start = starter_recipe(survey, scenario=scenario)
    >>> [step.method for step in start.recipe.steps], start.exceeded
    (['recode', 'local_suppression', 'random_order'], ())

    All is left to suppression:

    >>> [step.method for step in starter_recipe(survey, scenario=scenario, share=1).recipe.steps]
    ['local_suppression', 'random_order']
    """
    arguments.share(share, "share", "is a share of the records")
    arguments.flag(internal, "internal")
    if arguments.scenario_or_none(scenario) is None:
        raise ScenarioError("scenario= is missing: its thresholds are what the steps aim at", argument="scenario")
    if folder is not None and not isinstance(folder, str | Path):
        raise ScenarioError("folder= is a path, where the recipe is to lie", argument="folder")
    frame = open_eager(data, {})
    return make_starter(
        data, scenario, columns=frame.columns, share=share, internal=internal,
        folder=None if folder is None else Path(folder),
    )  # fmt: skip


def make_starter(
    data: Any, scenario: Scenario, *, columns: Sequence[str], share: float, internal: bool, folder: Path | None,
    head: Sequence[str] = HEAD,
) -> StarterRecipe:  # fmt: skip
    """Write the recipe for a file of these `columns`, of which `data` need not hold the identifiers."""
    if not any(name in scenario.limits.declared for name in AIMED_AT):
        raise ScenarioError(
            "the scenario has no threshold that steps could aim at; add [thresholds] with k or risk, or a type "
            "of release"
        )
    scenario.changed(identifiers=()).check_columns(open_eager(data, {}).columns)
    # of identifiers that are not read here, and of weights, which a step is about
    with warnings.catch_warnings(action="ignore", category=SdcWarning):
        recipe_checks.require_reach(data, scenario)
        way = coarsen_keys(data, scenario, share=share, internal=internal)
        commented = [*before_suppression(way, columns), *suppressions(way)]
        kept = Kept()
        applied = _applied(data, scenario, commented, kept=kept)
        if risky := [*_too_risky(applied.data, scenario)]:
            commented += risky
            applied = _applied(data, scenario, commented, kept=kept)
        recipe_checks.refuse_emptied(applied.data, scenario.all_keys)
        commented += number_steps(data, applied.data, scenario, lambda file, steps: tried(file, scenario, steps).data)
        mended = mend_relations(relations_of(data, scenario), [step for step, _ in commented if step], scenario)
        commented, end = [*mended.steps, *commented], [*last_step(scenario, columns)]
        made = _applied(data, scenario, [*commented, *end], mended.derived, kept=kept)
        last, assessment = _judged(made, kept)
        outcome, taken = last, list[CommentedStep]()
        while more := given_back.taking_more(last[0], assessment, made, [step for step, _ in taken]):
            taken += more
            assessment = None  # whose columns need not be held beside those of the next
            made = _applied(data, scenario, [*commented, *end, *taken], mended.derived, kept=kept)
            last, assessment = _judged(made, kept)
        if taken and not last[0]:  # else it is as well without
            end, outcome = [*end, *taken], last
        commented += end
        exceeded, unjudged, rests = outcome
    if rests:
        warnings.warn(RESTING, SdcWarning, stacklevel=3)
    commented.append((None, [_outcome(exceeded, unjudged), *not_looked_for(exceeded), *[RESTING] * rests]))
    commented = [(step and from_folder(step, scenario.folder, folder), lines) for step, lines in commented]
    if not (steps := [step for step, _ in commented if step is not None]):  # the order stays, too
        raise ScenarioError("there is nothing to do: the thresholds hold")
    recipe = Recipe(steps, title=TITLE, folder=folder or scenario.folder, derived=mended.derived)
    return StarterRecipe(recipe, write_starter(TITLE, head, commented, mended), tuple(exceeded), tuple(unjudged))


def _too_risky(protected: Any, scenario: Scenario) -> Iterator[CommentedStep]:
    """Suppression of records whose risk is still too high, where a missing key may stand for any value."""
    if scenario.limits.risk is None or protects_nobody(scenario):
        return
    for name in (name for name, count in over_limits(protected, scenario).items() if count):
        shared = given_back.mostly_shared(protected, scenario.intruder(name))
        keys = given_back.with_home(scenario.intruders[name], shared, scenario.household)
        limit = scenario.limits.risk
        yield recipe_steps.lose_values(scenario, name, recipe_steps.RISK_MEASURE, limit, keys), [STILL_ABOVE]


def _applied(
    data: Any, scenario: Scenario, commented: Sequence[CommentedStep],
    derived: Mapping[str, str] = MappingProxyType({}), *, kept: Kept,
) -> Applied:  # fmt: skip
    """Apply the steps to the data; of columns that are left out, only to those that are there."""
    columns = open_eager(data, {}).columns
    steps = [_of_present(step, columns) for step, _ in commented if step is not None]
    return tried(data, scenario, [step for step in steps if step is not None], derived, kept=kept)


def _of_present(step: Mapping[str, Any], columns: Collection[str]) -> Mapping[str, Any] | None:
    """A step that leaves out only columns that are there; None where none is. Others stay as they are."""
    return given_back.on_columns(step, columns) if methods.METHODS[str(step["method"])].effect == "gone" else step


_Outcome = tuple[tuple[list[str], list[str], bool], Any]


def _judged(applied: Applied, kept: Kept) -> _Outcome:
    """Thresholds exceeded after the steps, those not judged, whether most records hold k by missing values, and all."""
    scenario, recodings = sure(applied.scenario), recodings_of(applied)
    assessment = assess_read(
        applied.original, applied.data, scenario=scenario, seed=given_back.SEED, recipe=recodings, whole=True,
        lean=True, recovered=kept.recovered(applied.data, recodings),
    )  # fmt: skip
    failing: tuple[list[str], list[str]] = ([], [])
    for verdict in assessment.verdicts:
        name, names = given_back.named(LIMITS[verdict.name]), failing[verdict.holds is None]
        if verdict.holds is not True and name not in names:
            names.append(name)
    resting = max((verdict.n_resting or 0 for verdict in assessment.verdicts), default=0)
    return (*failing, 2 * resting > applied.log.n >= FEWEST_RECORDS), assessment


def _outcome(exceeded: Sequence[str], unjudged: Sequence[str]) -> str:
    sentence = "Tried on the file: no threshold is exceeded after these steps"
    if exceeded:
        over = f"exceeded after these steps: {listed(exceeded)}"
        sentence = f"Tried on the file: {over}; make keys coarser by hand, or leave one out"
    return sentence + (f". Not judged: {listed(unjudged)}." if unjudged else ".")


def not_looked_for(exceeded: Sequence[str]) -> list[str]:
    """What to do by hand where people are followed through their rows, which no search looks for."""
    return [FOLLOWING.advice for name in exceeded if name == FOLLOWING.name]


def from_folder(step: Any, start: Path, folder: Path | None) -> dict[str, Any]:
    """A step with its paths made relative to the folder of the recipe."""
    if folder is None:
        return dict(step)
    paths = [name for name in methods.kind_of(step["method"]).files if name in step]
    return {**step, **{name: Path(os.path.relpath(start / step[name], folder)).as_posix() for name in paths}}
