"""F14: what a generalised file lost: precision, loss, entropy, height, discernibility, class size and ambiguity."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sdckit.cells.packing import group_files
from sdckit.cells.pair import IN_BANDS, Pair, Recoded, open_files, read_pair, rows_belong
from sdckit.cells.pair_result import PairResult, mean_figures
from sdckit.data import arguments
from sdckit.data.hierarchy import Hierarchy, as_hierarchy
from sdckit.data.methods import kind_of
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError, ScenarioError
from sdckit.numerics.array_types import Bools, Floats, Ints
from sdckit.utility.losses.generalized_columns import SUPPRESSED, Column, entropy_in_steps, read_column

MISSING_RULE = "a value that the original has and the release does not is suppressed: it may be any of its column"
NOTHING = "no column to judge; give hierarchies={column: hierarchy}, or a recipe with a step that makes one coarser"
APART = "the rows of the files have to belong together: aligned=True, or id="


# --- kernel: numbers in, numbers out ------------------------------------------------------------------


def class_figures(sizes: Ints, n_suppressed: int) -> tuple[float, float]:
    """Discernibility and average size of the equivalence classes; suppressed records are one class.

    >>> class_figures(np.array([3, 2]), 1)
    (19.0, 2.0)
    """
    n = int(sizes.sum()) + n_suppressed
    discernibility = float((sizes.astype(np.float64) ** 2).sum()) + float(n_suppressed) * n
    return discernibility, n / (len(sizes) + (n_suppressed > 0))


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class GeneralizationLoss(PairResult):
    """What was lost by generalising and suppressing.

    Attributes
    ----------
    precision : float
        1 less the mean share of their hierarchy that values went up, 0 to 1 (Sweeney); 1: untouched.
    loss : float
        Mean share of its domain that a value stands for beyond one value, 0 to 1 (Iyengar).
    entropy : float
        Non-uniform entropy: bits lost about the values of all records (Gionis & Tassa); `entropy_share` of all there
        were, 0 to 1.
    height : float
        Levels that the columns went up, added; a column at several levels counts with its highest, one without any
        value left with that of its hierarchy.
    discernibility : float
        Squares of the sizes of the equivalence classes, added; a suppressed record counts as many as there are records
        (Bayardo & Agrawal).
    average_class_size : float
        Records of an equivalence class on average, the suppressed ones being one (LeFevre et al.).
    ambiguity : float
        Combinations of values that a record may stand for, on average (Goldberger & Tassa).
    columns : tuple of str
        The columns that were judged.
    per_column : tuple of tuple of dict
        For each release and column: ``level`` (NaN for several), ``precision``, ``loss``, ``entropy``,
        ``entropy_share``, ``suppressed`` (share of its values), ``changed`` (records of another value).
    normalised : tuple of dict
        For each release each figure between that of the original, 0, and that of a file without any value, 1.
    arx : tuple of dict
        For each release the figures as ARX states them where it counts otherwise.
    """

    measure: ClassVar[str] = "generalization_loss"
    figures: ClassVar[tuple[str, ...]] = (
        "precision", "loss", "entropy", "entropy_share", "height", "discernibility", "average_class_size", "ambiguity",
    )  # fmt: skip
    precision: float = math.nan
    loss: float = math.nan
    entropy: float = math.nan
    entropy_share: float = math.nan
    height: float = math.nan
    discernibility: float = math.nan
    average_class_size: float = math.nan
    ambiguity: float = math.nan
    columns: tuple[str, ...] = ()
    per_column: tuple[tuple[dict[str, float], ...], ...] = field(default=(), repr=False)
    normalised: tuple[dict[str, float], ...] = field(default=(), repr=False)
    arx: tuple[dict[str, float], ...] = field(default=(), repr=False)

    @property
    def column_losses(self) -> dict[str, float]:
        """The loss of each column, its mean over the releases."""
        of_releases = zip(*self.per_column, strict=True)
        return {
            name: math.fsum(row["loss"] for row in rows) / self.m
            for name, rows in zip(self.columns, of_releases, strict=True)
        }

    @property
    def n_changed(self) -> int:
        """The fewest records, but for none, that lost something in a column of a release."""
        return int(min((row["changed"] for of in self.per_column for row in of if row["changed"]), default=0))

    @cached_property
    def table(self) -> Any:
        """A row per release and column in a frame of the caller's engine."""
        rows = [
            (j, name, row)
            for j, of in enumerate(self.per_column, 1)
            for name, row in zip(self.columns, of, strict=True)
        ]
        columns: dict[str, list[Any]] = {"release": [row[0] for row in rows], "column": [row[1] for row in rows]}
        return self.pair.table({**columns, **{name: [row[2][name] for row in rows] for name in OF_COLUMN}})


