"""E3: local suppression: suppress few values so that every record shares its keys with k - 1 others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Literal

import numpy as np

from sdckit.cells.packing import tabulate
from sdckit.data import arguments, seeds
from sdckit.data.columns import ALL_VALID, Coded, code_column, code_columns, first_rows
from sdckit.data.missing_values.missing import describe_rule
from sdckit.data.replace import Records, open_eager, open_records, take_rows
from sdckit.data.scenarios.roles import Roles, resolve_roles
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import counted
from sdckit.errors import DataError, ScenarioError
from sdckit.numerics.array_types import Bools, Ints
from sdckit.numerics.threads import job
from sdckit.protect.by_household import read_shared
from sdckit.protect.change import Change, Protected
from sdckit.protect.suppression import suppression_choices as picking, suppression_matches
from sdckit.protect.suppression.suppression_bound import Needs, bound_of, lower_bound, needs_of, solve
from sdckit.protect.suppression.suppression_choices import Choices, Order, Requests, Situation, WorkingFile
from sdckit.protect.suppression.suppression_implied import hide_implied as hide, implied
from sdckit.protect.suppression.suppression_mend import mend
from sdckit.protect.suppression.suppression_together import Bonds, bonds_of, give_back, read_together, weighed, widen

# Notes on a local suppression.


def notes_of(roles: Roles, *, untouched: bool, bound: bool) -> dict[str, str]:
    """Notes on the final check, the rule for missing values, the lower bound, and records that rely on others."""
    rules: Any = ("wildcard",) * len(roles.keys)
    notes = {
        "check": "every set of keys asked for was counted anew in the data handed back, and reaches its k",
        "missing_rule": describe_rule(roles.keys, rules, roles.alpha),
        "lower_bound": "values that no solution could keep that changes only records below k"
        + (", none more than it would need alone" if roles.alpha == 1 else ""),
    }
    if bound:
        notes["lower_bound"] = (
            "values of the keys that no solution could keep, whoever loses them; lower_bound_alone is that of records "
            "treated one by one, where only those below k lose values"
        )
    if untouched:
        notes["at_risk_unchanged"] = (
            "some records below k keep all their values: they match records that lost theirs; an intruder who "
            "sets those aside finds them as before (alpha=0 counts no such match)"
        )
    return notes


HIDING = "hide_implied=True takes out more until none does"


def implied_notes(n_implied: int | None, *, bound: bool, hidden: bool = False) -> dict[str, str]:
    """A note on `n_implied`, unless it is 0 and covers all values; `hidden`: hide_implied took out what it could."""
    if n_implied is None:
        return {"n_implied": "not counted: the keys have too many patterns of missing values"}
    sentences = []
    if n_implied:
        sentences.append(
            "some of the values taken out follow from the release for whoever knows that nothing goes without need; "
            + ("hide_implied=True could not hide them with this draw: another may" if hidden else HIDING)
        )
    if bound:
        sentences.append("values that go together are not among those counted")
    return {"n_implied": "; ".join(sentences)} if sentences else {}


MOST_KEYS = 60  # sets of keys are bit masks in one word
ROUNDS = 3  # of further suppressions, as a record that came to lack all keys counts for nobody
EASY = 80  # records at risk, times the square of the keys one may lose: up to this solved exactly by default
NODES = {"auto": 50, "asked": 20_000}


@dataclass(frozen=True)
class _Outcome:
    """Quality of a solution; a bound takes as long as the search, and is made when it is read."""

    lower_bound: Callable[[], int]
    exact: bool
    alone: Callable[[], int] | None = None  # the lower bound if no values were linked


def local_suppression(
    data: Any,
    *,
    keys: Sequence[str] | None = None,
    k: int | None = None,
    importance: picking.Importance | None = None,
    combinations: picking.Combinations | None = None,
    strata: str | Sequence[str] | None = None,
    alpha: float | None = None,
    exact: Literal["auto"] | bool = "auto",
    together: Sequence[Sequence[str]] = (),
    household: str | None = None,
    household_variables: Sequence[str] | None = None,
    hide_implied: bool = False,
    true_keys: bool = False,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
) -> Protected:
    """Take out few values of the keys so that at least k records match each record.

    Parameters
    ----------
    data : data frame in memory
        pandas, Polars or PyArrow; it is not modified.
    keys : sequence of str
        Variables that an intruder could know; only their values are taken out.
    k : int, optional
        Records that must match on all keys together, 2 or more; from the scenario's thresholds where
        neither it nor `combinations` is given.
    importance : dict of str to number, or sequence, optional
        1 for the key to protect most, a larger number for one whose values go first; or the keys in a list,
        the most important one first; or a number per key. By default the choice is free: whatever takes out
        fewer values, and among equals a value of the key with more levels.
    combinations : dict or list, optional
        Sets of keys with a k of their own: ``{3: 2}`` for all sets of three, ``{("sex", "age"): 5}``, or a
        list of (keys, k).
    strata : str or sequence of str, optional
        Columns whose groups are treated each by itself: only records of one group match.
    alpha : float, optional
        Weight in [0, 1] of a match through another record's missing value; default 1. With 0 every complete
        record at risk loses a value itself.
    exact : {"auto", True, False}
        Whether an integer programme looks for the fewest values: where that is quick, always (an error
        where the file is too large; it may take minutes), never.
    together : sequence of sequences of str
        Groups of columns that tell each other: ``[["region", "district"], ["age", "birth_year"]]``. Where a record
        loses its value of one, it loses those of all. A group holds a key at least; the others need be none. A weight
        that tells a region is made coarser instead (`coarsen_weights`): estimates need all of it. A
        household size goes together with the household's number, by which the members can be counted.
    household : str, optional
        Column that numbers the households. A value of a household variable is taken out for all members of a
        household or for none: a mate would give it back.
    household_variables : sequence of str, optional
        Variables that members share; default those found (`household_variables`). An empty list: none.
    hide_implied : bool
        Whether more values are taken out until none follows from the others (see Notes): the same key of one more
        record that is like the first in all that is left, and unlike it in the value; where there is no such record,
        one more key of the first. ``n_implied`` then tells what could not be hidden, if anything.
    true_keys : bool
        Whether at least k records match the true keys of each record, too (see Notes): values are taken out of further
        records that differ from it in few keys. ``n_few_matches`` then tells the records for which there were too few
        such records, if any.
    seed : int, numpy.random.Generator or None
        Draws those records; nothing else is random. A reader who could draw them again would know which they are.
    scenario : Scenario, optional
        Gives keys, k, alpha and the household with its variables where they are not given here.

    Returns
    -------
    Protected
        ``data`` and ``change``. ``change.parameters`` holds ``lower_bound`` (values that no solution could
        keep), ``optimal`` (whether the result attains it), ``at_risk`` (records below k before),
        ``at_risk_unchanged`` (those of them that keep all values) and ``n_implied`` (values taken out that a reader
        can work out for certain; None where that was not counted).

    Raises
    ------
    ColumnError
        A column is absent; `importance` or `combinations` names a column that is no key.
    DataError
        A plan, no records, a k below 2 or above the number of records of the data or of a stratum.
    ScenarioError
        No keys, several intruders, a scenario under which missing keys are categories.

    Notes
    -----
    A record matches another where on each key they are equal or one of the values is missing. A suppression
    therefore helps two ways: the record itself matches all that agree with it on its other keys, and each
    of those gains a match. The method takes, one by one, the suppression that repairs most per value (the
    greedy rule for covering), and at the end gives back what nobody needs. No record loses more values than
    it would have to lose alone, and one that loses every value helps no other (as in `key_frequencies`):
    otherwise k - 1 records without any value would satisfy the rule for a whole file. Only records below
    k lose values at all (below alpha = 1, with rare exceptions). The result is checked by counting anew.

    Where values go together (`together`, `household`) they are chosen at what all of them cost, widened to the whole
    group and to all members, and groups that nobody needs are given back as a whole. Members who are not at risk
    lose values then, too, and ``lower_bound`` allows for that, which makes it weak; ``lower_bound_alone`` is that of
    the same file without anything that goes together.

    By the rule records may be safe that have kept every value, because others have lost theirs
    (``at_risk_unchanged``). An intruder who sets records with missing values aside still finds them alone:
    alpha = 0 is the strict choice.

    By the rule a record that lost a value matches all values that it may have had. Whoever knows the true one sets
    aside the records that show another, and may be left with the record alone (`few_matches` counts that). With
    `true_keys` records nearly like it lose values, until k match: those that differ in the fewest keys, of these those
    that lack most keys already, drawn among equals; a record loses values for others once, and never the last one.
    Up to twice as many values go in small files, hardly more in large ones.

    Nothing is taken out without need, and a reader who knows that can turn it round: of the levels that a key shows in
    the release, put each back where a value is missing and count. Where every record still reached k the value would
    have been given back, so it is another one. A value taken out *follows* (``n_implied``) where one level is left and
    it is the right one, or none is left and it is the only level that the release no longer shows; and where the same
    conclusion is right for all records that lack the value and have the same keys. A reader is taken to know the
    release, the method, all its arguments, and which missing values were taken out. Not modelled: other variables,
    knowledge of a person, what several missing values say together, what the choice of one value rather than another
    says, and values that go together (`together`, `household`), of which none is counted.

    References
    ----------
    Wong, R. C.-W., Fu, A. W.-C., Wang, K. and Pei, J. (2007). Minimality attack in privacy preserving data
    publishing, VLDB. Templ, M., Kowarik, A. and Meindl, B. (2015). Journal of Statistical Software 67(4).
    Samarati, P. (2001). IEEE Transactions on Knowledge and Data Engineering 13(6). Dobson, G. (1982). Mathematics
    of Operations Research 7(4).

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["f", "f", "f", "m"], "job": ["cook", "cook", "smith", "smith"]})
    >>> safe, change = local_suppression(survey, keys=["sex", "job"], k=2)
    >>> change.changed, change.parameters["lower_bound"]
    ({'sex': 1, 'job': 0}, 1)
    """
    with job():
        roles = _roles(keys, alpha, scenario)
        if k is not None:
            arguments.count(k, "k", "counts records", at_least=2)
        if k is None and combinations is None and scenario is not None:
            k = scenario.limits.k
        groups = arguments.names(strata, "strata", single=True) or ()
        bundles = read_together(together, roles.keys)
        frame, records = open_records(
            data, {"keys": roles.keys, "strata": groups, "together": [name for bundle in bundles for name in bundle]}
        )
        if clash := [name for name in groups if name in roles.keys]:
            raise ScenarioError(f"strata: {clash[0]!r} is a key; strata must not be changed", argument="strata")
        requests = picking.read_combinations(roles.keys, k, combinations, records.n)
        rank = picking.read_importance(roles.keys, importance)
        if exact != "auto":
            exact = arguments.flag(exact, "exact", "is 'auto', True or False")
        if exact is True and (len(requests) > 1 or rank is not None or roles.alpha < 1):
            says = "exact=True counts values for one set of keys: no importance, no alpha below 1"
            raise DataError(says, argument="exact")
        if len(roles.keys) > MOST_KEYS:
            raise DataError(f"{len(roles.keys)} keys; local suppression takes at most {MOST_KEYS}")
        hide_implied = arguments.flag(hide_implied, "hide_implied")
        true_keys = arguments.flag(true_keys, "true_keys")
        if records.counts is not None and (hide_implied or true_keys or household is not None or bundles):
            raise DataError("rows that stand for several records lose no values together, and hide none")
        rng, drawn = seeds.open_rng(seed)
        own = _household(frame, household, household_variables, scenario)
        columns = list(dict.fromkeys([*roles.keys, *(name for bundle in bundles for name in bundle)]))
        homes, shared = read_shared(frame, [name for name in columns if name != own[0]], *own)
        coded = code_columns([frame[name] for name in columns])
        bonds = bonds_of(coded, bundles, homes, shared)
        if exact is True and bonds.bind:
            says = "exact=True counts values one by one: no household, and nothing that goes together"
            raise DataError(says, argument="exact")
        file = _open(frame, coded[: len(roles.keys)], records, roles, groups, max(level for _, level in requests))
        at_risk, orders = _at_risk(file, requests), _orders(file, requests, rank)
        solved = _solve_together(file, requests, orders, bonds) if bonds.bind else _solve(file, requests, orders, exact)
        details: dict[str, Any] = {"together": [list(bundle) for bundle in bundles]} if bundles else {}
        details |= {"household": own[0], "household_variables": list(shared)} if shared else {}
        alone = bonds.alone(len(roles.keys))
        secret = {"seed": drawn} if hide_implied or true_keys else {}
        details |= {"hide_implied": hide_implied, "n_implied": None}
        if hide_implied:
            following = hide(file, requests, alone, rng, lambda: _mend_again(file, requests, orders, bonds))
            count = partial(_count_following, lambda: following, bound=bonds.bind, hidden=True)
        else:  # counting takes long compared with the search, and is done when it is read
            count = partial(_count_following, partial(implied, file.copied(), requests, alone), bound=bonds.bind)
        if true_keys:
            details |= {"true_keys": True, "n_few_matches": _match_true_keys(file, requests, orders, bonds, rng)}
        settings = (roles, groups, requests, rank)
        return _protected(frame, records.n, *settings, file, at_risk, solved, bonds, details, secret, count)


def _count_following(
    find: Callable[[], Bools | None], *, bound: bool, hidden: bool = False
) -> tuple[dict[str, Any], dict[str, str]]:
    """The number of implied values, and a note on it."""
    following = find()
    n = None if following is None else int(np.count_nonzero(following))
    return {"n_implied": n}, implied_notes(n, bound=bound, hidden=hidden)


def _mend_again(file: WorkingFile, requests: Requests, orders: Sequence[Order], bonds: Bonds) -> None:
    """Suppress further values until every set of keys reaches k again."""
    again = True
    while again:
        again = _mend_each(file, requests, orders)
        widen(file, bonds)


def _mend_each(file: WorkingFile, requests: Requests, orders: Sequence[Order]) -> bool:
    """Suppress further values for each set of keys in turn; whether there were any."""
    taken = [mend(file, keys, k, order) for (keys, k), order in zip(requests, orders, strict=True)]
    return any(taken)


def _match_true_keys(
    file: WorkingFile, requests: Requests, orders: Sequence[Order], bonds: Bonds, rng: np.random.Generator
) -> int:
    """Suppress further values until k records match every record's true keys; the records for which too few are."""
    short = np.empty(0, np.int64)
    for _ in range(ROUNDS):
        for (keys, k), order in zip(requests, orders, strict=True):
            suppression_matches.match_truth(file, keys, k, order.rank, bonds.linked(keys), rng)
        widen(file, bonds)
        _mend_again(file, requests, orders, bonds)  # missing values count for less, or not at all, for k itself
        short = np.concatenate([suppression_matches.few_matches_of_truth(file, keys, k)[0] for keys, k in requests])
        if not len(short):
            break
    return len(np.unique(short))


