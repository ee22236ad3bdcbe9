"""F14: what a generalised file lost: precision, loss, entropy, height, discernibility, class size and ambiguity.

Most follow from the level that each value of a column went up to in its hierarchy.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress, count, repeat
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sdckit.cells import packing, pair_result
from sdckit.cells.pair import IN_BANDS, Pair, Recoded, open_files, read_pair, rows_belong
from sdckit.data import arguments, methods
from sdckit.data.columns import code_column
from sdckit.data.hierarchy import Hierarchy, as_hierarchy, leaves_as, read_band, values_as
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError, ScenarioError
from sdckit.numerics.array_types import Bools, Floats, Ints, Values

SUPPRESSED, UNKNOWN = -1, -2
ANY = "\x00"  # no value of a file
MOST_CELLS = 4_000_000  # of a table of counts


@dataclass(frozen=True, eq=False)
class Lattice:
    """A hierarchy as numbers: `node` (L + 1, V) names each of V leaves at each level, the leaves themselves first.

    `size` has the leaves below each node, `share` what a node covers of the domain beyond a single value, 0 to 1.
    """

    node: Ints
    size: Floats
    share: Floats

    @property
    def height(self) -> int:
        """Levels above the leaves."""
        return len(self.node) - 1


def levels_of(fits: Bools, known: Bools) -> Ints:
    """The level that each value is at: that of all together if there is one, else the lowest of each.

    `fits` (L + 1, P): whether a value is called as its leaf is at each level. `known` (P,): it is not suppressed;
    `SUPPRESSED` stands for those that are, `UNKNOWN` for one that is no generalisation of its leaf.

    >>> fits = np.array([[False, True, False], [True, True, False], [True, False, True]])
    >>> levels_of(fits, np.array([True, True, False])).tolist()
    [1, 1, -1]
    >>> levels_of(fits, np.array([True, True, True])).tolist()
    [1, 0, 2]
    """
    levels = np.where(known, UNKNOWN, SUPPRESSED)
    together = np.flatnonzero((fits | ~known).all(axis=1))
    if len(together):
        levels[known] = together[0]
        return levels
    at = known & fits.any(axis=0)
    levels[at] = fits.argmax(axis=0)[at]
    return levels


def entropy_bits(leaf: Ints, node: Ints, level: Ints, times: Ints, lattice: Lattice) -> float:
    """Non-uniform entropy (Gionis & Tassa): bits that are lost about the values of all records together.

    Each entry is a leaf and what was made of it, in `times` records; a suppressed one may be any leaf.
    """
    of_leaf = np.bincount(leaf, times, lattice.node.shape[1])
    below = np.full(len(leaf), times.sum(), np.float64)
    for at in np.unique(level[level >= 0]):
        here = level == at
        below[here] = np.bincount(lattice.node[at], of_leaf, len(lattice.size))[node[here]]
    return float(-(times * np.log2(of_leaf[leaf] / below)).sum()) + 0.0


def entropy_in_steps(leaf: Ints, level: int, times: Ints, suppressed: Ints, lattice: Lattice) -> float:
    """Bits as ARX counts them: every record is generalised first, then the suppressed ones lose their node.

    `suppressed` of the `times` records of each entry are.
    """
    of_leaf = np.bincount(leaf, times, lattice.node.shape[1])
    node = lattice.node[level]
    bits = -(times * np.log2(of_leaf[leaf] / np.bincount(node, of_leaf, len(lattice.size))[node[leaf]])).sum()
    gone = np.bincount(node[leaf], suppressed, len(lattice.size))
    gone = gone[gone > 0]
    return float(bits - (gone * np.log2(gone / gone.sum())).sum()) + 0.0


# --- a column: its hierarchy as numbers, and what it lost -----------------------------------------------


@dataclass(frozen=True, eq=False)
class Column:
    """What was made of a column: distinct pairs of a leaf and a node, each with its level and how often it occurs.

    `of_record`: the pair of each record, -1 where the original has no value.
    """

    lattice: Lattice
    leaf: Ints
    node: Ints
    level: Ints
    times: Ints
    of_record: Ints

    @cached_property
    def together(self) -> int | None:
        """The level that every value is at which is not suppressed; None where there are several."""
        levels = np.unique(self.level[self.level >= 0])
        return 0 if not len(levels) else int(levels[0]) if len(levels) == 1 else None

    def of_pairs(self, of_node: Floats, suppressed: float) -> Floats:
        """A number for each pair: that of its node, or `suppressed`."""
        return np.where(self.level == SUPPRESSED, suppressed, of_node[np.maximum(self.node, 0)])

    def of_records(self, of_pair: Values, otherwise: float) -> Values:
        """What each pair has, by record; `otherwise` where the original has no value."""
        return np.where(self.of_record < 0, otherwise, of_pair[self.of_record])

    def mean(self, of_pair: Floats) -> float:
        """Mean over the records with an original value; 0 without any."""
        return float((of_pair * self.times).sum() / max(int(self.times.sum()), 1))

    @cached_property
    def loss(self) -> float:
        """Iyengar's loss, 0 to 1."""
        return self.mean(self.of_pairs(self.lattice.share, 1.0))

    @cached_property
    def lost_levels(self) -> float:
        """Mean share of the levels that values went up; 1 where suppressed."""
        return self.mean(np.where(self.level == SUPPRESSED, 1.0, self.level / self.lattice.height))

    @cached_property
    def highest(self) -> float:
        """The highest level of a value; that of its hierarchy where none is left."""
        return float(self.level.max(initial=0) if (self.level >= 0).any() else self.lattice.height)

    @cached_property
    def entropy(self) -> float:
        """Bits lost, as the paper has it."""
        return entropy_bits(self.leaf, self.node, self.level, self.times, self.lattice)

    @cached_property
    def most_entropy(self) -> float:
        """Bits that all of its values have."""
        gone = np.full(len(self.leaf), SUPPRESSED)
        return entropy_bits(self.leaf, gone, gone, self.times, self.lattice)


