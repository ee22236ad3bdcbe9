"""C6: posterior probability of a record's true value, for an intruder with the release and all other records."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sdckit.attribute.prediction.posterior_draws import Evidence, evidence, kind_of, posterior_of_guesses, rank_of_truth
from sdckit.cells.pair import open_pair
from sdckit.cells.record_result import ColumnResult, IntervalKind, breakdown
from sdckit.data import arguments
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import releases_have
from sdckit.errors import ScenarioError
from sdckit.result import FileFigure

FEW_DRAWS = 30
RECORDS = ("probability", "baseline", "rank", "effective_draws")
MISSING_RULE = "a missing value is a level of its own"
Columns = dict[str, NDArray[np.float64]]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BayesianAttributeRisk(ColumnResult):
    """How sure an intruder becomes of the true values; given all releases together (`by_release`: each alone).

    Attributes
    ----------
    n : int
        Records.
    n_draws : int
        Posterior draws given.
    mean_guesses : float
        Values that an intruder considers for a record, the true one among them.
    mean_probability : float
        Mean posterior probability of the true value (being missing is one).
    baseline : float
        Mean probability of the true value before the release: equal for all guesses, or `prior`.
    gain : float
        ``mean_probability - baseline``: what the release tells.
    share_first : float
        Share of records whose true value is the most probable guess; equally probable ones share.
    mean_rank : float
        Mean rank of the true value among the guesses; 1 is the most probable.
    largest_probability : float
        Of any record.
    effective_draws : float
        Draws that the worst supported probability rests on.
    records : frame
        ``probability`` of the true value, ``baseline``, ``rank``, ``effective_draws``.
    """

    measure: ClassVar[str] = "bayesian_attribute_risk"
    figures: ClassVar[tuple[str, ...]] = (
        "n", "n_draws", "mean_guesses", "mean_probability", "baseline", "gain", "share_first", "mean_rank",
        "largest_probability", "effective_draws",
    )  # fmt: skip
    target: str
    n_draws: int
    mean_guesses: float
    mean_probability: float
    baseline: float
    gain: float
    share_first: float
    mean_rank: float
    largest_probability: float
    effective_draws: float

    def file_figures(self) -> tuple[FileFigure, ...]:
        """The record column behind each file-level figure, and how it is summarised."""
        return (
            FileFigure("mean_probability", "probability"),
            FileFigure("gain", "gain"),
            FileFigure("share_first", "first"),
            FileFigure("baseline", "baseline", higher="reference"),
            FileFigure("mean_rank", "rank", higher="safer"),
            FileFigure("mean_guesses", "guesses", higher="reference"),
            FileFigure("largest_probability", "probability", "max"),
        )


def bayesian_attribute_risk(
    original: Any,
    released: Any = None,
    *,
    target: str | None = None,
    draws: Mapping[str, Any],
    guesses: int | Sequence[float] | None = None,
    prior: Sequence[float] | None = None,
    by: Sequence[str] | str | None = None,
    interval: IntervalKind | None = None,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> BayesianAttributeRisk:
    """Measure how probable the true value of each record becomes, given a synthesizer's posterior draws.

    The intruder of the worst case: they know the synthesizer, every other record of the original and all of
    this one but the target.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or m of them, in which only the target is synthetic; row i was made from row i of the
        original, or has its `id`.
    target : str
        The synthetic variable.
    draws : dict of str to array
        H draws of the parameters given the original, row i for record i of the original. Of a number that is
        normal given the rest ``{"mean": (H, n), "sd": (H,) or (H, n)}``, of a count that is Poisson
        ``{"rate": (H, n) or (H,)}``. Of a category ``{"probability": (H, n, L) or (H, L)}``, the L levels
        being the values of the target in all files, ascending, and last being missing where a value is; or
        those listed under ``"levels"`` (None: missing). Of each of these, where whether there is a value has
        parameters of its own, independent of the others, also ``"missing": (H, n) or (H,)``, the probability
        that there is none. Of any other model natural logs: ``{"log_guess": (H, n, G), "truth": (n,),
        "log_released": (m, H)}``: of each guess, which guess (from 0) is the truth, and of each release as a
        whole. Of our own synthesis ``change.secret["draws"][target].predictive(original)``.
    guesses : int or sequence of float, optional
        For numbers: values that an intruder considers besides the true one: so many quantiles of the
        original (the middles of as many classes), or these. Default 10 quantiles; of counts below 100 each
        from 0 to the largest of the original, and "more than that" as one guess.
    prior : sequence of float, optional
        For categories, counts guessed one by one, and logs: what an intruder holds of each guess before, in
        the order of the guesses ("more", then missing, last); equal unless given.
    by : str or sequence of str, optional
        Columns of the original whose combinations are subgroups; see ``by_group``. A missing value is a group of its
        own.
    interval : "bootstrap", optional
        95 % percentile intervals of means and sums over the records, from 200 resamples of the records (of whole
        households where they are declared). A record keeps what it has in this file: drawing it twice does not make
        it less rare.
    seed : int or Generator, optional
        Of the bootstrap.
    scenario : Scenario, optional
        Gives the target where it has one sensitive variable.
    id, prefix : str, optional
        Column that says which rows belong together; text before the names of result columns.

    Returns
    -------
    BayesianAttributeRisk

    Raises
    ------
    ColumnError
        A target that a file does not have.
    DataError
        Files of different lengths without `id`; draws of another shape, without missing values where the
        files have them, that rule out a true value or a whole release.
    ScenarioError
        No target.

    Notes
    -----
    p(release | the record has y) is the mean of p(release | draw) over the draws with the weights
    p(y | draw) / p(true value | draw), and over m releases the product. With files of some size few draws
    carry that mean: look at ``effective_draws``, and use more draws where it is small.

    Being missing is one more value that the target may have, of numbers too: p(y | draw) of a number y is the
    probability of being there times its density then. Of a record whose true value is missing, that it is
    missing is what can be learnt.

    References
    ----------
    Hu, J., Reiter, J. P. and Wang, Q. (2014). Disclosure risk evaluation for fully synthetic categorical
    data. Privacy in Statistical Databases. Hu, J. (2019). Bayesian estimation of attribute and
    identification disclosure risks in synthetic data. Transactions on Data Privacy 12.

    Examples
    --------
    >>> import numpy as np
    >>> import polars as pl
    >>> survey = pl.DataFrame({"ill": ["no", "no", "yes"]})
    >>> draws = {"probability": np.array([[0.9, 0.1], [0.5, 0.5]])}
    >>> result = bayesian_attribute_risk(survey, survey, target="ill", draws=draws)
    >>> result.records["probability"].round(3).to_list(), result.baseline
    ([0.461, 0.461, 0.547], 0.5)
    """
    scenario = arguments.scenario_or_none(scenario)
    if target is None:
        sensitive = scenario.sensitive if scenario else ()
        if len(sensitive) != 1:
            words = "say which variable is synthetic and would be learnt: target='...'"
            raise ScenarioError(words, argument="target")
        target = sensitive[0]
    arguments.column(target, "target")
    roles = {"target": [target]}
    broken = breakdown(original, by, BayesianAttributeRisk, interval, seed, scenario, prefix)
    is_number = kind_of(draws) in {"normal", "counts"}
    pair = open_pair(
        original, released, categories={} if is_number else roles, numeric=roles if is_number else {},
        also=broken.also, aligned=True, id=id,
    )  # fmt: skip
    given = evidence(pair, target, draws, guesses, prior)
    notes = {}
    if same := sum(pair.identical([target])):
        notes["released"] = f"{releases_have(same, pair.m)} the original's target, row by row"
    if given.n_missing:
        notes["missing"] = (
            f"the true value of {given.n_missing} of {pair.n} records is that it is missing, a guess like others"
        )
    whole, of_records = _risk(given)
    columns = {name: of_records[name] for name in RECORDS}
    alone = [_risk(given.of_release(j))[0] for j in range(pair.m)] if pair.m > 1 else [whole]
    if pair.m > 1:
        notes["releases"] = "all figures are given all releases together; by_release gives each alone"
    if whole["effective_draws"] < FEW_DRAWS:
        notes["effective_draws"] = (
            f"the worst supported probability rests on {whole['effective_draws']:.1f} of {given.n_draws} draws: give "
            "more draws, or take such probabilities as rough"
        )
    result = BayesianAttributeRisk(
        pair=pair, per_release=tuple(alone), missing_rule=MISSING_RULE, notes=notes, target=target, n=pair.n,
        n_draws=given.n_draws, **whole, columns=columns, prefix=prefix,
    )  # fmt: skip
    return broken.of(result, of_records)


def _risk(given: Evidence) -> tuple[dict[str, float], Columns]:
    with np.errstate(divide="ignore"):
        log_prior = np.log(given.prior)
    posterior = posterior_of_guesses(given.parts, log_prior)
    at = given.truth[:, None]
    probability = np.take_along_axis(posterior.probability, at, axis=1)[:, 0]
    baseline = np.take_along_axis(given.prior, at, axis=1)[:, 0]
    rank, first = rank_of_truth(posterior.probability, given.truth, given.prior > 0)
    n = len(probability)
    figures = {
        "mean_guesses": float((given.prior > 0).sum() / n),
        "mean_probability": math.fsum(probability) / n,
        "baseline": math.fsum(baseline) / n,
        "gain": math.fsum(probability - baseline) / n,
        "share_first": float(first.mean()),
        "mean_rank": float(rank.mean()),
        "largest_probability": float(probability.max()),
        "effective_draws": float(posterior.draws.min()),
    }
    columns = {
        "probability": probability, "baseline": baseline, "rank": rank, "effective_draws": posterior.draws,
        "gain": probability - baseline, "first": first,
        "guesses": np.broadcast_to((given.prior > 0).sum(axis=1), n).astype(np.float64),
    }  # fmt: skip
    return figures, columns