def _household(
    frame: Any, household: str | None, declared: Sequence[str] | None, scenario: Scenario | None
) -> tuple[str | None, Sequence[str] | None]:
    """The household and its variables: as given, else those of the scenario that the data has."""
    if household is None and scenario is not None and scenario.household in frame.columns:
        household = scenario.household
        if declared is None and scenario.household_variables:
            declared = [name for name in scenario.household_variables if name in frame.columns]
    return household, declared


def _roles(keys: Sequence[str] | None, alpha: float | None, scenario: Scenario | None) -> Roles:
    roles = resolve_roles(scenario=scenario, keys=keys, alpha=alpha)
    if "category" in roles.rules:
        says = "the scenario takes missing keys for categories; values that are taken out must match any value"
        if scenario is not None and scenario.person is not None:  # whom no measure counts under the other rule
            raise ScenarioError(
                f"{says}, and people with several rows (person) are not counted so: make keys coarser, or "
                "take values out by risk"
            )
        raise ScenarioError(f"{says}: missing = 'wildcard'")
    return roles


def _open(
    frame: Any, coded: Sequence[Coded], records: Records, roles: Roles, groups: Sequence[str], k: int
) -> WorkingFile:
    for column, rule in zip(coded, roles.rules, strict=True):
        if column.n_missing == len(frame):
            raise DataError(f"key {column.name!r} has no value in any record; leave it out of the keys")
        if column.n_missing and rule == "error":
            hit = column.valid == 0
            where = f" ({first_rows(hit)})" if records.counts is None else ""
            raise DataError(
                f"key {column.name!r} is missing in {counted(records.where(hit), 'record')}{where}, and missing='error'"
            )
    gone = np.zeros((len(coded), len(frame)), np.bool_)
    strata = _strata(frame, records, groups, k)
    return WorkingFile(tuple(coded), strata, roles.alpha, gone, records.counts)