OF_COLUMN = ("level", "precision", "loss", "entropy", "entropy_share", "suppressed")


# --- measure ------------------------------------------------------------------------------------------


def generalization_loss(
    original: Any,
    released: Any = None,
    *,
    hierarchies: Mapping[str, Any] | None = None,
    recipe: Any = None,
    log: Any = None,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    aligned: bool | None = None,
    scenario: Scenario | None = None,
    id: str | None = None,
) -> GeneralizationLoss:
    """Measure what a file lost by making its values coarser and leaving some out.

    Parameters
    ----------
    original : data frame or Pair
        Of a pair whose original was recoded as its release, the original before counts, and its recoded columns are
        judged, too, as if a recipe named them; but for those whose values were changed otherwise.
    released : data frame or sequence of data frames
        One release or m of them.
    hierarchies : dict, optional
        By column a hierarchy: what `read_hierarchy` gives, the path of a CSV file, or ``{value: [coarser names]}``.
        Columns with one are judged, also where they are as before.
    recipe : Recipe, optional
        The columns that its steps make coarser are judged, too: by the hierarchy of the step, else by one of two
        levels, what the values became and one name for all; bands of numbers count by their width.
    log : RecipeLog, optional
        The log of a release instead of its recipe, which stands in it.
    weights : dict of str to float or sequence of float, optional
        Weight of a column in `precision` and `loss`, 0 or more, by name or in the order of the columns; 1 unless given.
    aligned : bool, optional
        Whether row i of a release was made from row i of the original; what the scenario says unless given.
    scenario : Scenario, optional
    id : str, optional
        Column that says which records belong together.

    Returns
    -------
    GeneralizationLoss
        Figures of the file, `table` by column, `normalised`, and `arx`.

    Raises
    ------
    ScenarioError
        Rows do not belong together; no column to judge.
    ColumnError
        A file lacks a column; a weight is of another one.
    DataError
        A value is no generalisation of that in the original; a weight that cannot be.

    Notes
    -----
    A value that is missing in the release alone is suppressed, as is the top of a hierarchy beside values that are not
    there. A record is suppressed where all of its values are. Values that the original has not are not judged. ARX
    states 1 less `precision`; `arx` has its entropy, which generalises suppressed records first and suppresses them
    then, and its variants that look at levels only (``precision_levels``, ``discernibility_levels``).

    References
    ----------
    Sweeney, L. (2002). Achieving k-anonymity privacy protection using generalization and suppression. IJUFKS 10,
    571-588. Iyengar, V. (2002). Transforming data to satisfy privacy constraints. KDD, 279-288. Gionis, A. and
    Tassa, T. (2009). k-Anonymization with minimal loss of information. IEEE TKDE 21, 206-219. Bayardo, R. and
    Agrawal, R. (2005). Data privacy through optimal k-anonymization. ICDE, 217-228. LeFevre, K., DeWitt, D. and
    Ramakrishnan, R. (2006). Mondrian multidimensional k-anonymity. ICDE. Goldberger, J. and Tassa, T. (2010).
    Efficient anonymizations with enhanced utility. Transactions on Data Privacy 3, 149-175.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"region": ["Graz", "Linz", "Wels", "Graz"]})
    >>> release = pl.DataFrame({"region": ["South", "North", "North", None]})
    >>> levels = {"Graz": ["South", "*"], "Linz": ["North", "*"], "Wels": ["North", "*"]}
    >>> lost = generalization_loss(survey, release, hierarchies={"region": levels}, aligned=True)
    >>> lost.precision, lost.loss, lost.entropy, lost.discernibility
    (0.375, 0.5, 3.0, 9.0)
    """
    arguments.scenario_or_none(scenario)
    if aligned is not None:
        arguments.flag(aligned, "aligned")
    opened = open_files(original, released, id=id)
    judged = _columns(hierarchies, recipe, log, opened.recoded)
    together = rows_belong(opened, aligned, scenario)
    if not together:
        raise ScenarioError(APART, argument="aligned")
    pair = read_pair(opened, {"hierarchies": tuple(judged)}, aligned=True)
    notes: dict[str, str] = {}
    read = _read(pair, judged, notes)
    weight = np.array(list(arguments.weights(weights, list(read)).values()))
    releases = [judged_together(pair.n, [columns[j] for columns in read.values()], weight) for j in range(pair.m)]
    per_release = tuple(of.figures for of in releases)
    figures = mean_figures(per_release, notes)
    return GeneralizationLoss(
        pair, per_release, MISSING_RULE, notes, columns=tuple(read),
        per_column=tuple(of.columns for of in releases), normalised=tuple(of.normalised for of in releases),
        arx=tuple(of.arx for of in releases), **figures,
    )  # fmt: skip


