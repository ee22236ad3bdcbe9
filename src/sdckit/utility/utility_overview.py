"""A first small table on utility: the release as a whole, by variable, by pair, and for models."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np

from sdckit.cells.pair import Pair, Recoded, open_files
from sdckit.cells.pair_result import PairResult, mean_figures
from sdckit.cells.plans import lazy
from sdckit.data import arguments
from sdckit.data.frames import frame_of, is_lazy
from sdckit.data.packaged import packaged, rows
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, DataError, SdcError
from sdckit.utility.chosen_variables import Chosen, chosen_variables
from sdckit.utility.ecdf_utility import ecdf_utility
from sdckit.utility.losses.generalization_loss import generalization_loss
from sdckit.utility.losses.information_loss import information_loss
from sdckit.utility.models.compare_models import compare_models
from sdckit.utility.models.model_fits import Family
from sdckit.utility.propensities.propensity import propensity
from sdckit.utility.tables.compare_associations import compare_associations
from sdckit.utility.tables.compare_distributions import compare_distributions
from sdckit.utility.tables.tabular_utility import tabular_utility
from sdckit.utility.weighted_totals import MovedFigure, moved_figures

MOST_JOINT = 50_000  # most records for the joint distribution function of several numbers: beyond, it is slow
MOST_NUMBERS = 5
NO_NUMBER = "no variable is declared numeric"
COARSER = "generalization_loss"
FAMILIES = ("linear", "logistic", "poisson", "multinomial")
Step = Callable[[str], None]


@dataclass(frozen=True)
class Headline:
    """One row of the overview: a figure of another measure, and its value for a perfect release."""

    name: str
    level: str
    measure: str
    figure: str
    words: str
    best: float


HEADLINES = tuple(rows(Headline, packaged("utility/headlines.toml")))
RECODED = next(headline.level for headline in HEADLINES if headline.measure == COARSER)


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class UtilityOverview(PairResult):
    """What a release is still good for, seen from several sides; no single score.

    Attributes
    ----------
    results : dict of str to PairResult
        The measures behind the table, by name; `compare_models` with its formula after a colon.
    table : frame
        ``level``, ``measure``, ``figure``, ``value`` (mean over the releases), ``smallest``, ``largest``,
        ``best`` (what a perfect release has).
    skipped : tuple of (str, str)
        Measures that did not run, and why.
    moved : tuple of MovedFigure
        By how much weighted totals and means of the declared numbers, and the weighted counts of the largest levels of
        the keys, moved: ``variable``, ``level``, ``figure``, ``change``. Only with a scenario.
    """

    measure: ClassVar[str] = "utility_overview"
    figures: ClassVar[tuple[str, ...]] = tuple(headline.name for headline in HEADLINES)
    results: dict[str, Any] = field(default_factory=dict, repr=False)
    skipped: tuple[tuple[str, str], ...] = ()
    moved: tuple[MovedFigure, ...] = ()
    variables: tuple[str, ...] = ()
    auc: float = math.nan
    pmse_ratio: float = math.nan
    joint_max_difference: float = math.nan
    mean_total_variation: float = math.nan
    largest_total_variation: float = math.nan
    contingency_similarity: float = math.nan
    mean_s_pmse: float = math.nan
    largest_association: float = math.nan
    mean_overlap: float = math.nan
    min_overlap: float = math.nan
    sign_agreement: float = math.nan
    il1_mean: float = math.nan
    coarsening_loss: float = math.nan
    coarsening_precision: float = math.nan
    coarsening_entropy: float = math.nan

    @property
    def table(self) -> Any:
        """The rows that are defined, as a frame of the original's engine."""
        rows = [headline for headline in HEADLINES if not math.isnan(getattr(self, headline.name))]
        return frame_of(
            {
                "level": [row.level for row in rows],
                "measure": [row.measure for row in rows],
                "figure": [row.words for row in rows],
                "value": [getattr(self, row.name) for row in rows],
                "smallest": [self.spread[row.name][0] for row in rows],
                "largest": [self.spread[row.name][1] for row in rows],
                "best": [row.best for row in rows],
            },
            self._backend(),
        )

    def __getitem__(self, name: str) -> Any:
        """A measure behind the table, by name."""
        return self.results[name]

    def to_dict(self) -> dict[str, Any]:
        """All figures, exact and ready for JSON, with those of every measure under ``measures``."""
        return {
            **super().to_dict(),
            "moved": [asdict(figure) for figure in self.moved],
            "measures": {name: result.to_dict() for name, result in self.results.items()},
        }


# --- measure ------------------------------------------------------------------------------------------