def _strata(frame: Any, records: Records, groups: Sequence[str], k: int) -> Coded | None:
    if not groups:
        return None
    table = tabulate([code_column(frame[name]) for name in groups], None)
    size = records.by(table.of_row.astype(np.int64), len(table.size))
    if small := int(np.count_nonzero(size < k)):
        where = f" ({first_rows((size < k)[table.of_row])})" if records.counts is None else ""
        raise DataError(
            f"strata: {small} of {len(size)} have fewer than k = {k} records{where}; merge them, or lower k",
            argument="strata",
        )
    return Coded("strata", table.of_row, ALL_VALID, 0, len(table.size), 0, "integer", None, None)


def _at_risk(file: WorkingFile, requests: Requests) -> Bools:
    """Records below k on some of the sets of keys."""
    at_risk = np.zeros(file.n, np.bool_)
    for keys, k in requests:
        at = file.situation(keys)
        at_risk |= (at.frequency < k - picking.TINY)[at.of_row]
    return at_risk


def _solve(file: WorkingFile, requests: Requests, orders: Sequence[Order], exact: Literal["auto"] | bool) -> _Outcome:
    """Suppress values until every request holds."""
    if len(requests) == 1 and file.alpha == 1:
        return _solve_one(file, *requests[0], orders[0], exact)
    starts = [(file.situation(keys), k) for keys, k in requests]
    while _mend_each(file, requests, orders):
        pass  # a record may have come to lack all of some set: it counts for nobody there
    return _Outcome(lambda: max(bound_of(at, k, file.alpha) for at, k in starts), exact=False)


