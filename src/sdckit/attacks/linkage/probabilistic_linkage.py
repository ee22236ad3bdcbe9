"""Probabilistic record linkage attack (Fellegi-Sunter), robust to typing errors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sdckit.attacks.linkage.linkage_engines import check_session, session_of
from sdckit.attacks.linkage.linkage_scores import Compared, Links, need_duckdb, scored_links
from sdckit.cells.pair import Pair, open_files, open_pair
from sdckit.cells.pair_result import PairResult, mean_figures
from sdckit.data import arguments, nearest
from sdckit.data.drawn_rows import KEY_BYTES, draw_rows, drawn_note, people_drawn
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import same_note
from sdckit.errors import ColumnError, DataError, ScenarioError
from sdckit.numerics.array_types import Ints
from sdckit.numerics.intervals import wilson

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


ALL_PAIRS = 25_000_000
TAUGHT = 0.5  # least recall, relative to the rate, for precision and recall to be meaningful
LOWEST = -10  # log2 odds (about 1 to 1,000) at which score tables end
MISSING_RULE = "a missing value on either side says nothing for or against a match"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ProbabilisticLinkage(PairResult):
    """Result of a Fellegi-Sunter linkage attack; means over the releases.

    Attributes
    ----------
    n : int
        Records, or those of people drawn by their id.
    n_pairs : float
        Candidate pairs.
    n_links : float
        Pairs with a probability of a match of at least `threshold`.
    precision, recall : float
        Share of these that are right; share of the records whose right pair is among them.
    rate, rate_low, rate_high : float
        Share of the released records whose best candidate is the right one, with its Wilson interval.
    baseline : float
        Share that guessing would link: 1 / records of the original.
    verdict : str
        What the figures mean, and when they cannot be trusted.
    scores : frame
        ``precision`` and ``recall`` by least ``weight`` (log2 of the odds), with ``pairs`` and ``right``.
    levels : frame
        How often each level of agreement occurs among matches (``m``) and others (``u``), as estimated.
    records : frame
        ``weight`` of each record's best candidate, ``correct`` (the chance that it is the right one).
    """

    measure: ClassVar[str] = "probabilistic_linkage"
    figures: ClassVar[tuple[str, ...]] = (
        "n", "n_pairs", "n_links", "precision", "recall", "rate", "rate_low", "rate_high", "baseline",
    )  # fmt: skip
    dropped: ClassVar[tuple[str, ...]] = ("pair", "links", "rows")
    n: int
    n_pairs: float
    n_links: float
    precision: float
    recall: float
    rate: float
    rate_low: float
    rate_high: float
    baseline: float
    verdict: str
    links: tuple[Links, ...] = field(repr=False)
    prefix: str = field(default="", repr=False)
    rows: Ints | None = field(default=None, repr=False)  # of the original, where people were drawn

    def to_dict(self) -> dict[str, Any]:
        """All figures, exact and ready for JSON, with the verdict."""
        return {**super().to_dict(), "verdict": self.verdict}

    @property
    def records(self) -> Any:
        """A row per record, in the original's order and frame type; means over the releases."""
        write = self.pair.records
        weights = np.array([link.weight for link in self.links])
        known = ~np.isnan(weights)
        total = np.where(known, weights, 0.0).sum(axis=0)
        counts = known.sum(axis=0)
        mean = np.divide(total, counts, out=np.full(self.n, np.nan), where=counts > 0)
        correct = np.mean([link.correct for link in self.links], axis=0)
        return write({"weight": mean, "correct": correct}, rows=self.rows, prefix=self.prefix)

    @property
    def scores(self) -> Any:
        """A row per release and least weight, whole numbers downwards."""
        write = self.pair.table
        rows = [row for j, link in enumerate(self.links) for row in _score_rows(j + 1, link, self.n)]
        names = ("release", "weight", "pairs", "right", "precision", "recall")
        return write({name: [row[i] for row in rows] for i, name in enumerate(names)})

    @property
    def levels(self) -> Any:
        """A row per release, variable and level of agreement."""
        write = self.pair.table
        rows = [(j + 1, level) for j, link in enumerate(self.links) for level in link.levels]
        names = ("variable", "agreement", "m", "u")
        columns = {name: [getattr(level, name) for _, level in rows] for name in names}
        return write({"release": [j for j, _ in rows], **columns})