def utility_overview(
    original: Any,
    released: Any = None,
    *,
    variables: Sequence[str] | None = None,
    numeric: Sequence[str] | None = None,
    models: Mapping[str, Family] | Sequence[str] | str = (),
    aligned: bool = False,
    seed: int | np.random.Generator | None = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    step: Step | None = None,
) -> UtilityOverview:
    """Show in one small table what a release is still good for: as a whole, by variable, by pair, for models.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or m of them; sizes may differ from the original's.
    variables : sequence of str, optional
        All columns in common unless given.
    numeric : sequence of str, optional
        Which of them are numbers; else those that the scenario declares, else those stored as numbers.
    models : str, sequence of str, or dict of str to str, optional
        Regressions that users of the file will fit: formulas, each with its family ("linear" unless a dict
        says another).
    aligned : bool
        Whether row i of a release was made from row i of the original.
    seed : int or Generator, optional
        For what is random in the measures behind the table.
    scenario : Scenario, optional
        Gives the numbers, and the weight of totals (`moved`).
    id : str, optional
        Column that says which rows belong together.
    step : callable, optional
        Is told in words what is being done.

    Returns
    -------
    UtilityOverview
        ``table``, ``results``, ``skipped``.

    Raises
    ------
    ColumnError, DataError
        The files do not fit together, or have no column in common. A measure that cannot run is listed in
        `skipped` with its reason.

    Notes
    -----
    There is no single score: a release may keep every table and spoil a regression. Read the worst figure
    of each level beside its mean, and look at the measure behind it.

    References
    ----------
    Snoke, J., Raab, G. M., Nowok, B., Dibben, C. and Slavkovic, A. (2018). General and specific utility
    measures for synthetic data. Journal of the Royal Statistical Society A 181(3).

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["f", "m"] * 20, "age": [20, 30, 40, 50] * 10})
    >>> release = pl.DataFrame({"sex": ["f", "m"] * 20, "age": [20, 30, 50, 50] * 10})
    >>> overview = utility_overview(survey, release, seed=1)
    >>> overview.mean_total_variation, overview.largest_total_variation
    (0.125, 0.25)
    """
    arguments.seed(seed)
    arguments.flag(aligned, "aligned")
    together = aligned or id is not None
    opened = open_files(original, released, id=id)
    chosen = chosen_variables(
        opened, None, variables, numeric, scenario, aligned=together, counted=_too_large(opened, variables)
    )
    families = _families(models)
    results: dict[str, Any] = {}
    skipped: list[tuple[str, str]] = []
    calls = _calls(chosen, families, aligned=together, seed=seed)
    plan = lacking(
        chosen.names, chosen.numeric, tuple(families), aligned=together, n=chosen.pair.n, sizes=chosen.pair.sizes,
        recoded=bool(recoded_among(chosen.pair, chosen.names)),
    )  # fmt: skip
    for name, reason in plan:
        if reason:
            skipped.append((name, reason))
            continue
        if step is not None:
            step(f"measuring utility: {name.partition(':')[0].replace('_', ' ')}")
        try:
            results[name] = calls[name]()
        except SdcError as error:
            skipped.append((name, str(error)))
    moved: tuple[MovedFigure, ...] = ()
    if scenario is not None:
        try:
            moved = _moved(chosen, scenario)
        except SdcError as error:
            skipped.append(("weighted_totals", str(error)))
    notes: dict[str, str] = dict(chosen.notes)
    per_release = tuple(_headlines(results, j) for j in range(chosen.pair.m))
    return UtilityOverview(
        pair=chosen.pair, per_release=per_release, notes=notes, results=results, skipped=tuple(skipped),
        moved=moved, variables=chosen.names, missing_rule="a missing value is a level of its own",
        **mean_figures(per_release, notes),
    )  # fmt: skip


def _too_large(opened: Pair, variables: Sequence[str] | None) -> bool:
    """Whether files are plans with more values than may be brought: their engines count what can be counted."""
    if not all(map(is_lazy, opened.frames)):
        return False
    columns = len(opened.shared_columns()[0] if variables is None else variables)
    return max(opened.n, *opened.sizes) * columns > lazy.most_values(opened.original, len(opened.frames))


def _moved(chosen: Chosen, scenario: Scenario) -> tuple[MovedFigure, ...]:
    """By how much totals, means and counts moved, weighted where the scenario names a weight.

    Raises ColumnError: a file lacks the weight.
    """
    weight, frames = scenario.weight, chosen.pair.plans or chosen.pair.frames
    for label, frame in zip(chosen.pair.names, frames, strict=True):
        if weight is not None and weight not in frame.collect_schema().names():
            raise ColumnError(f"{label} has no column {weight!r} (weight): nobody can weight totals there")
    numeric, keys = (
        [name for name in declared if name in chosen.names and name != weight]
        for declared in (scenario.numeric, scenario.all_keys)
    )
    return moved_figures(chosen.pair, weight=weight, numeric=numeric, keys=keys)