Judged = dict[str, tuple[Hierarchy | None, tuple[float, ...] | None]]


def _columns(hierarchies: Any, recipe: Any, log: Any, recoded: Sequence[Recoded]) -> Judged:
    """The columns to judge, each with its hierarchy and the edges of its bands (none: as its labels say)."""
    if hierarchies is not None and not isinstance(hierarchies, Mapping):
        raise ScenarioError("hierarchies= is a dict: {column: hierarchy}", argument="hierarchies")
    judged: Judged = {name: (as_hierarchy(given), None) for name, given in (hierarchies or {}).items()}
    steps, folder = _steps(recipe, log)
    for step in steps:
        name = step.get("column")
        if isinstance(name, str) and name not in judged and kind_of(step["method"]).recodes:
            above = step.get("hierarchy")
            above = folder / above if isinstance(above, str | Path) else above
            judged[name] = (None if above is None else as_hierarchy(above), _edges(step.get("bands")))
    for recoding in recoded:
        judged.setdefault(recoding.column, (None, () if IN_BANDS in recoding.kind else None))
    if not judged:
        raise ScenarioError(NOTHING, argument="hierarchies")
    return judged


def _steps(recipe: Any, log: Any) -> tuple[list[dict[str, Any]], Path]:
    """The steps of a recipe, or of that in a log, and the folder where its paths start."""
    if log is None:
        steps = [{**step.arguments, "method": step.method} for step in getattr(recipe, "steps", ())]
        return steps, Path(getattr(recipe, "folder", None) or "")
    if recipe is not None or not isinstance(written := getattr(log, "recipe", None), str):
        raise ScenarioError("log= is a RecipeLog and has its recipe; give one of recipe= and log=", argument="log")
    return tomllib.loads(written)["steps"], Path()


def _edges(bands: Any) -> tuple[float, ...] | None:
    """The edges of bands, without an end where it is open; none of bands of which only the number is known."""
    if not isinstance(bands, Sequence):
        return None if bands is None else ()
    ends = (-math.inf, *([math.inf] * (len(bands) - 1)))
    return tuple(end if edge is None else float(edge) for edge, end in zip(bands, ends, strict=True))


def _read(pair: Pair, judged: Judged, notes: dict[str, str]) -> dict[str, list[Column]]:
    """Each column in each release; of those that nobody named, without such as were changed otherwise, too."""
    recoded = {recoding.column for recoding in pair.recoded}
    read: dict[str, list[Column]] = {}
    for name, (hierarchy, edges) in judged.items():
        try:
            read[name] = [read_column(pair, name, j, hierarchy, edges) for j in range(pair.m)]
        except DataError as error:
            if hierarchy is not None or name not in recoded:
                raise
            notes[name] = f"left out: {error}"
    if not read:
        raise ScenarioError("; ".join([NOTHING, *notes.values()]), argument="hierarchies")
    return read


@dataclass(frozen=True, eq=False)
class Together:
    """What was lost in one release, as the fields of the result of this name have it."""

    figures: dict[str, float]
    columns: tuple[dict[str, float], ...]
    normalised: dict[str, float]
    arx: dict[str, float]


