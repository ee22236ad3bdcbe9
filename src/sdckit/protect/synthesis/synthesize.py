"""E8: replace values by draws from models of the data, variable after variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.data import arguments
from sdckit.data.columns import code_column
from sdckit.data.frames import open_frame
from sdckit.data.households import Homes
from sdckit.data.nearest import did_you_mean
from sdckit.data.replace import open_eager, take_rows, with_some_numbers
from sdckit.data.seeds import open_rng
from sdckit.errors import ColumnError, DataError
from sdckit.protect.by_household import ONCE, read_homes, read_shared
from sdckit.protect.change import Change, Protected
from sdckit.protect.numeric_columns import chosen
from sdckit.protect.synthesis.synthesis_draws import DrawsByColumn, PosteriorDraws
from sdckit.protect.synthesis.synthesis_models import Settings, kept_draws, read_models, unconverged
from sdckit.protect.synthesis.synthesis_rules import read_rules
from sdckit.protect.synthesis.synthesis_run import Plan, changed_values, copied_rows, draw_releases, fit_all
from sdckit.protect.synthesis.synthesis_variables import (
    NEW,
    Values,
    Variable,
    is_usable,
    read_variable,
    refuse_unfit,
)

__all__ = ["synthesize"]

Ints = NDArray[np.int64]


def synthesize(
    data: Any,
    *,
    m: int = 1,
    columns: Sequence[str] | None = None,
    order: Sequence[str] | None = None,
    models: Any = None,
    predictors: Sequence[str] | None = None,
    rows: Any = None,
    fit_to: str = "rows",
    rules: Mapping[str, Any] | None = None,
    proper: bool = False,
    min_leaf: int = 5,
    smoothing: float | Mapping[str, float] = 0.0,
    posterior_draws: int = 100,
    household: str | None = None,
    household_variables: Sequence[str] | None = None,
    seed: arguments.Seed = None,
) -> Protected:
    """Make m synthetic files: each variable in turn is drawn from a model given those before it.

    Parameters
    ----------
    data : data frame
    m : int
        Files to make, 1 or more. The first of several is the one that ``m=1`` makes.
    columns : sequence of str, optional
        Variables to synthesise; the others stay and predict. Default all that vary.
    order : sequence of str, optional
        The same variables in the order in which they are drawn; default as in `columns` or the data.
    models : str, scikit-learn estimator or dict, optional
        For all or by variable: "cart" (the default; donors from the leaf of a tree), "normal", "logistic"
        (two values), "multinomial", "poisson" (counts), "sample" (draws from the variable alone), or an
        estimator: a classifier with probabilities, or a regressor, to whose predictions residuals are drawn.
    predictors : sequence of str, optional
        Which of the variables that are not synthesised predict; default all that vary and are no list of names.
    rows : sequence of bool or str, optional
        Flags of the records to synthesise, or the column that holds them; default all records.
    fit_to : {"rows", "all"}
        Whether models are fitted to the flagged records, as inference from partly synthetic files asks for, or
        to all, which is safer where few are flagged.
    rules : dict, optional
        ``{"marital": {"when": {"age": {"below": 16}}, "value": "single"}}``: a value, or a list of such rules,
        that is set where all conditions hold. A condition is a value, a list of values, ``{"below": x}``,
        "at_most", "above", "at_least", or ``{"missing": True}``. Models are fitted to the records beyond rules.
    proper : bool
        Whether each file has parameters of its own, drawn from their posterior (for trees, samples and
        estimators: fitted to a bootstrap sample).
    min_leaf : int
        Least records in a leaf of a tree.
    smoothing : float or dict
        For numbers by "cart", for all or by variable: 0 gives donors' values as they are; 1 adds normal noise
        of the bandwidth 0.9 sd n^(-1/5) of each leaf, within the range of the variable. Values that a tenth of
        the records hold are not smoothed.
    posterior_draws : int
        Draws of the coefficients of regressions kept in ``change.secret["draws"]``; with `proper`, at least m,
        and the first m are those the files were drawn with.
    household : str, optional
        Column that numbers the households; of household variables among `columns` one value is drawn
        for each household; they come first unless `order` says otherwise.
    household_variables : sequence of str, optional
        Variables that members share; default those found (`household_variables`). An empty list: none.
    seed : int or numpy.random.Generator, optional
        The same files on any number of threads.
        Whoever guesses it undoes what is drawn: leave it out for a release, ``change.secret`` keeps a long one.

    Returns
    -------
    Protected
        ``data``, a frame (a list of m where ``m > 1``), and ``change``. ``change.secret["draws"]`` holds by
        variable of a regression its draws, with ``log_density(data)`` and, for `bayesian_attribute_risk`,
        ``predictive(data)``; ``change.notes`` says how many records equal one of the original in all that was
        synthesised.

    Raises
    ------
    ColumnError
        A variable that the data does not have, or named in one option and not in another that needs it.
    DataError
        A variable without values or of equal ones; texts that nearly all differ; infinite values; a model that
        does not fit the type; flags that are not boolean, or of another number than the records.

    Notes
    -----
    Models are fitted to the original's values and predict from those drawn before. A missing category is a
    level; whether a number is missing is drawn first. Numbers are written with the digits of the original.
    Regressions have a weak normal prior (standard deviation 10 for a standardised predictor).

    References
    ----------
    Nowok, B., Raab, G. M. and Dibben, C. (2016). synthpop: bespoke creation of synthetic data in R. Journal of
    Statistical Software 74(11).
    Reiter, J. P. (2005). Using CART to generate partially synthetic public use microdata. Journal of Official
    Statistics 21, 441-462.
    Reiter, J. P. (2003). Inference for partially synthetic, public use microdata sets. Survey Methodology 29,
    181-188.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["f", "m"] * 50, "age": [30, 50] * 50})
    >>> (one, two), change = synthesize(survey, m=2, columns=["age"], seed=1)
    >>> one["sex"].equals(survey["sex"]), one["age"].head(4).to_list(), change.changed
    (True, [30, 50, 30, 50], {'age': 0})
    """
    named = None if columns is None else chosen(columns)
    arguments.count(m, "m", "counts releases")
    arguments.count(min_leaf, "min_leaf", "counts the records of a leaf")
    arguments.count(posterior_draws, "posterior_draws", "counts draws to keep", at_least=0)
    arguments.choice(fit_to, "fit_to", ("rows", "all"))
    arguments.flag(proper, "proper")
    helping = chosen(predictors, "predictors") if predictors else ()
    frame = open_eager(data, {"columns": named or (), "predictors": helping})
    needed = _needed(frame.columns, named, predictors, rules)
    variables = {name: read_variable(frame[name]) for name in needed}
    hit = _flags(rows, frame)
    apart = {one for one in (rows, household) if isinstance(one, str)}
    counts = _counting(frame, household, variables)
    order_of, left = _targets(named, order, apart | counts, variables, len(frame))
    homes, shared = read_shared(frame, order_of, household, household_variables)
    if order is None:
        order_of = (*shared, *(name for name in order_of if name not in shared))
    hit = hit if homes is None or not shared else homes.some(hit)
    helpers, unused = _helpers(predictors, order_of, apart, variables, len(frame))
    known = {name: {*variables} - set(order_of[at:]) for at, name in enumerate(order_of)}
    targets = [variables[name] for name in order_of]
    plan = Plan(
        variables=variables, order=order_of,
        predictors={name: (*helpers, *order_of[:at]) for at, name in enumerate(order_of)},
        chosen=read_models(models, targets, _smoothing(smoothing, order_of)),
        rules=read_rules(rules or {}, variables, known), rows=np.flatnonzero(hit),
        fit_rows=np.arange(len(frame)) if fit_to == "all" else np.flatnonzero(hit),
        settings=Settings(min_leaf, max(posterior_draws, m if proper else 0), proper),
        **_once(homes, shared, np.flatnonzero(hit)),
    )  # fmt: skip
    if 0 < len(plan.rows) < len(frame) and len(plan.fit_rows) < 2 * min_leaf:
        raise DataError(
            f"{len(plan.rows)} records are flagged, too few to fit models to: they would get each other's values; "
            "use fit_to='all'"
        )
    rng, secret = open_rng(seed)
    for_fits, for_draws = rng.spawn(2)
    files: list[dict[str, Values]] = []
    notes = {
        **left,
        **unused,
        **_once_said(shared, () if named else sorted(counts), flagged=rows is not None),
    }
    draws: dict[str, PosteriorDraws] = {}
    if len(plan.rows):
        fits = fit_all(plan, m, for_fits)
        files = draw_releases(plan, fits, m, for_draws)
        kept = {name: kept_draws(fits[name, 0]) for name in order_of} if posterior_draws else {}
        used = m if proper else 0
        draws = {name: PosteriorDraws({**one, "used": used}) for name, one in kept.items() if one is not None}
        slow = [name for name in order_of if unconverged(fits[name, 0])]
        notes |= {"converged": f"the regressions of {', '.join(slow)} did not converge"} if slow else {}
        notes |= _copies(plan, files)
    else:
        notes["changed"] = "no record is flagged"
    models_used = {name: plan.chosen[name].name for name in order_of}
    made = [_written(frame, plan, one) for one in files] or [take_rows(frame, {}) for _ in range(m)]
    per_file = [changed_values(plan, one) for one in files]
    change = Change(
        "synthesize", m * len(frame), {name: sum(one[name] for one in per_file) for name in order_of},
        parameters={
            "m": m, "order": list(order_of), "models": models_used, "predictors": list(helpers),
            "rows": "all" if rows is None else "flagged", "fit_to": fit_to,
            "rules": {name: len(found) for name, found in plan.rules.items()}, "proper": proper,
            "min_leaf": min_leaf, "smoothing": {name: plan.chosen[name].smoothing for name in order_of},
            **({"household": household, "household_variables": list(shared)} if shared else {}),
        },
        secret={"seed": secret, "draws": DrawsByColumn(draws, models_used, posterior_draws > 0)},
        notes=notes,
    )  # fmt: skip
    return Protected(made if m > 1 else made[0], change)


def _needed(columns: Sequence[str], named: Any, predictors: Any, rules: Any) -> list[str]:
    """The columns that are read: where all roles are given, no others."""
    if named is None or predictors is None:
        return list(columns)
    asked = {*named, *predictors}
    for one in rules.values() if isinstance(rules, Mapping) else ():
        for rule in one if isinstance(one, (list, tuple)) else [one]:
            asked |= set(rule.get("when", ())) if isinstance(rule, Mapping) else set()
    return [name for name in columns if name in asked]


def _counting(frame: Any, household: str | None, variables: Mapping[str, Variable]) -> set[str]:
    """Variables that count the records of each household: whoever sees these can count them."""
    if household is None:
        return set()
    homes = read_homes(frame, household)
    size = homes.size[homes.of_row]
    numbers = {name: one.held.number for name, one in variables.items() if one.kind == "number"}
    same = [name for name, found in numbers.items() if found is not None and np.array_equal(found, size)]
    return set(same) - {household}


def _once_said(shared: Sequence[str], counts: Sequence[str], *, flagged: bool) -> dict[str, str]:
    """Notes on what was drawn once per household."""
    notes = {}
    if counts:
        notes["household size"] = (
            f"{', '.join(counts)} counts the records of households, and stays as they do"
        )
    if shared:
        notes["household_variables"] = f"{', '.join(shared)}: drawn {ONCE}"
        if flagged:
            notes["rows"] = "where a record is flagged, its whole household is made anew"
    return notes


def _once(homes: Homes | None, shared: tuple[str, ...], rows: Ints) -> dict[str, Any]:
    """What a plan must know to draw variables once per household."""
    if homes is None or not shared:
        return {}
    first, there = np.zeros(len(homes.of_row), np.bool_), np.zeros(len(homes.of_row), np.bool_)
    first[homes.first], there[rows] = True, True
    lead = homes.lead(there)[homes.of_row[rows]]
    return {"shared": shared, "first": first, "lead": np.searchsorted(rows, lead)}


def _targets(
    named: tuple[str, ...] | None, order: Any, apart: set[str], variables: Mapping[str, Variable], n: int
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The variables to synthesise in their order, and a note on those that cannot be."""
    given = arguments.names(order, "order")
    if given is not None:
        for name in given:
            if name not in variables:
                says = f"order: no column {name!r} in the data; {did_you_mean(str(name), list(variables))}"
                raise ColumnError(says, argument="order")
    flat = [name for name, one in variables.items()
            if one.n_levels + (one.n_missing > 0) < 2 or one.kind == "empty"]  # fmt: skip
    left: dict[str, str] = {}
    targets = named
    if targets is None:
        targets = tuple(name for name in variables if name not in {*flat, *apart})
        if flat:
            left = {"left": f"{', '.join(flat)} hold one value or none, and stay"}
        if given is not None:
            first = [name for name in given if name not in flat]
            targets = (*first, *(name for name in targets if name not in given))
    if not targets:
        raise DataError("no column varies, there is nothing to synthesise")
    refuse_unfit([variables[name] for name in targets], n)
    if named is not None and given is not None:
        if set(given) != set(named):
            says = "order= names exactly the columns to synthesise, in the order they are drawn"
            raise ColumnError(says, argument="order")
        targets = given
    return targets, left


