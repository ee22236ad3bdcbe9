"""E8: replace values by draws from models of the data, variable after variable."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sdckit.cells.packing import group_codes
from sdckit.cells.plans.changed_plan import open_changing
from sdckit.data import arguments, households, nearest, replace, seeds
from sdckit.data.columns import code_column
from sdckit.data.frames import count_records, is_lazy, open_frame
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.array_types import Bools, Ints
from sdckit.numerics.threads import run
from sdckit.protect.by_household import ONCE, read_homes, read_shared
from sdckit.protect.change import Change, Protected, check_made, check_room, chosen, with_files
from sdckit.protect.synthesis import synthesis_design, synthesis_models
from sdckit.protect.synthesis.synthesis_linear import DrawsByColumn, PosteriorDraws
from sdckit.protect.synthesis.synthesis_variables import NEW, Rule, Values, Variable, read_rules, read_variable, written

# The sequence of synthesis: fit every variable's model on the original, then draw release by release.


@dataclass(frozen=True, eq=False)
class Plan:
    """What is to be synthesised, and how."""

    variables: Mapping[str, Variable]
    order: tuple[str, ...]  # variables to synthesise, one after the other
    predictors: Mapping[str, tuple[str, ...]]  # by variable to synthesise
    chosen: Mapping[str, synthesis_models.Chosen]
    rules: Mapping[str, list[Rule]]
    rows: Ints  # records to synthesise
    fit_rows: Ints  # those the models are fitted to
    settings: synthesis_models.Settings
    formulas: Mapping[str, synthesis_design.Predicted] = field(default_factory=dict)  # of variables that have one
    shared: tuple[str, ...] = ()  # those of them that are drawn once per household
    n_made: int | None = None  # records of another number than those to synthesise
    first: Bools | None = None  # shape (n,); the first records of households
    lead: Ints | None = None  # shape (len(rows),); place in `rows` of the first member of each one's household


Fits = dict[tuple[str, int], synthesis_models.Fitted]


def fit_all(plan: Plan, m: int, rng: np.random.Generator) -> Fits:
    """Fit the model of each variable; a model that releases share is stored under release 0.

    Models depend on values of the original only, so they are fitted in parallel.
    """
    # before the threads start: those that import scikit-learn at the same time may find it half made
    import sklearn.linear_model
    import sklearn.tree  # noqa: F401

    generators = rng.spawn(len(plan.order))
    tasks = []
    for name, own in zip(plan.order, generators, strict=True):
        several = plan.settings.proper and not plan.chosen[name].has_posterior
        tasks += [(name, release, part) for release, part in enumerate(own.spawn(m if several else 1))]

    def fit(task: tuple[str, int, np.random.Generator]) -> tuple[tuple[str, int], synthesis_models.Fitted]:
        name, release, own = task
        predictors = [plan.variables[column] for column in plan.predictors[name]]
        fit_rows, settings = _fit_rows(plan, name), plan.settings
        fitted = synthesis_models.fit_model(
            plan.variables[name], plan.chosen[name], predictors, fit_rows, settings, own, plan.formulas.get(name)
        )
        return (name, release), fitted

    linear = [task for task in tasks if plan.chosen[task[0]].is_linear]
    with warnings.catch_warnings():  # not on threads: they share the filters. What did not converge is noted
        warnings.simplefilter("ignore")
        fits = dict([fit(task) for task in linear])
    # the longest fits begin first: the later a variable, the more predictors it has
    return {**fits, **dict(run(fit, [task for task in reversed(tasks) if not plan.chosen[task[0]].is_linear]))}


def _fit_rows(plan: Plan, name: str) -> Ints:
    """Records that the model of a variable is fitted to: those whose value no rule determines."""
    free = np.ones(len(plan.fit_rows), np.bool_)
    held = {column: plan.variables[column].held.take(plan.fit_rows) for column in _tested(plan, name)}
    for rule in plan.rules.get(name, []):
        free &= ~rule.holds(held, len(free))
    if name in plan.shared and plan.first is not None:
        free &= plan.first[plan.fit_rows]
    return plan.fit_rows[free] if free.any() else plan.fit_rows


def _tested(plan: Plan, name: str) -> set[str]:
    """Columns in the conditions of the rules of a variable."""
    return {test.column for rule in plan.rules.get(name, []) for test in rule.tests}


def draw_releases(plan: Plan, fits: Fits, m: int, rng: np.random.Generator) -> list[dict[str, Values]]:
    """Draw new values of the records to synthesise, release by release on threads."""
    return run(lambda work: _draw(plan, fits, *work), list(enumerate(rng.spawn(m))))


def _draw(plan: Plan, fits: Fits, release: int, rng: np.random.Generator) -> dict[str, Values]:
    n = plan.n_made or len(plan.rows)
    now: dict[str, Values] = {}
    for name, own in zip(plan.order, rng.spawn(len(plan.order)), strict=True):
        for column in {*plan.predictors[name], *_tested(plan, name)} - now.keys():
            now[column] = plan.variables[column].held.take(plan.rows)  # not synthesised: as it is
        fitted = fits.get((name, release), fits[name, 0])
        categorical = plan.formulas[name].categorical if name in plan.formulas else ()
        held = {column: synthesis_design.seen(plan.variables[column], now[column], categorical=column in categorical)
                for column in plan.predictors[name]}  # fmt: skip
        made = fitted.draw(held, n, own, release)
        for rule in plan.rules.get(name, []):
            made = _set(made, rule.holds(now, n), rule.value)
        now[name] = made if plan.lead is None or name not in plan.shared else made.take(plan.lead)
    return {name: now[name] for name in plan.order}


def _set(made: Values, where: Bools, value: Values) -> Values:
    level = np.where(where, value.level[0], made.level)
    if made.number is None or value.number is None:
        return Values(level, made.number)
    return Values(level, np.where(where, value.number[0], made.number))


def changed_values(plan: Plan, made: Mapping[str, Values]) -> dict[str, int]:
    """Number of values that differ from the original record in the same row; all where no record has that row."""
    if plan.n_made is not None:
        return dict.fromkeys(made, plan.n_made)
    return {
        # a new number is no level of the original's
        name: int(np.count_nonzero(values.level != plan.variables[name].held.level[plan.rows]))
        for name, values in made.items()
    }


def copied_rows(plan: Plan, made: Mapping[str, Values], names: tuple[str, ...]) -> int:
    """Number of synthesised records that equal some record of the original in several variables."""
    made_rows = plan.n_made or len(plan.rows)
    fine = np.ones(made_rows, np.bool_)
    columns: list[Any] = []
    for name in names:
        level = made[name].level
        fine &= level != NEW
        columns.append(np.concatenate([plan.variables[name].held.level + 1, np.maximum(level + 1, 0)]))
    n = len(plan.variables[names[0]].held.level)
    groups = group_codes(columns, n + made_rows).of_row
    here = np.zeros(int(groups.max()) + 1, np.bool_)
    here[groups[:n]] = True
    return int(np.count_nonzero(here[groups[n:]] & fine))


# Synthesis of a lazy frame: the columns read are collected, and what is drawn becomes a lazy frame again.


def synthesize_plan(
    data: Any, run: Callable[[Any], Protected], *, read: Callable[[Sequence[str]], Sequence[str]], named: Sequence[str],
    drawn: Sequence[str] | None, m: int, n: int | None,
) -> Protected:  # fmt: skip
    """Synthesise a lazy frame (plan).

    `run`: the synthesis of a frame in memory. `read`: which of the columns it reads. `named`: columns that must be
    there. `drawn`: those that are synthesised, None for all. `m`, `n`: files, and records of each.

    Raises ColumnError: a column that is not there. DataError: no records; more values than may be here.
    """
    size = count_records(data)
    if size == 0:
        raise DataError("the data has no records")
    plan = open_changing(data, size)
    for name in named:
        if name not in plan.columns:
            raise ColumnError(f"no column {name!r} in the data; {nearest.did_you_mean(str(name), plan.columns)}")
    wanted = {*(plan.columns if n not in (None, size) else read(plan.columns))}
    columns = [name for name in plan.columns if name in wanted]
    check_room(size, columns, plan.frame)
    check_made(m, n or size, len(plan.columns if drawn is None else drawn))
    brought = plan.brought(columns)
    made, change = run(brought.table)
    files = [extended.plan() for extended in with_files(plan, brought, made)]
    return Protected(files if m > 1 else files[0], change)


def synthesize(
    data: Any,
    *,
    m: int = 1,
    n: int | None = None,
    columns: Sequence[str] | None = None,
    order: Sequence[str] | None = None,
    models: Any = None,
    predictors: Sequence[str] | Mapping[str, Any] | None = None,
    rows: Any = None,
    fit_to: str = "rows",
    rules: Mapping[str, Any] | None = None,
    proper: bool = False,
    min_leaf: int = 5,
    smoothing: float | Mapping[str, float] = 0.0,
    transform: Mapping[str, str] | None = None,
    concentration: float = 1.0,
    posterior_draws: int = 100,
    household: str | None = None,
    household_variables: Sequence[str] | None = None,
    seed: arguments.Seed = None,
) -> Protected:
    """Make m synthetic files: each variable in turn is drawn from a model given those before it.

    Parameters
    ----------
    data : data frame or plan
        Of a plan (Polars, DuckDB, Spark) the columns that are read come here (200 million values at most), are
        drawn as in memory, and become a plan that its engine writes.
    m : int
        Files to make, 1 or more. The first of several is the one that ``m=1`` makes.
    n : int, optional
        Records of each file; default as many as the data has. Another number takes a fully synthetic file: every
        column that varies is drawn, and no record stands for one of the original.
    columns : sequence of str, optional
        Variables to synthesise; the others stay and predict. Default all that vary.
    order : sequence of str, optional
        The same variables in the order in which they are drawn; default what `predictors` asks for, else as in
        `columns` or the data.
    models : str, scikit-learn estimator or dict, optional
        For all or by variable: "cart" (the default; donors from the leaf of a tree), "normal", "logistic" and
        "probit" (two values), "multinomial", "poisson" (counts), "dirichlet_multinomial" (categories: their
        shares in each cell of the predictors, the saturated model), "multivariate_normal" (the variables that
        have it are drawn from one joint normal distribution), "sample" (draws from the variable alone), or an
        estimator: a classifier with probabilities, or a regressor, to whose predictions residuals are drawn.
    predictors : sequence of str or dict, optional
        Names: which of the variables that are not synthesised predict; default all that vary and are no list of
        names. By variable, names or a formula: ``{"age": ["sex"], "income": "~ age * sex + log(hours + 1)"}``,
        an empty list for nothing; a variable without an entry is predicted by all drawn before it. Formulas have
        ``+ - : * / **``, ``C(column)`` and functions of each record's values. Trees and counts of cells take the
        columns of a formula.
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
        Least records in a leaf of a tree; of 5 they copy single people. Begin with 100 and `smoothing` 1 for a file
        that goes out as synthetic.
    smoothing : float or dict
        For numbers by "cart", for all or by variable: 0 gives donors' values as they are; 1 adds normal noise
        of the bandwidth 0.9 sd n^(-1/5) of each leaf, within the range of the variable. Values that a tenth of
        the records hold are not smoothed.
    transform : dict, optional
        ``{"income": "log"}``: numbers above 0 modelled on the log scale by "normal", "cart" or a regressor, and
        written on their own. As a predictor the variable stays as it is; a formula may take its logarithm.
    concentration : float
        Of "dirichlet_multinomial": records that the prior adds to each level of each cell. 0: the counts alone, and
        in a cell without records the shares of all.
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
        ``data``, a frame, of a plan a plan (a list of m where ``m > 1``), and ``change``.
        ``change.secret["draws"]`` holds by variable of a regression its draws, with ``log_density(data)`` and, for
        `bayesian_attribute_risk`, ``predictive(data)``; ``change.notes`` says how many records equal one of the
        original in all that was synthesised.

    Raises
    ------
    ColumnError
        A variable that the data does not have, or named in one option and not in another that needs it; one that
        predicts itself.
    DataError
        Predictors in a circle, or drawn later than what they predict; a formula that cannot be read; `n` below 1, or
        with columns that are not drawn.
        A variable without values or of equal ones; texts that nearly all differ; infinite values; a model that
        does not fit the type; a logarithm of what is not above 0, or for a model that has none; flags that are not
        boolean, or of another number than the records.

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
    Hu, J. and Savitsky, T. D. (2018). Bayesian Data Synthesis and Disclosure Risk Quantification. arXiv:1809.10074.
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
    if n is not None:
        arguments.count(n, "n", "counts the records of each file")
    arguments.count(min_leaf, "min_leaf", "counts the records of a leaf")
    arguments.count(posterior_draws, "posterior_draws", "counts draws to keep", at_least=0)
    arguments.choice(fit_to, "fit_to", ("rows", "all"))
    arguments.flag(proper, "proper")
    arguments.amount(concentration, "concentration", "counts the records of the prior")
    listed = None if isinstance(predictors, Mapping) else predictors
    helping = chosen(listed, "predictors") if listed else ()
    if is_lazy(opened := open_frame(data)):
        apart_from = [name for name in (rows, household) if isinstance(name, str)]
        also = [*apart_from, *(household_variables or ()), *helping]
        return synthesize_plan(
            data, lambda table: synthesize(
                table, m=m, n=n, columns=columns, order=order, models=models, predictors=predictors, rows=rows,
                fit_to=fit_to, rules=rules, proper=proper, min_leaf=min_leaf, smoothing=smoothing,
                transform=transform, concentration=concentration, posterior_draws=posterior_draws, household=household,
                household_variables=household_variables, seed=seed,
            ),
            read=lambda known: [*columns_read(known, named, predictors, rules), *also],
            named=[*(named or ()), *also], drawn=named, m=m, n=n,
        )  # fmt: skip
    frame = replace.open_eager(opened, {"columns": named or (), "predictors": helping})
    variables = {name: read_variable(frame[name]) for name in columns_read(frame.columns, named, predictors, rules)}
    hit = _flags(rows, frame)
    apart = {name for name in (rows, household) if isinstance(name, str)}
    counts = _counting(frame, household, variables)
    order_of, left = synthesis_design.targets_in_order(named, order, apart | counts, variables, len(frame))
    homes, shared = read_shared(frame, order_of, household, household_variables)
    if order is None:
        order_of = (*shared, *(name for name in order_of if name not in shared))
    hit = hit if homes is None or not shared else homes.some(hit)
    helpers, unused = synthesis_design.general_predictors(listed, order_of, apart, variables, len(frame))
    chosen_models = synthesis_models.on_log_scale(
        synthesis_models.read_models(models, [variables[name] for name in order_of], _smoothing(smoothing, order_of)),
        transform,
        variables,
    )
    joint = [name for name in order_of if chosen_models[name].name == synthesis_models.JOINT]
    order_of, predicting, formulas = synthesis_design.in_order(
        order_of, predictors, variables, joint=joint, helpers=helpers, fixed=order is not None
    )
    n_made = _other_size(n, frame, order_of, variables, rows, household)
    known = {name: {*variables} - set(order_of[at:]) for at, name in enumerate(order_of)}
    plan = Plan(
        variables=variables, order=order_of,
        predictors=predicting, formulas=formulas, chosen=synthesis_models.as_joint(chosen_models, order_of),
        n_made=n_made, rules=read_rules(rules or {}, variables, known),
        rows=np.flatnonzero(hit), fit_rows=np.arange(len(frame)) if fit_to == "all" else np.flatnonzero(hit),
        settings=synthesis_models.Settings(
            min_leaf, max(posterior_draws, m if proper else 0), proper, float(concentration)
        ),
        **_household_fields(homes, shared, np.flatnonzero(hit)),
    )  # fmt: skip
    if 0 < len(plan.rows) < len(frame) and len(plan.fit_rows) < 2 * min_leaf:
        raise DataError(
            f"{len(plan.rows)} records are flagged, too few to fit models to: they would get each other's values; "
            "use fit_to='all'"
        )
    rng, secret = seeds.open_rng(seed)
    files, draws, draw_notes = _drawn(plan, m, rng, keep=posterior_draws > 0)
    of_homes = _household_notes(shared, () if named else sorted(counts), flagged=rows is not None)
    notes = {**left, **unused, **of_homes, **draw_notes}
    models_used = {name: plan.chosen[name].name for name in order_of}
    made = [written(frame, plan.variables, plan.rows, file, plan.n_made) for file in files] or [
        replace.take_rows(frame, {}) for _ in range(m)
    ]
    per_file = [changed_values(plan, file) for file in files]
    if n_made is not None:
        notes["n"] = f"files of {n_made:,} records from {len(frame):,}: none stands for one of the original"
    change = Change(
        "synthesize", m * (n_made or len(frame)), {name: sum(counts[name] for counts in per_file) for name in order_of},
        parameters={
            "m": m, **({} if n_made is None else {"n": n_made}), "order": list(order_of), "models": models_used,
            "predictors": _predictors_parameter(helpers, predictors),
            "rows": "all" if rows is None else "flagged", "fit_to": fit_to,
            "rules": {name: len(column_rules) for name, column_rules in plan.rules.items()}, "proper": proper,
            "min_leaf": min_leaf, "smoothing": {name: plan.chosen[name].smoothing for name in order_of},
            **({"transform": dict(transform)} if transform else {}),
            **({"household": household, "household_variables": list(shared)} if shared else {}),
        },
        secret={"seed": secret, "draws": DrawsByColumn(draws, models_used, posterior_draws > 0)},
        notes=notes,
    )  # fmt: skip
    return Protected(made if m > 1 else made[0], change)