def judged_together(n: int, columns: Sequence[Column], weight: Floats) -> Together:
    """The figures of a release of n records from what became of its columns, which `weight` weighs."""
    cells = np.array([of.of_records(of.level, SUPPRESSED) for of in columns])
    at_top = np.array([of.together == of.lattice.height and (of.level >= 0).all() for of in columns])
    gone = (cells == SUPPRESSED) | at_top[:, None]
    suppressed = gone.all(axis=0) & (cells == SUPPRESSED).any(axis=0)
    nodes = [of.of_records(np.where(of.level < 0, -1, of.node), -1) for of in columns]
    sizes = _classes(nodes, ~suppressed)
    discernibility, average = class_figures(sizes, int(suppressed.sum()))
    entropy = math.fsum(of.entropy for of in columns)
    all_entropy = math.fsum(of.most_entropy for of in columns)
    figures = {
        "precision": 1 - float(np.average([of.lost_levels for of in columns], weights=weight)),
        "loss": float(np.average([of.loss for of in columns], weights=weight)),
        "entropy": entropy, "entropy_share": entropy / all_entropy if all_entropy else 0.0,
        "height": math.fsum(of.highest for of in columns),
        "discernibility": discernibility, "average_class_size": average, "ambiguity": _ambiguity(columns, n),
    }  # fmt: skip
    of_columns = tuple(map(_of_column, columns))
    return Together(figures, of_columns, _normalised(figures, columns, n), _arx(columns, suppressed, figures))


def _classes(nodes: Sequence[Ints], kept: Bools) -> Ints:
    """Sizes of the classes of records with the same nodes."""
    codes = [(of[kept] + 1).astype(np.int32) for of in nodes]
    if not kept.any():
        return np.zeros(0, np.int64)
    return group_files([(code,) for code in codes], [int(kept.sum())]).size[0]


def _ambiguity(columns: Sequence[Column], n: int) -> float:
    product = np.ones(n)
    for of in columns:
        per_pair = of.of_pairs(of.lattice.size, float(len(of.lattice.node[0])))
        product *= of.of_records(per_pair, 1.0)
    return float(product.mean()) if n else math.nan


def _of_column(of: Column) -> dict[str, float]:
    return {
        "level": math.nan if of.together is None else float(of.together), "precision": 1 - of.lost_levels,
        "loss": of.loss, "entropy": of.entropy,
        "entropy_share": of.entropy / of.most_entropy if of.most_entropy else 0.0,
        "suppressed": of.mean((of.level == SUPPRESSED).astype(np.float64)),
        "changed": float(of.times[of.level != 0].sum()),
    }  # fmt: skip


def _normalised(figures: Mapping[str, float], columns: Sequence[Column], n: int) -> dict[str, float]:
    """Each figure between that of the original and that of a file without any value."""
    leaves = [of.of_records(of.leaf, -1) for of in columns]
    least, fewest = class_figures(_classes(leaves, np.ones(n, np.bool_)), 0)
    ends = {
        "precision": (1.0, 0.0), "loss": (0.0, 1.0), "entropy": (0.0, figures["entropy"] / figures["entropy_share"])
        if figures["entropy_share"] else (0.0, 1.0),
        "height": (0.0, float(sum(of.lattice.height for of in columns))), "discernibility": (least, float(n) ** 2),
        "average_class_size": (fewest, float(n)),
        "ambiguity": (1.0, float(np.prod([float(len(of.lattice.node[0])) for of in columns]))),
    }  # fmt: skip
    return {name: (figures[name] - low) / (high - low) if high != low else 0.0 for name, (low, high) in ends.items()}


def _arx(columns: Sequence[Column], suppressed: Bools, figures: Mapping[str, float]) -> dict[str, float]:
    """The figures as ARX has them; its entropy and variants need a column to be at one level."""
    stated = {"precision": 1 - figures["precision"]}
    levels = [of.together for of in columns]
    whole = [level for level in levels if level is not None]
    if len(whole) < len(levels) or any((of.of_record < 0).any() for of in columns):
        return stated
    every = [of.lattice.node[level][of.leaf[of.of_record]] for of, level in zip(columns, whole, strict=True)]
    steps = (
        entropy_in_steps(of.leaf, level, of.times, np.where(of.level == SUPPRESSED, of.times, 0), of.lattice)
        for of, level in zip(columns, whole, strict=True)
    )
    heights = [level / of.lattice.height for of, level in zip(columns, whole, strict=True)]
    return {
        **stated, "entropy": math.fsum(steps), "precision_levels": float(np.mean(heights)),
        "discernibility_levels": class_figures(_classes(every, np.ones(len(suppressed), np.bool_)), 0)[0],
    }  # fmt: skip