def _solve_together(file: WorkingFile, requests: Requests, orders: Sequence[Order], bonds: Bonds) -> _Outcome:
    """The same for linked values: chosen at their full cost, extended to whole bundles, restored as a whole."""
    starts = [file.situation(keys) for keys, _ in requests]
    alone = choices = None
    if len(requests) == 1 and file.alpha == 1:
        choices = picking.find_choices(starts[0], requests[0][1], orders[0])
        alone = partial(_alone, starts[0], requests[0][1], choices, orders[0])
    again = True
    while again:
        again = False
        for (keys, k), order in zip(requests, orders, strict=True):
            at = file.situation(keys)
            choices = choices or picking.find_choices(at, k, order)
            taken, choices = mend(file, keys, k, order, at, weighed(choices, bonds, keys)), None
            widen(file, bonds)
            again |= taken  # a record may have come to lack all keys, and counts for nobody then
    if len(requests) == 1 and file.alpha == 1:
        give_back(file, bonds, *requests[0], starts[0])
    levels = [k for _, k in requests]
    bound = partial(bound_of, alpha=file.alpha, together=True)
    return _Outcome(lambda: max(map(bound, starts, levels)), exact=False, alone=alone)


def _alone(start: Situation, k: int, choices: Choices, order: Order) -> int:
    """The lower bound of records that are treated one by one."""
    return lower_bound(start, k, choices, needs_of(start, k, choices, order))