def _drawn(
    plan: Plan, m: int, rng: np.random.Generator, *, keep: bool
) -> tuple[list[dict[str, Values]], dict[str, PosteriorDraws], dict[str, str]]:
    """The values of each file, the draws of the parameters, and notes on both."""
    for_fits, for_draws = rng.spawn(2)
    if not len(plan.rows):
        return [], {}, {"changed": "no record is flagged"}
    fits = fit_all(plan, m, for_fits)
    files = draw_releases(plan, fits, m, for_draws)
    kept = {name: synthesis_models.kept_draws(fits[name, 0]) for name in plan.order} if keep else {}
    used = m if plan.settings.proper else 0
    draws = {name: PosteriorDraws({**fields, "used": used}) for name, fields in kept.items() if fields is not None}
    slow = [name for name in plan.order if synthesis_models.unconverged(fits[name, 0])]
    notes = {"converged": f"the regressions of {', '.join(slow)} did not converge"} if slow else {}
    return files, draws, notes | _copies(plan, files)


def _predictors_parameter(helpers: Sequence[str], given: Any) -> list[str] | dict[str, Any]:
    """The predictors as they were given, for the parameters of the change."""
    if not isinstance(given, Mapping):
        return list(helpers)
    return {name: columns if isinstance(columns, str) else list(columns) for name, columns in given.items()}