def probabilistic_linkage(
    original: Any,
    released: Any = None,
    *,
    variables: Sequence[str] | None = None,
    numeric: Sequence[str] | None = None,
    exact: Sequence[str] = (),
    near: float = 0.02,
    blocking: Sequence[Sequence[str]] | None = None,
    threshold: float = 0.5,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    session: SparkSession | None = None,
    prefix: str = "",
    targets: int | None = None,
) -> ProbabilisticLinkage:
    """Link released records to originals by agreement weights that are learnt from the two files alone.

    Pairs are compared by DuckDB or Spark: install the extra ``sdckit[linkage]``. The records are brought
    into memory; the pairs stay on the engine, which counts them.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or m of them; row i was made from row i of the original, or has its `id`.
    variables : sequence of str
        Variables that the intruder knows of the originals, two or more.
    numeric : sequence of str, optional
        Those of them that are numbers; near values are a level of agreement. Unless given: those that the
        scenario calls numeric; without a scenario those stored as numbers.
    exact : sequence of str
        Texts in which a similar spelling is no agreement (codes); all other texts allow for slips.
    near : float
        How far near numbers are apart at most, as a share of the range in both files; 0 or more.
    blocking : sequence of sequence of str, optional
        Rules: a pair that agrees on all variables of one rule is a candidate. All pairs unless given, up to
        25,000,000 (5,000 records; of people drawn `targets` times the originals). Two rules or more, no variable in all
        of them.
    threshold : float
        Probability of a match from which on a pair counts as linked; between 0 and 1.
    seed : int, Generator or None
        With `blocking`: for the records drawn where all pairs are more than a million; for whom `targets` draws.
    scenario : Scenario, optional
        Gives the variables where they are not given here: its keys.
    id : str, optional
        Column that says which rows belong together.
    session : SparkSession, optional
        Where the pairs are compared. Unless given: in the session of the first Spark frame among the files;
        without one on DuckDB. Its Python workers need sdckit; no jar is needed.
    prefix : str
        Text before the names of result columns.
    targets : int, optional
        So many people drawn by a hash of `id`. Their released records alone are linked, with the whole original, and
        all figures are of them; the same ones in whatever order rows come.

    Returns
    -------
    ProbabilisticLinkage

    Raises
    ------
    ColumnError
        A variable that a file does not have, or a name in `exact`, `numeric` or `blocking` that is none.
    DataError
        DuckDB is not installed; a session that is none, or is stopped; files of different lengths without
        `id`; `targets` without `id`; too many pairs without blocking; a model that cannot be estimated; options out of
        range.
    ScenarioError
        No variables.

    Notes
    -----
    The u-probabilities (agreement levels among non-matches) are counted over all pairs, with `blocking` over at most a
    million pairs of records drawn from both files. The m-probabilities are estimated by EM under conditional
    independence given the match, with splink's starting values and stopping rule. The true links are not used for
    estimation; they only score the attack.

    References
    ----------
    Fellegi, I. P. and Sunter, A. B. (1969). A theory for record linkage. JASA 64. Linacre, R. et al. (2022).
    Splink: free software for probabilistic record linkage at scale. IJPDS 7.

    Examples
    --------
    >>> import polars as pl
    >>> names = [first + last for first in ("Anna", "Berta", "Chloe") for last in ("Kant", "Mill", "Hume", "Locke")]
    >>> survey = pl.DataFrame({"name": names, "age": range(20, 80, 5)})
    >>> release = survey.with_columns(name=pl.col("name").str.replace("a", "o"))
    >>> probabilistic_linkage(survey, release, variables=["name", "age"]).rate
    1.0
    """
    need_duckdb()
    arguments.amount(near, "near", "is a share of the range of a number")
    arguments.level(threshold, "threshold", "is the probability of a match")
    arguments.text(prefix, "prefix")
    arguments.scenario_or_none(scenario)
    rng, some = arguments.seed(seed), people_drawn(targets)
    if session is not None:
        check_session(session)
    names = arguments.names(variables, "variables")
    if names is None and scenario is not None:
        names = scenario.keys
    if not names:
        raise ScenarioError("say which variables the intruder knows: variables= or scenario=", argument="variables")
    if len(names) < 2:
        raise DataError("agreement weights need two variables or more")
    declared = arguments.names(numeric, "numeric")
    if declared is None and scenario is not None:
        declared = tuple(name for name in scenario.numeric if name in names)
    literal = arguments.names(exact, "exact") or ()
    for role, given in (("numeric", declared or ()), ("exact", literal)):
        _check_known(role, given, names)
    opened = open_files(original, released, id=id)
    people_drawn(targets, id=opened.id)
    if session is None:
        session = session_of(opened)
    pair = open_pair(opened, categories={"variables": names}, aligned=True)
    if declared is None:
        declared = tuple(name for name in names if pair.codes(name).kind == "numbers" and name not in literal)
    pair = open_pair(pair, categories={}, numeric={"numeric": declared}, aligned=True)
    order, n = None, pair.n
    if some is not None:  # all rows in the order of hashes: no other order decides what is drawn of them
        order, n = draw_rows(pair.original.get_column(str(pair.id)), pair.n, rng.bytes(KEY_BYTES))[0], min(some, pair.n)
    rules = _rules(blocking, names, pair.n, n)
    links = []
    for j in range(pair.m):
        columns = [_of_people(_compared(pair, name, j + 1, declared, literal, near), order, n) for name in names]
        drawn = int(rng.integers(2**31))
        links.append(scored_links(columns, rules, drawn, threshold=float(threshold), session=session))
    notes = drawn_note(n, pair.n) | same_note(sum(pair.identical(names)), pair.m)
    per_release = tuple(_figures(link, n, pair.n) for link in links)
    if any(math.isnan(release["precision"]) for release in per_release):
        notes["precision"] = "no pair is linked at this threshold"
    return ProbabilisticLinkage(
        pair=pair, per_release=per_release, missing_rule=MISSING_RULE, notes=notes, n=n,
        **(figures := mean_figures(per_release, notes)), verdict=verdict(figures), links=tuple(links),
        prefix=prefix, rows=None if order is None else order[:n],
    )  # fmt: skip