def lattice_of(
    hierarchy: Hierarchy, edges: Sequence[float] | None = None, kinds: tuple[str, str] = ("text", "text")
) -> tuple[Lattice, list[dict[Any, int]]]:
    """A hierarchy as numbers, and for each level the number of each name.

    `kinds`: those of the column of values, and of the column of names. With `edges` (one level of bands over numbers)
    the share of a node is that of its width.
    """
    names: list[dict[Any, int]] = []
    node, size, n = [], list[float](), 0
    above = (values_as(values, kinds[1]) for values in hierarchy.levels)
    for values in (leaves_as(hierarchy, kinds[0]), *above):
        own = dict(zip(dict.fromkeys(values), count(n)))
        numbers = np.fromiter(map(own.__getitem__, values), np.int64, len(values))
        size += np.bincount(numbers - n, minlength=len(own)).tolist()
        node.append(numbers)
        names.append(own)
        n += len(own)
    sizes = np.array(size, np.float64)
    share = (sizes - 1) / max(len(hierarchy.leaves) - 1, 1)
    if edges is not None:
        numbers = np.array([float(leaf) for leaf in hierarchy.leaves])
        for number in names[1].values():
            inside = numbers[node[1] == number]
            low = max((edge for edge in edges if edge <= inside.min()), default=numbers.min())
            high = min((edge for edge in edges if edge > inside.max()), default=numbers.max())
            ends = max(low, numbers.min()), min(high, numbers.max())
            share[number] = (ends[1] - ends[0]) / max(float(np.ptp(numbers)), 1e-300)
    return Lattice(np.array(node), sizes, share), names