def _other_size(
    n: int | None, frame: Any, order: Sequence[str], variables: Mapping[str, Variable], rows: Any, household: Any
) -> int | None:  # fmt: skip
    """The number of records to make where it is not that of the data."""
    if n is None or n == len(frame):
        return None
    if rows is not None or household is not None:
        kept = "rows=" if rows is not None else "a household (household=, or that of a scenario)"
        says = f"n= makes {n:,} records of its own, and {kept} keeps the {len(frame):,} of the file; leave one out"
        raise DataError(says, argument="n")
    stays = [name for name in frame.columns if name not in order and (
        name not in variables or variables[name].n_levels + (variables[name].n_missing > 0) > 1
    )]  # fmt: skip
    if stays:
        says = f"n= makes {n:,} records, and {stays[0]!r} is not drawn; synthesise it, or drop it first"
        raise DataError(says, argument="n")
    return n


def columns_read(columns: Sequence[str], named: Any, predictors: Any, rules: Any) -> list[str]:
    """The columns that are read: where all roles are given, no others."""
    if named is None or predictors is None:
        return list(columns)
    if isinstance(predictors, Mapping):
        if set(named) - set(predictors):
            return list(columns)
        by_name = synthesis_design.read_predictors(predictors, named, columns)
        predictors = [column for predicted in by_name.values() for column in predicted.columns]
    wanted = {*named, *predictors}
    for column_rules in rules.values() if isinstance(rules, Mapping) else ():
        for rule in column_rules if isinstance(column_rules, (list, tuple)) else [column_rules]:
            wanted |= set(rule.get("when", ())) if isinstance(rule, Mapping) else set()
    return [name for name in columns if name in wanted]