def verdict(figures: Mapping[str, float]) -> str:
    """Say what the figures mean, and when they cannot be trusted.

    Examples
    --------
    >>> verdict({"rate": 0.01, "rate_low": 0.0, "baseline": 0.01})[:17]
    'Not to be trusted'
    """
    rate, baseline = figures["rate"], figures["baseline"]
    if not figures["rate_low"] > baseline:
        return (
            f"Not to be trusted: {rate:.1%} of the released records link best to the person they were made of, by "
            f"guessing {baseline:.1%}. An attack no better than guessing says nothing about the release; a better one "
            "may succeed."
        )
    start = f"{rate:.1%} of the released records link best to the person they were made of, by guessing {baseline:.1%}"
    if not figures["recall"] > TAUGHT * rate:
        return (
            f"{start}. The model did not learn from these files alone which links to believe, so precision and recall "
            "say little here; go by the rate."
        )
    return f"{start}. Of the links that the intruder would believe {figures['precision']:.1%} are right."


def _check_known(role: str, given: Sequence[str], names: Sequence[str]) -> None:
    if other := [name for name in given if name not in names]:
        near = nearest.did_you_mean(other[0], names)
        raise ColumnError(f"{role}: {other[0]!r} is none of the variables; {near}", argument=role)


def _rules(blocking: Sequence[Sequence[str]] | None, names: Sequence[str], n: int, n_linked: int) -> list[list[int]]:
    if blocking is None:
        if n * n_linked > ALL_PAIRS:
            raise DataError(
                f"{n} records make {n * n_linked:,} pairs; up to {ALL_PAIRS:,} are all compared: give blocking=, "
                "rules such as [['region'], ['birth']] of which a pair must meet one",
                argument="blocking",
            )
        return []
    given = arguments.several(blocking, "blocking", "has the rules of which a pair must meet one")
    rules = [arguments.names(rule, "blocking") or () for rule in given]
    for rule in rules:
        _check_known("blocking", rule, names)
    if len(rules) < 2 or not all(rules) or set.intersection(*map(set, rules)):
        raise DataError(
            "blocking needs two rules or more, none empty and no variable in all of them: what a rule holds fixed "
            "is learnt from the others",
            argument="blocking",
        )
    return [[list(names).index(name) for name in rule] for rule in rules]


def _compared(
    pair: Pair, name: str, file: int, numbers: Sequence[str], literal: Sequence[str], near: float
) -> Compared:
    if name in numbers:
        values = pair.numbers(name)
        both = np.concatenate([values[0], values[file]])
        reach = float(near * (np.nanmax(both) - np.nanmin(both)))
        return Compared(name, "number", values[0], values[file], reach)
    shared = pair.codes(name)
    labels = np.array([None, *shared.labels()[1:]], object)
    exact = name in literal or shared.kind != "text"
    return Compared(name, "exact" if exact else "text", labels[shared.codes[0]], labels[shared.codes[file]])


def _of_people(column: Compared, order: Ints | None, n: int) -> Compared:
    """The originals in some order, and the records made from the first n of them; all where there is no order."""
    if order is None:
        return column
    original, released = np.asarray(column.original), np.asarray(column.released)
    return replace(column, original=original[order], released=released[order[:n]])


def _figures(links: Links, n: int, n_originals: int) -> dict[str, float]:
    between = wilson(float(links.correct.sum()), n)
    return {
        "n_pairs": float(links.n_pairs), "n_links": float(links.n_linked),
        "precision": links.n_right / links.n_linked if links.n_linked else math.nan,
        "recall": links.n_right / n, "rate": float(links.correct.mean()), "rate_low": between.low,
        "rate_high": between.high, "baseline": 1 / n_originals,
    }  # fmt: skip


def _score_rows(release: int, links: Links, n: int) -> list[tuple[float, ...]]:
    """Cumulative precision and recall by least weight, from the largest down to the smallest or `LOWEST`."""
    rows: list[tuple[float, ...]] = []
    if not links.steps:
        return rows
    highest, lowest = links.steps[0][0], max(links.steps[-1][0], LOWEST)
    at = {step: (pairs, right) for step, pairs, right in links.steps}
    count = hits = 0
    for least in range(highest, lowest - 1, -1):
        pairs, right = at.get(least, (0, 0))
        count, hits = count + pairs, hits + right
        rows.append((release, float(least), count, hits, hits / count, hits / n))
    return rows