def families_of(models: Mapping[str, str] | Sequence[str] | str) -> dict[str, str]:
    """The models asked for: each formula with its family as given.

    >>> families_of("y ~ x"), families_of({"y ~ x": "logistic"})
    ({'y ~ x': 'linear'}, {'y ~ x': 'logistic'})
    """
    if isinstance(models, Mapping):
        return dict(models)
    return dict.fromkeys(arguments.texts(models, "models"), "linear")


def _families(models: Mapping[str, Family] | Sequence[str] | str) -> dict[str, Family]:
    families = families_of(models)
    for family in families.values():
        if family not in FAMILIES:
            raise DataError(f"models: family {family!r} is unknown; use {', '.join(FAMILIES)}", argument="models")
    return cast("dict[str, Family]", families)


def lacking(
    names: Sequence[str], numeric: Sequence[str], formulas: Sequence[str], *, aligned: bool, n: int,
    sizes: Sequence[int], recoded: bool = False,
) -> list[tuple[str, str]]:  # fmt: skip
    """The measures behind the table in their order, and what each lacks to run; "" where nothing.

    `names`: variables in common. `numeric`: those of them that are numbers. `aligned`: whether rows belong
    together. `n` and `sizes`: records of the original and of the releases; 0 and empty where nobody has counted.
    `recoded`: whether one of the variables was recoded, original as release: only then it is asked what that lost.

    >>> [name for name, why in lacking(["age"], [], [], aligned=False, n=100, sizes=[100]) if not why]
    ['propensity', 'compare_distributions']
    """
    alone = "" if len(names) > 1 else "there is only one variable in common"
    undeclared = "" if numeric else NO_NUMBER
    apart = "" if aligned else "rows are not declared to belong together"
    plan = [
        ("propensity", ""),
        ("ecdf_utility", undeclared or _not_joint(numeric, n + max(sizes, default=0))),
        ("compare_distributions", ""),
        ("tabular_utility", alone),
        ("compare_associations", alone),
        ("information_loss", apart or undeclared),
        *([(COARSER, "")] if recoded and aligned else []),
    ]
    models = [(f"compare_models:{formula}", "") for formula in formulas]
    return plan + (models or [("compare_models", "no model was named")])


def recoded_among(pair: Pair, names: Sequence[str]) -> tuple[Recoded, ...]:
    """The recodings of some columns of the original."""
    return tuple(recoding for recoding in pair.recoded if recoding.column in names)


def _not_joint(numeric: Sequence[str], records: int) -> str:
    if len(numeric) > MOST_NUMBERS:
        return f"more than {MOST_NUMBERS} numbers; ecdf_utility compares those you name"
    if len(numeric) > 1 and records > MOST_JOINT:
        return "too many records for the joint distribution here; ecdf_utility computes it"
    return ""


def _calls(
    chosen: Chosen, families: Mapping[str, Family], *, aligned: bool, seed: int | np.random.Generator | None
) -> dict[str, Callable[[], PairResult]]:
    """The call of each measure, by name."""
    pair, names, numeric = chosen.pair, chosen.names, chosen.numeric
    both: dict[str, Any] = {"variables": names, "numeric": numeric}
    return {
        "propensity": partial(propensity, pair, **both, aligned=aligned, seed=seed),
        "ecdf_utility": partial(ecdf_utility, pair, variables=numeric),
        "compare_distributions": partial(compare_distributions, pair, **both),
        "tabular_utility": partial(tabular_utility, pair, **both),
        "compare_associations": partial(compare_associations, pair, **both),
        "information_loss": partial(information_loss, pair, numeric=numeric, robust=False, seed=seed),
        COARSER: partial(generalization_loss, replace(pair, recoded=recoded_among(pair, names))),
        **{
            f"compare_models:{formula}": partial(compare_models, pair, formula=formula, family=family)
            for formula, family in families.items()
        },
    }


def _headlines(results: Mapping[str, Any], j: int) -> dict[str, float]:
    """The rows of one release; over several models the mean, or the worst. Models combine all releases."""
    out = {}
    for headline in HEADLINES:
        values = [
            float(result.per_release[j].get(headline.figure, getattr(result, headline.figure)))
            for name, result in results.items()
            if name.partition(":")[0] == headline.measure
        ]
        known = [value for value in values if not math.isnan(value)]
        worst = headline.name == "min_overlap"
        out[headline.name] = math.nan if not known else min(known) if worst else math.fsum(known) / len(known)
    return out