def _counting(frame: Any, household: str | None, variables: Mapping[str, Variable]) -> set[str]:
    """Variables that equal the household size: it can be counted, so they are not drawn."""
    if household is None:
        return set()
    homes = read_homes(frame, household)
    size = homes.size[homes.of_row]
    numbers = {name: variable.held.number for name, variable in variables.items() if variable.kind == "number"}
    same = [name for name, values in numbers.items() if values is not None and np.array_equal(values, size)]
    return set(same) - {household}


def _household_notes(shared: Sequence[str], counts: Sequence[str], *, flagged: bool) -> dict[str, str]:
    """Notes on what was drawn once per household."""
    notes = {}
    if counts:
        notes["household size"] = f"{', '.join(counts)} counts the records of households, and stays as they do"
    if shared:
        notes["household_variables"] = f"{', '.join(shared)}: drawn {ONCE}"
        if flagged:
            notes["rows"] = "where a record is flagged, its whole household is made anew"
    return notes


def _household_fields(homes: households.Homes | None, shared: tuple[str, ...], rows: Ints) -> dict[str, Any]:
    """The fields of a `Plan` by which household variables are drawn once per household."""
    if homes is None or not shared:
        return {}
    first, there = np.zeros(len(homes.of_row), np.bool_), np.zeros(len(homes.of_row), np.bool_)
    first[homes.first], there[rows] = True, True
    lead = homes.lead(there)[homes.of_row[rows]]
    return {"shared": shared, "first": first, "lead": np.searchsorted(rows, lead)}