def _helpers(
    given: Any, order: tuple[str, ...], apart: set[str], variables: Mapping[str, Variable], n: int
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The variables that predict and stay as they are, and a note on those that cannot."""
    names = arguments.names(given, "predictors")
    if names is not None and (both := set(names) & set(order)):
        says = f"predictors: {sorted(both)[0]!r} is synthesised; it predicts those after it anyway"
        raise ColumnError(says, argument="predictors")
    if names is not None and (bad := [name for name in names if not is_usable(variables[name], n)]):
        says = f"predictors: {bad[0]!r} does not vary, or is a list of names; leave it out"
        raise DataError(says, argument="predictors")
    rest = [name for name in variables if name not in order and name not in apart]
    usable = tuple(name for name in rest if is_usable(variables[name], n))
    if names is not None:
        return names, {}
    unused = [name for name in rest if name not in usable]
    said = f"{', '.join(unused)} predict nothing: one value, or a list of names"
    return usable, {"predictors": said} if unused else {}


def _flags(rows: Any, frame: Any) -> NDArray[np.bool_]:
    """Which records are to be synthesised."""
    if rows is None:
        return np.ones(len(frame), np.bool_)
    if isinstance(rows, str):
        if rows not in frame.columns:
            hint = did_you_mean(rows, frame.columns)
            raise ColumnError(f"rows: no column {rows!r} in the data; {hint}", argument="rows")
        coded = code_column(frame[rows])
        if coded.kind != "boolean" or coded.n_missing:
            raise DataError(f"rows: {rows!r} does not hold true or false for every record", argument="rows")
        return np.asarray(coded.codes() + coded.low == 1)
    try:
        found = np.asarray(rows)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.dtype != np.bool_ or found.ndim != 1:
        says = "rows= takes true or false for each record, or the name of the column that holds them"
        raise DataError(says, argument="rows")
    if len(found) != len(frame):
        says = f"rows= has {len(found)} flags, the data {len(frame)} records; give one for each record"
        raise DataError(says, argument="rows")
    return found


def _smoothing(given: Any, order: tuple[str, ...]) -> dict[str, float]:
    by_column = given if isinstance(given, Mapping) else dict.fromkeys(order, given)
    for name, value in by_column.items():
        if name not in order:
            raise ColumnError(f"smoothing: {name!r} is not to be synthesised", argument="smoothing")
        arguments.amount(value, "smoothing", "is a multiple of the bandwidth")
    return {name: float(by_column.get(name, 0.0)) for name in order}


def _copies(plan: Plan, files: Sequence[Mapping[str, Values]]) -> dict[str, str]:
    """How many synthesised records equal one of the original."""
    groups = {"copies": plan.order, "numeric copies": tuple(
        name for name in plan.order if plan.variables[name].kind == "number"
    )}  # fmt: skip
    found = {}
    for note, names in groups.items():
        if names and (note == "copies" or names != plan.order):
            counts = ", ".join(str(copied_rows(plan, one, names)) for one in files)
            found[note] = (
                f"{counts} of {len(plan.rows)} records equal one of the original in {', '.join(names)}"
            )
    return found


def _written(frame: Any, plan: Plan, made: Mapping[str, Values]) -> Any:
    """One release as a frame of the caller's."""
    sources, new = {}, {}
    for name, values in made.items():
        source, fresh = np.arange(len(frame)), values.level == NEW
        first = plan.variables[name].first
        source[plan.rows] = np.where(values.level >= 0, first[np.maximum(values.level, 0)], -1)
        source[plan.rows[fresh]] = plan.rows[fresh]
        sources[name] = source
        if fresh.any() and values.number is not None:
            where = np.zeros(len(frame), np.bool_)
            where[plan.rows[fresh]] = True
            new[name] = (where, _in_range(frame[name].dtype, values.number[fresh]))
    out = take_rows(frame, sources)
    return with_some_numbers(open_eager(open_frame(out), {}), new) if new else out


def _in_range(dtype: Any, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers that an integer column can hold."""
    if not dtype.is_integer():
        return numbers
    bits = int("".join(filter(str.isdigit, str(dtype))))
    unsigned = dtype.is_unsigned_integer()
    size = bits if unsigned else bits - 1
    top = 2.0**size - (1 if size <= 53 else 2.0 ** (size - 53))  # floats are that far apart there
    return np.clip(numbers, 0 if unsigned else -(2.0**size), top)
