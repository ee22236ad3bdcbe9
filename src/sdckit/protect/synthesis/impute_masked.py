"""E8: replace values by draws of the true ones, given masked copies of them and all other variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sdckit.data import arguments
from sdckit.data.nearest import did_you_mean
from sdckit.data.replace import open_eager
from sdckit.data.seeds import open_rng
from sdckit.errors import ColumnError, DataError
from sdckit.numerics.threads import run
from sdckit.protect.change import Change, Protected
from sdckit.protect.synthesis.masking_chain import Chain, potential_scale_reduction, run_chain
from sdckit.protect.synthesis.masking_errors import MaskedVariable, read_masked
from sdckit.protect.synthesis.synthesis_design import seen
from sdckit.protect.synthesis.synthesis_formulas import Predicted
from sdckit.protect.synthesis.synthesis_frames import written
from sdckit.protect.synthesis.synthesis_linear import LinearFit, fit_linear
from sdckit.protect.synthesis.synthesis_models import MOST_OUTCOMES
from sdckit.protect.synthesis.synthesis_order import general_predictors, in_order
from sdckit.protect.synthesis.synthesis_variables import MISSING, Values, Variable, read_variable

MODELS = ("normal", "logistic", "probit", "multinomial")
FAR = 1.1  # R-hat above which chains have not met


def impute_masked(
    data: Any,
    *,
    masked: Mapping[str, str],
    error: Mapping[str, Any],
    predictors: Mapping[str, Any] | None = None,
    models: Mapping[str, str] | None = None,
    m: int = 10,
    iterations: int = 100,
    proper: bool = False,
    seed: arguments.Seed = None,
) -> Protected:
    """Make m files in which masked variables hold draws of their true values, given the masked ones and the rest.

    Parameters
    ----------
    data : data frame
        The originals with masked copies of some variables, as ``mask_continuous(..., suffix="_masked")`` gives them.
    masked : dict of str to str
        The masked copy of each variable that is to be replaced.
    error : dict of str to float or matrix
        How each was masked. Of a number the standard deviation of the noise, in its units. Of a category the
        probability of staying, where all others are alike, or the probability of each masked category (inner)
        by the true one: ``{"own": {"own": .8, "rent": .2}, "rent": {...}}``, or rows in the order of the categories.
    predictors : dict, optional
        By masked variable the names or the formula of what its model has, as in `synthesize`; default all
        variables that are not masked, and the masked ones before it.
    models : dict of str to str, optional
        "normal", "logistic", "probit" or "multinomial"; default by the type.
    m : int
        Files to make, each the end of a chain of its own.
    iterations : int
        Rounds of a chain, in each of which every masked variable is drawn once; the chain starts at the masked values.
    proper : bool
        Whether each file has parameters of its own, drawn from their posterior, instead of those fitted.
    seed : int or numpy.random.Generator, optional
        Whoever guesses it undoes what is drawn: leave it out for a release, ``change.secret`` keeps a long one.

    Returns
    -------
    Protected
        ``data``, a frame without the masked copies (a list of m where ``m > 1``), and ``change``.
        ``change.parameters["convergence"]`` has by variable ``rhat`` (near 1 where the chains agree) and of numbers
        ``accepted``, the share of the moves that were taken; ``change.secret["trace"]`` the means of numbers, or
        shares of the first category, after each round, shape (m, iterations).

    Raises
    ------
    ColumnError
        A variable that the data does not have; errors for other variables than those masked.
    DataError
        An error of 0, or above the variable's spread; a matrix that holds no probabilities; predictors in a circle;
        a model that does not fit the type.

    Notes
    -----
    The models are fitted to the originals. With f the model of a variable given its predictors and g the masking,
    a value y is drawn with probability or density proportional to f(y | others) g(masked | y), times the density
    of every other masked variable that y predicts. Numbers in normal models that are straight lines in them have
    an exact normal distribution; else the draw is one move of Metropolis and Hastings, proposed from it. Missing
    values stay missing. Estimates of the m files are combined by ``combine(kind="imputed")``: the rule for partly
    synthetic files leaves out what the masking adds, and robosynth uses it.

    References
    ----------
    Jiang, B., Raftery, A. E., Steele, R. J. and Wang, N. (2022). Balancing inferential integrity and disclosure
    risk via model targeted masking and multiple imputation. Journal of the American Statistical Association 117.

    Examples
    --------
    >>> import polars as pl
    >>> from sdckit import mask_continuous
    >>> survey = pl.DataFrame({"sex": ["f", "m"] * 50, "income": [float(x) for x in range(100)]})
    >>> both = mask_continuous(survey, columns=["income"], sd=10.0, suffix="_masked", seed=1).data
    >>> found = impute_masked(both, masked={"income": "income_masked"}, error={"income": 10.0}, m=2, seed=1)
    >>> found.data[0].columns, len(found.data), found.change.parameters["convergence"]["income"]["accepted"]
    (['sex', 'income'], 2, 1.0)
    """
    arguments.count(m, "m", "counts files")
    arguments.count(iterations, "iterations", "counts the rounds of a chain")
    arguments.flag(proper, "proper")
    for name, given in (("predictors", predictors), ("models", models)):
        if given is not None and not isinstance(given, Mapping):
            raise DataError(f"{name}= is given by masked variable, as a dict", argument=name)
    frame = open_eager(data, {"masked": _copies(masked)})
    variables = {name: read_variable(frame[name]) for name in frame.columns}
    errors = _errors(error)
    read = {one.name: one for one in read_masked(variables, masked, errors)}
    known = {name: one for name, one in variables.items() if name not in masked.values()}
    chosen = _models(models, read)
    helpers, unused = general_predictors(None, tuple(masked), set(masked.values()), variables, len(frame))
    order, predicting, formulas = in_order(
        tuple(masked), predictors, known, joint=(), helpers=helpers, fixed=False
    )
    _refuse_levels_of_numbers(read, formulas)
    rng, secret = open_rng(seed)
    for_fits, for_chains = rng.spawn(2)
    fits = {
        name: _fit(read[name].variable, chosen[name], [known[one] for one in predicting[name]], m if proper else 0, own,
                   formulas.get(name))
        for name, own in zip(order, for_fits.spawn(len(order)), strict=True)
    }  # fmt: skip
    told = {column for one in formulas.values() for column in one.told_apart}
    others = {
        name: seen(known[name], known[name].held, told=name in told)
        for name in {name for names in predicting.values() for name in names} - set(order)
    }
    chains = run(
        lambda work: run_chain([read[name] for name in order], fits, others, iterations, *work),
        list(enumerate(for_chains.spawn(m))),
    )
    met = _convergence(order, chains)
    rows = np.arange(len(frame))
    rest = open_eager(frame.drop(*masked.values()).to_native(), {})
    made = [_rounded(known, one.values) for one in chains]
    slow = [name for name, one in met.items() if not one["rhat"] <= FAR]
    notes = {**unused, **({"converged": _said(slow, iterations)} if slow else {})}
    if m > 1:
        notes["several files"] = (
            "averaged over the files, numbers come nearer to the true ones than in any of them"
        )
    change = Change(
        "impute_masked", m * len(frame),
        {name: sum(int((one[name].level != known[name].held.level).sum()) for one in made) for name in order},
        parameters={
            "m": m, "iterations": iterations, "masked": dict(masked), "models": {name: chosen[name] for name in order},
            "predictors": {name: list(predicting[name]) for name in order}, "proper": proper, "convergence": met,
        },
        secret={
            "seed": secret, "error": errors,
            "trace": {name: np.stack([one.trace[name] for one in chains]).tolist() for name in order},
        },
        notes=notes,
    )  # fmt: skip
    files = [written(rest, known, rows, one) for one in made]
    return Protected(files if m > 1 else files[0], change)


def _copies(masked: Any) -> list[str]:
    """The variables and their copies, as columns that must be there."""
    if (
        not isinstance(masked, Mapping)
        or not masked
        or not all(isinstance(one, str) for one in masked.values())
    ):
        says = 'masked= says which column is the masked copy of each variable: {"income": "income_masked"}'
        raise DataError(says, argument="masked")
    names = [*masked, *masked.values()]
    if len(set(names)) < len(names):
        raise ColumnError(
            "masked: a variable and its copy are two columns, each named once", argument="masked"
        )
    return names


def _errors(given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        says = 'error= says by variable how it was masked: {"income": 500.0, "tenure": 0.8}'
        raise DataError(says, argument="error")
    return dict(given)


def _models(given: Mapping[str, str] | None, masked: Mapping[str, MaskedVariable]) -> dict[str, str]:
    """The model of each masked variable."""
    found = {}
    for name in given or {}:
        if name not in masked:
            says = f"models: {name!r} is not masked; {did_you_mean(str(name), list(masked))}"
            raise ColumnError(says, argument="models")
    for name, one in masked.items():
        levels = one.variable.n_levels
        default = "normal" if one.number is not None else "logistic" if levels == 2 else "multinomial"
        model = (given or {}).get(name, default)
        arguments.choice(model, "models", MODELS)
        fits = (model == "normal") == (one.number is not None)
        if (
            not fits
            or (model in {"logistic", "probit"} and levels != 2)
            or (model != "normal" and levels > MOST_OUTCOMES)
        ):
            says = f"models: {model!r} does not fit {name!r}, a {one.variable.kind} of {levels:,} values"
            raise DataError(says, argument="models")
        found[name] = model
    return found


def _refuse_levels_of_numbers(
    masked: Mapping[str, MaskedVariable], formulas: Mapping[str, Predicted]
) -> None:
    for name, one in formulas.items():
        for column in one.told_apart:
            if column in masked and masked[column].number is not None:
                says = f"predictors of {name!r}: C({column}) has no levels, {column!r} is drawn as a number"
                raise DataError(says, argument="predictors")


def _fit(
    variable: Variable, model: str, predictors: list[Variable], n_draws: int, rng: np.random.Generator,
    predicted: Predicted | None,
) -> LinearFit:  # fmt: skip
    rows = np.flatnonzero(variable.held.level != MISSING)
    return fit_linear(
        variable, model, predictors, rows, n_draws=n_draws, proper=n_draws > 0, rng=rng, predicted=predicted
    )


def _convergence(order: tuple[str, ...], chains: list[Chain]) -> dict[str, dict[str, float]]:
    """Whether the chains agree, by variable."""
    found = {}
    for name in order:
        rhat = potential_scale_reduction(np.stack([one.trace[name] for one in chains]))
        found[name] = {"rhat": round(rhat, 2)}
        if name in chains[0].accepted:
            found[name]["accepted"] = round(float(np.mean([one.accepted[name] for one in chains])), 2)
    return found


def _said(slow: list[str], iterations: int) -> str:
    return f"the chains of {', '.join(slow)} did not meet in {iterations} rounds; give more iterations"


def _rounded(variables: Mapping[str, Variable], ended: Mapping[str, Values]) -> dict[str, Values]:
    """Numbers as the variables write them."""
    return {
        name: one if one.number is None else variables[name].of_numbers(one.number)
        for name, one in ended.items()
    }