def _flags(rows: Any, frame: Any) -> Bools:
    """Which records are to be synthesised."""
    if rows is None:
        return np.ones(len(frame), np.bool_)
    if isinstance(rows, str):
        arguments.present([rows], frame.columns, "rows", argument="rows")
        coded = code_column(frame[rows])
        if coded.kind != "boolean" or coded.n_missing:
            raise DataError(f"rows: {rows!r} does not hold true or false for every record", argument="rows")
        return np.asarray(coded.codes() + coded.low == 1)
    try:
        flags = np.asarray(rows)
    except (TypeError, ValueError):
        flags = np.empty(0)
    if flags.dtype != np.bool_ or flags.ndim != 1:
        says = "rows= takes true or false for each record, or the name of the column that holds them"
        raise DataError(says, argument="rows")
    if len(flags) != len(frame):
        says = f"rows= has {len(flags)} flags, the data {len(frame)} records; give one for each record"
        raise DataError(says, argument="rows")
    return flags


def _smoothing(given: Any, order: tuple[str, ...]) -> dict[str, float]:
    by_column = given if isinstance(given, Mapping) else dict.fromkeys(order, given)
    for name, value in by_column.items():
        if name not in order:
            raise ColumnError(f"smoothing: {name!r} is not to be synthesised", argument="smoothing")
        arguments.amount(value, "smoothing", "is a multiple of the bandwidth")
    return {name: float(by_column.get(name, 0.0)) for name in order}


def _copies(plan: Plan, files: Sequence[Mapping[str, Values]]) -> dict[str, str]:
    """Notes on how many synthesised records equal one of the original."""
    groups = {"copies": plan.order, "numeric copies": tuple(
        name for name in plan.order if plan.variables[name].kind == "number"
    )}  # fmt: skip
    notes = {}
    for note, names in groups.items():
        if names and (note == "copies" or names != plan.order):
            counts = ", ".join(str(copied_rows(plan, file, names)) for file in files)
            notes[note] = (
                f"{counts} of {plan.n_made or len(plan.rows)} records equal one of the original in {', '.join(names)}"
            )
    return notes