def _orders(file: WorkingFile, requests: Requests, rank: tuple[float, ...] | None) -> list[Order]:
    """The order of the keys of each set, by the number of levels in use where no rank is given."""
    numbers = tuple(float(_in_use(column)) for column in file.keys) if rank is None else rank
    return [Order(tuple(numbers[j] for j in keys), rank is not None) for keys, _ in requests]


def _in_use(column: Coded) -> int:
    codes = column.codes()
    if column.span > len(codes):
        return len(np.unique(codes))
    return int(np.count_nonzero(np.bincount(codes, minlength=column.n_codes)))


def _solve_one(file: WorkingFile, keys: Sequence[int], k: int, order: Order, exact: Literal["auto"] | bool) -> _Outcome:
    start = file.situation(keys)
    choices = picking.find_choices(start, k, order)
    needs = needs_of(start, k, choices, order)
    bound = cache(partial(lower_bound, start, k, choices, needs))
    mend(file, keys, k, order, start, choices)
    if (np.asarray(sum(file.gone[j] for j in keys)) > _most(start, needs)).any():
        return _Outcome(partial(bound_of, start, k, 1.0), exact=False)
    if exact is False or order.strict or not len(needs.cells):
        return _Outcome(bound, exact=False)
    solved = _programme(file, start, keys, k, needs, bound, exact)
    return _Outcome(bound, exact=False) if solved is None else solved