def read_column(pair: Pair, name: str, j: int, hierarchy: Hierarchy | None, edges: Sequence[float] | None) -> Column:
    """What release `j` (from 0) made of a column.

    Without a hierarchy, it is what each value of the original became in the release, and one name for all above it;
    no edges (an empty sequence) are read from the labels of the release. The original of a recoded pair is the one
    before.
    """
    raw = pair.original if pair.raw is None or name not in pair.raw.columns else pair.raw
    (before, values), (after, names_after) = map(_labelled, (raw[name], pair.released[j][name]))
    n_before, n_after, order = len(values), len(names_after), pair.orders[j]
    after = after if order is None else after[order]
    known = before < n_before
    if not known.any():
        raise DataError(f"column {name!r} has no value in the original; leave it out", argument="hierarchies")
    numbers = np.where(known, before * (n_after + 1) + after, -1)
    pairs, of_record, times = _counted(numbers, (n_before + 1) * (n_after + 1))
    first, second = pairs // (n_after + 1), pairs % (n_after + 1)
    gone = second == n_after
    kinds = _kind(raw[name]), _kind(pair.released[j][name])
    texts = [values[at] for at in first], ["" if at == n_after else names_after[at] for at in second]
    alone = hierarchy is None
    if hierarchy is None:
        hierarchy = _observed(name, texts, gone)
        edges = edges if edges is None or len(edges) else _edges_of(names_after)
    lattice, names = lattice_of(hierarchy, edges, kinds)
    leaves = [*map(names[0].get, values_as(texts[0], kinds[0]))]
    kept, coarser = (values_as(texts[1], kind) for kind in kinds)
    if None in leaves:
        says = f"column {name!r}: a value of the original is in no line of its hierarchy; complete it"
        raise DataError(says, argument="hierarchies")
    leaf = np.array(leaves, np.int64)
    levels = [[*map(own.get, coarser if at else kept, repeat(-1))] for at, own in enumerate(names)]
    fits = (np.array(levels, np.int64) == lattice.node[:, leaf]) & ~gone
    # ARX writes a suppressed value as the top of its hierarchy.
    at_top = fits[-1] & (len(names[-1]) == 1)
    level = levels_of(fits, ~gone & ~at_top if not (at_top | gone).all() else ~gone)
    if alone:  # what kept its name and shares it with no other value was not made coarser
        level[fits[0] & (level == 1) & (lattice.size[lattice.node[1, leaf]] == 1)] = 0
    if (level == UNKNOWN).any():
        says = f"column {name!r}: a value of {pair.names[j + 1]} is no generalisation of that in the original"
        raise DataError(f"{says}; name the right hierarchy, or leave the column out", argument="hierarchies")
    return Column(lattice, leaf, lattice.node[np.maximum(level, 0), leaf], level, times, of_record)


def _kind(series: Any) -> str:
    """The kind of a column, as `values_as` takes it."""
    return "number" if series.dtype.is_numeric() else "boolean" if str(series.dtype) == "Boolean" else "text"


def _labelled(series: Any) -> tuple[Ints, list[str]]:
    """A column as codes from 0 on, one more than the last where a value is missing, and the labels of the codes."""
    coded = code_column(series)
    codes = coded.codes()
    distinct = _counted(codes, coded.span + 1)[0]
    present = distinct[distinct < coded.span]
    if coded.span > MOST_CELLS:
        number = np.where(codes == coded.span, len(present), np.searchsorted(present, codes))
    else:
        places = np.full(coded.span + 1, len(present))
        places[present] = np.arange(len(present))
        number = places[codes]
    return number, coded.labels(present)


def _counted(numbers: Ints, most: int) -> tuple[Ints, Ints, Ints]:
    """Distinct numbers from 0 on, the place of each record among them (-1 for a negative one), and their counts."""
    if most > MOST_CELLS:
        distinct, places, times = np.unique(numbers, return_inverse=True, return_counts=True)
        below = int((distinct < 0).sum())
        return distinct[below:], places - below, times[below:]
    counts = np.bincount(numbers + 1, minlength=most + 1)[1:]
    distinct = np.flatnonzero(counts)
    place = np.full(most + 1, -1)
    place[distinct + 1] = np.arange(len(distinct))
    return distinct, place[numbers + 1], counts[distinct]


