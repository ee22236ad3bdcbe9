"""F2: whether clusters of similar records hold the expected share of released ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from sdckit.cells.pair_result import PairResult, mean_figures
from sdckit.data import arguments
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError
from sdckit.numerics.array_types import Floats, Ints
from sdckit.utility.chosen_variables import chosen_variables
from sdckit.utility.propensities.classifiers import ALIGNED, Stacked, features_of, stack

METHODS = ("average", "kmeans")
LARGEST = 4_000  # most records for average linkage, which needs the distances of all pairs
SAMPLE = 20_000  # records that k-means fits its centres to; all are assigned to the nearest
BLOCK = 1 << 16  # records assigned at a time
MISSING_RULE = "a missing category is a level of its own, a missing number the mean and a mark that it is missing"


# --- kernel: numbers in, numbers out ------------------------------------------------------------------


def imbalance(original: Floats, released: Floats) -> Floats:
    """Contribution of each cluster to the cluster utility: its share of the records times (share released - c)² over G.

    >>> imbalance(np.array([3.0, 1.0]), np.array([1.0, 3.0])).tolist()
    [0.015625, 0.015625]
    """
    size = original + released
    n = size.sum()
    return np.asarray(size / n * (released / size - released.sum() / n) ** 2 / len(size))


def average_linkage(features: Floats, n_clusters: int) -> Ints:
    """Clusters of rows by average linkage of Euclidean distances.

    >>> average_linkage(np.array([[0.0], [1.0], [9.0]]), 2).tolist()
    [0, 0, 1]
    """
    from scipy.cluster.hierarchy import cut_tree, linkage

    return np.asarray(cut_tree(linkage(features, "average"), n_clusters=n_clusters)[:, 0])


# --- result -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class ClusterUtility(PairResult):
    """How evenly clusters of similar records mix original and released ones; means over the releases.

    Attributes
    ----------
    cluster_utility : float
        U_c: 0 where every cluster holds the same share of released records, at most c(1 - c) over the number
        of clusters.
    expected : float
        What it would be under correct synthesis.
    ratio : float
        `cluster_utility` divided by that.
    n_clusters : float
    method : str
        "average" or "kmeans".
    variables : tuple of str
    """

    measure: ClassVar[str] = "cluster_utility"
    figures: ClassVar[tuple[str, ...]] = ("cluster_utility", "expected", "ratio", "n_clusters")
    variables: tuple[str, ...] = ()
    method: str = "average"
    cluster_utility: float = math.nan
    expected: float = math.nan
    ratio: float = math.nan
    n_clusters: float = math.nan
    counts: tuple[tuple[Floats, Floats], ...] = field(default=(), repr=False)

    @property
    def clusters(self) -> Any:
        """The clusters of each release, those that add most first.

        Returns
        -------
        frame
            ``release`` and ``cluster`` (from 1), ``original`` and ``released`` (records), ``share`` (released
            records among them), ``added`` (what the cluster adds to `cluster_utility`).
        """
        columns: dict[str, list[Any]] = {
            name: [] for name in ("release", "cluster", "original", "released", "share", "added")
        }
        for j, (original, released) in enumerate(self.counts, 1):
            added = imbalance(original, released)
            order = np.argsort(-added, kind="stable")
            columns["release"] += [j] * len(order)
            columns["cluster"] += range(1, len(order) + 1)
            columns["original"] += original[order].astype(int).tolist()
            columns["released"] += released[order].astype(int).tolist()
            columns["share"] += (released / (original + released))[order].tolist()
            columns["added"] += added[order].tolist()
        return self.pair.table(columns)


# --- measure ------------------------------------------------------------------------------------------


def cluster_utility(
    original: Any,
    released: Any = None,
    *,
    variables: Sequence[str] | None = None,
    numeric: Sequence[str] | None = None,
    n_clusters: int = 20,
    method: str | None = None,
    aligned: bool = False,
    seed: int | np.random.Generator | None = None,
    scenario: Scenario | None = None,
    id: str | None = None,
) -> ClusterUtility:
    """Measure whether clusters of similar records hold as many released records as they should.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or several, of any size.
    variables : sequence of str, optional
        Columns by which records are similar. All that the files have in common unless given, but for `id` and
        the scenario's weight, household, person and identifiers.
    numeric : sequence of str, optional
        Which of them are numbers. Default: those that the scenario declares; where it declares none, the
        columns stored as numbers. An empty list: none.
    n_clusters : int
        2 or more; as many as there are different records where those are fewer.
    method : {"average", "kmeans"}, optional
        Average linkage (both files together up to 4,000 records) or k-means (its centres placed by 20,000
        records drawn at random where there are more). Unless given the first as long as the files are small
        enough for it.
    aligned : bool
        Whether row i of the release was made from row i of the original: `ratio` is undefined then. Also where
        the scenario says so.
    seed : int, numpy.random.Generator or None
        For the starts of k-means, and its draw.
    scenario : Scenario, optional
        Gives numeric variables and alignment where not given here.
    id : str, optional
        Column that says which rows belong together; not a variable.

    Returns
    -------
    ClusterUtility
        ``cluster_utility``, ``expected``, ``ratio``, ``n_clusters``; ``method``, ``clusters``.

    Raises
    ------
    ColumnError
        No variable in common, columns absent in a file, text in one and numbers in another.
    DataError
        A number without any value in a file, or infinite; fewer than 2 clusters; an unknown method; too many
        records for average linkage, too many categories for k-means.

    Notes
    -----
    Both files are stacked and clustered without regard to membership: Euclidean distances, numbers divided by
    their standard deviation, a different category counts 1. U_c = (1/G) Σ w_g (n_gS/n_g - c)², with n_g records
    in cluster g, n_gS of them released, w_g = n_g/N. G U_c is the pMSE of a model with the clusters as its only
    variable, so that (G - 1)(1 - c)²c/(N G) is expected where the release was drawn from a model fitted to the
    original.

    References
    ----------
    Woo, M.-J., Reiter, J. P., Oganian, A. and Karr, A. F. (2009). Global measures of data utility for microdata
    masked for disclosure limitation. Journal of Privacy and Confidentiality, 1(1).

    Examples
    --------
    >>> import polars as pl
    >>> original = pl.DataFrame({"age": [20.0, 21.0, 22.0, 60.0]})
    >>> released = pl.DataFrame({"age": [20.5, 61.0, 62.0, 63.0]})
    >>> result = cluster_utility(original, released, n_clusters=2)
    >>> result.cluster_utility, result.clusters["released"].to_list(), result.method
    (0.03125, [1, 3], 'average')
    """
    arguments.count(n_clusters, "n_clusters", "counts clusters", at_least=2)
    if method is not None:
        arguments.choice(method, "method", METHODS)
    state = int(arguments.seed(seed).integers(2**31 - 1))
    scenario = arguments.scenario_or_none(scenario)
    aligned = arguments.flag(aligned, "aligned") or (scenario is not None and scenario.aligned)
    chosen = chosen_variables(original, released, variables, numeric, scenario, id, aligned=aligned)
    pair, notes = chosen.pair, dict(chosen.notes)
    most = pair.n + max(pair.sizes)
    method = method or ("average" if most <= LARGEST else "kmeans")
    if method == "average" and most > LARGEST:
        raise DataError(
            f"average linkage needs the distances of all pairs of {most} records (at most {LARGEST}); use "
            "method='kmeans' or a sample",
            argument="method",
        )
    per_release, counts = [], []
    for release in range(pair.m):
        stacked = stack(pair, release, chosen.names, chosen.numeric, scale=True).in_order()
        sizes = _counted(stacked, n_clusters, method, state)
        if len(sizes[0]) < n_clusters:
            notes["n_clusters"] = f"there are fewer than {n_clusters} different records; each is a cluster"
        per_release.append(_figures(*sizes, aligned=aligned))
        counts.append(sizes)
    if method == "kmeans" and most > SAMPLE:
        notes["method"] = f"centres placed by {SAMPLE} records drawn at random (at most), all records assigned"
    if any(math.isnan(figures["ratio"]) for figures in per_release):
        notes["ratio"] = ALIGNED if aligned else "no variable varies: there is nothing to cluster by"
    return ClusterUtility(
        pair=pair, per_release=tuple(per_release), missing_rule=MISSING_RULE, notes=notes, variables=chosen.names,
        method=method, counts=tuple(counts), **mean_figures(per_release, notes),
    )  # fmt: skip


def _figures(original: Floats, released: Floats, *, aligned: bool) -> dict[str, float]:
    n, n_released, g = float((original + released).sum()), float(released.sum()), len(original)
    c = n_released / n
    utility = float(imbalance(original, released).sum())
    expected = (g - 1) * (1 - c) ** 2 * c / (n * g)
    ratio = math.nan if aligned or g == 1 else utility / expected
    return {"cluster_utility": utility, "expected": expected, "ratio": ratio, "n_clusters": float(g)}


def _counted(stacked: Stacked, n_clusters: int, method: str, state: int) -> tuple[Floats, Floats]:
    """Original and released records of each cluster."""
    distinct = _distinct(stacked)
    if distinct.max() < n_clusters:
        cluster = distinct
    elif method == "average":
        times = stacked.total.astype(np.int64)
        of_record = average_linkage(np.repeat(_places(stacked), times, axis=0), n_clusters)
        cluster = of_record[np.cumsum(times) - 1]  # equal rows are at distance 0: one cluster
    else:
        cluster = _k_means(stacked, n_clusters, state)
    original, released = (np.bincount(cluster, own).astype(np.float64) for own in (stacked.original, stacked.released))
    held = original + released > 0
    return original[held], released[held]


def _distinct(stacked: Stacked) -> Ints:
    """Index of each row among the distinct ones; rows are sorted by their values."""
    new = np.zeros(len(stacked.total), np.bool_)
    for column in (*stacked.codes, *stacked.values):
        new[1:] |= column[1:] != column[:-1]
    return np.cumsum(new)


def _places(stacked: Stacked) -> Floats:
    """Rows as points with the distances asked for."""
    return features_of(stacked, np.float64, level=math.sqrt(0.5))[0]


def _k_means(stacked: Stacked, n_clusters: int, state: int) -> Ints:
    from sklearn.cluster import KMeans

    n = len(stacked.total)
    part = stacked
    if n > SAMPLE:
        part = stacked.take(np.sort(np.random.default_rng(state).choice(n, SAMPLE, replace=False)))
    model = KMeans(n_clusters, n_init=1, random_state=state).fit(_places(part), sample_weight=part.total)
    blocks = (stacked.take(slice(first, first + BLOCK)) for first in range(0, n, BLOCK))
    return np.concatenate([model.predict(_places(block)).astype(np.int64) for block in blocks])