def _most(start: Situation, needs: Needs) -> Ints:
    """Largest number of values that each record may lose."""
    most = np.zeros(len(start.size), np.int64)
    most[needs.cells] = needs.keys
    return most[start.of_row]


def _programme(
    file: WorkingFile, start: Situation, keys: Sequence[int], k: int, needs: Needs, bound: Callable[[], int],
    exact: Literal["auto"] | bool,
) -> _Outcome | None:  # fmt: skip
    """Replace the greedy solution by that of the integer programme, where that is better."""
    effort = start.size[needs.cells].sum() * needs.keys.max() ** 2
    if exact == "auto" and effort > EASY:
        return None
    taken = int(np.count_nonzero(file.gone))
    if taken == bound():  # nothing takes out fewer
        return _Outcome(bound, exact=True)
    solution = solve(start, k, needs.cells, needs.keys, bound(), NODES["auto" if exact == "auto" else "asked"])
    if solution is None:
        if exact is True:
            says = "exact=True is for small files (some hundred records at risk); use exact='auto'"
            raise DataError(says, argument="exact")
        return None
    if solution.total is not None and solution.total < taken:
        before = file.gone.copy()
        file.gone[:] = False
        file.take_out(keys, solution.masks, solution.rows)
        if len(file.situation(keys).at_risk(k)):  # the programme counts matches with records that have lost every value
            file.gone[:] = before
            return _Outcome(lambda: solution.bound, exact=False)
    return _Outcome(lambda: solution.bound, exact=True)


def _protected(
    frame: Any, n: int, roles: Roles, groups: Sequence[str], requests: Requests, rank: tuple[float, ...] | None,
    file: WorkingFile, at_risk: Bools, outcome: _Outcome, bonds: Bonds, details: Mapping[str, Any],
    secret: dict[str, Any], count: Callable[[], tuple[dict[str, Any], dict[str, str]]],
) -> Protected:  # fmt: skip
    rows, source = np.arange(file.n), {}
    new = widen(file, bonds)
    for name, gone in zip(bonds.columns, new, strict=True):
        if gone.any():
            source[name] = np.where(gone, -1, rows)
    out = take_rows(frame, source)
    _check(out, roles, file, requests)
    changed = {name: int(np.count_nonzero(gone)) for name, gone in zip(bonds.columns, new, strict=True)}
    untouched = at_risk & ~np.any(new[: len(roles.keys)], axis=0)
    parameters = {
        "keys": list(roles.keys),
        "k": [{"keys": [roles.keys[j] for j in keys], "k": k} for keys, k in requests],
        "importance": None if rank is None else dict(zip(roles.keys, rank, strict=True)),
        "strata": list(groups),
        "alpha": roles.alpha,
        "exact": outcome.exact,
        "lower_bound": None,
        "optimal": None,
        "at_risk": int(np.count_nonzero(at_risk)),
        "at_risk_unchanged": int(np.count_nonzero(untouched)),
        **details,
    }
    taken = sum(changed[name] for name in roles.keys)

    def complete() -> tuple[dict[str, Any], dict[str, str]]:
        further, said = count()
        bound, alone = outcome.lower_bound(), outcome.alone
        known = {} if alone is None else {"lower_bound_alone": alone()}
        return {"lower_bound": bound, "optimal": taken == bound, **further, **known}, said

    notes = notes_of(roles, untouched=bool(untouched.any()), bound=bonds.bind)
    change = Change("local_suppression", n, changed, parameters, secret, notes)
    return Protected(out, change.completed_by(complete))


def _check(out: Any, roles: Roles, file: WorkingFile, requests: Requests) -> None:
    """Count the frequencies of the result anew, as `k_anonymity` does."""
    frame = open_eager(out, {"keys": roles.keys})
    coded = code_columns([frame[name] for name in roles.keys])
    released = replace(file, keys=tuple(coded), gone=np.zeros_like(file.gone))
    if left := int(np.count_nonzero(_at_risk(released, requests))):
        raise DataError(f"{counted(left, 'record stays', 'records stay')} below k; nothing is handed back")