def _observed(name: str, texts: tuple[list[str], list[str]], gone: Bools) -> Hierarchy:
    """What each value of the original became, and above it one name for all, as a hierarchy."""
    pairs = [*compress(zip(*texts, strict=True), (~gone).tolist())]
    became = dict(pairs)
    if len(became) < len(pairs) and any(became[before] != after for before, after in pairs):
        raise DataError(f"column {name!r}: one value became several; give its hierarchy", argument="hierarchies")
    leaves = tuple(dict.fromkeys(texts[0]))
    return Hierarchy(leaves, (tuple(map(became.get, leaves, leaves)), (ANY,) * len(leaves)))


def _edges_of(labels: Sequence[str]) -> list[float] | None:
    """Edges of bands by their labels; None where one is no band.

    >>> _edges_of(["under 18", "18-39", "40+"])
    [-inf, 18.0, 40.0, inf]
    """
    bands = [band for label in labels if (band := read_band(label)) is not None]
    if len(bands) < len(labels):
        return None
    starts = {band.low if band.has_low else math.nextafter(band.low, math.inf) for band in bands}
    return [*sorted(starts), math.inf]


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
class GeneralizationLoss(pair_result.PairResult):
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
        return {
            name: math.fsum(row["loss"] for row in rows) / self.m
            for name, rows in zip(self.columns, zip(*self.per_column, strict=True), strict=True)
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
    if not rows_belong(opened, aligned, scenario):
        raise ScenarioError(APART, argument="aligned")
    pair = read_pair(opened, {"hierarchies": tuple(judged)}, aligned=True)
    notes: dict[str, str] = {}
    read = _read(pair, judged, notes)
    weight = np.array(list(arguments.weights(weights, list(read)).values()))
    releases = [judged_together(pair.n, [columns[j] for columns in read.values()], weight) for j in range(pair.m)]
    per_release = tuple(of.figures for of in releases)
    return GeneralizationLoss(
        pair, per_release, MISSING_RULE, notes, columns=tuple(read),
        per_column=tuple(of.columns for of in releases), normalised=tuple(of.normalised for of in releases),
        arx=tuple(of.arx for of in releases), **pair_result.mean_figures(per_release, notes),
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
        if isinstance(name, str) and name not in judged and methods.kind_of(step["method"]).recodes:
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
    cells = np.array([of.of_records(of.level, UNKNOWN) for of in columns])  # unknown: the original has no value
    at_top = np.array([of.together == of.lattice.height and (of.level >= 0).all() for of in columns])
    suppressed = ((cells < 0) | at_top[:, None]).all(axis=0) & (cells == SUPPRESSED).any(axis=0)
    suppressed |= (cells == UNKNOWN).all(axis=0) & suppressed.any()  # nobody tells those without any value from them
    nodes = [of.of_records(np.where(of.level < 0, -1, of.node), -1) for of in columns]
    discernibility, average = class_figures(_classes(nodes, ~suppressed), int(suppressed.sum()))
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
    return packing.group_files([(code,) for code in codes], [int(kept.sum())]).size[0]


def _ambiguity(columns: Sequence[Column], n: int) -> float:
    product = np.ones(n)
    for of in columns:
        product *= of.of_records(of.of_pairs(of.lattice.size, float(len(of.lattice.node[0]))), 1.0)
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
    most = [np.where(leaf < 0, 1.0, of.lattice.node.shape[1]) for leaf, of in zip(leaves, columns, strict=True)]
    least, fewest = class_figures(_classes(leaves, np.ones(n, np.bool_)), 0)
    ends = {
        "precision": (1.0, 0.0), "loss": (0.0, 1.0), "entropy": (0.0, figures["entropy"] / figures["entropy_share"])
        if figures["entropy_share"] else (0.0, 1.0),
        "height": (0.0, float(sum(of.lattice.height for of in columns))), "discernibility": (least, float(n) ** 2),
        "average_class_size": (fewest, float(n)),
        "ambiguity": (1.0, float(np.prod(most, axis=0).mean())),
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
