"""Write down something that is true of exactly one person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.attack_files import (
    AttackFiles,
    Options,
    all_variables,
    file_notes,
    is_ordered,
    open_attack,
    options,
)
from sdckit.attacks.attack_rates import AttackResult, Group, Tally, means, rates, verdict
from sdckit.attacks.control_size import counted, isolated, scaled
from sdckit.attacks.singling.predicates import Predicates, Table, matches, random_predicates
from sdckit.attacks.singling.query_dependence import design_effect
from sdckit.attacks.singling.singling_queries import multivariate_queries, univariate_queries
from sdckit.attacks.targets import group_labels
from sdckit.cells.pair import open_files
from sdckit.data import arguments
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError
from sdckit.numerics.array_types import Bools, Floats
from sdckit.result import LetGo

Mode = Literal["univariate", "multivariate"]
TOLD = 0.01  # a scale nearer to 1 needs no note
MISSING_RULE = "a missing value is a value of its own, neither above nor below any other"
NOTHING: dict[str, str] = {
    "univariate": (
        "There is nothing to ask: no value of a column is held by one released record alone. Several columns "
        "together may still single people out."
    ),
    "multivariate": "There is nothing to ask: no combination of values was found that one released record alone has.",
}


@dataclass(frozen=True, eq=False)
class _Asked:
    """The queries on one release, of which file's records each is true exactly once, and what that is worth.

    `same_size` and `control_same_size` are the chances of that among as many people as the smaller file has.
    """

    queries: Predicates
    released_rows: NDArray[np.int64]
    isolated: Bools
    rows: NDArray[np.int64]
    control: Bools
    same_size: Floats
    control_same_size: Floats
    size: int
    baseline: float
    pool: Table
    n_people: int


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SinglingOut(AttackResult):
    """Result of `singling_out`.

    Attributes
    ----------
    success_rate : float
        Share of the queries that are true of exactly one person of the original.
    baseline_rate : float
        The same for random queries.
    control_rate : float
        Share of the queries that are true of exactly one person of the control file, as expected if it had as
        many people as the original.
    risk, verdict
        As for every attack; see `AttackResult`.
    mode : str
    variables : tuple of str
        The columns asked about.
    """

    measure: ClassVar[str] = "singling_out"
    dropped: ClassVar[tuple[str, ...]] = ("pair", "hits", "groups", "asked", "labels")
    mode: Mode
    variables: tuple[str, ...]
    asked: tuple[_Asked, ...]
    labels: tuple[list[str], ...]

    @property
    def queries(self) -> Any:
        """Every query in words, and whether it is true of exactly one person (``isolates``, ``isolates_control``).

        It shows values of the released file, and which of them are true of one real person.
        """
        if isinstance(self.asked, LetGo):
            return self.asked.queries  # raises, as for any other data
        columns: dict[str, list[Any]] = {"release": [], "query": [], "isolates": []}
        if has_control := len(self.asked[0].control) == self.asked[0].queries.n > 0:
            columns["isolates_control"] = []
        for j, asked in enumerate(self.asked):
            columns["release"] += [j + 1] * asked.queries.n
            columns["query"] += asked.queries.texts(self.variables, self.labels)
            columns["isolates"] += asked.isolated.tolist()
            if has_control:
                columns["isolates_control"] += asked.control.tolist()
        return self.pair.table(columns)

    @property
    def records(self) -> Any:
        """``queries_isolating`` per original record: successful queries about it, mean over the releases."""
        counts = np.zeros(self.pair.n)
        for rows, _ in self.hits:
            counts += np.bincount(rows, minlength=self.pair.n)
        return self.pair.records({"queries_isolating": counts / len(self.hits)}, prefix=self.prefix)


def singling_out(
    original: Any,
    released: Any = None,
    *,
    control: Any = None,
    variables: Sequence[str] | None = None,
    mode: Mode = "univariate",
    n_columns: int = 3,
    n_attacks: int = 500,
    by: Sequence[str] | str | None = None,
    level: float = 0.95,
    seed: arguments.Seed = None,
    scenario: Scenario | None = None,
    id: str | None = None,
    prefix: str = "",
) -> SinglingOut:
    """Write down from the release what is true of exactly one released record, and see if it is of one person.

    Parameters
    ----------
    original : data frame or Pair
    released : data frame or sequence of data frames
        One release or m of them; rows need not belong to rows of the original.
    control : data frame, optional
        People of the same population who were never used to make the release; left out where a pair holds them.
    variables : sequence of str, optional
        Columns asked about; all columns that the files share unless given.
    mode : {"univariate", "multivariate"}
        One column: a value that occurs once, the only missing value, the smallest and the largest number.
        Several columns: the values of a released record, numbers and dates as "at least" where above the
        median and "at most" else.
    n_columns : int
        Columns of a multivariate query.
    n_attacks : int
        Distinct queries; where there are fewer, all of them, and the notes say so.
    by : sequence of str or str, optional
        Subgroups: the queries by the group of the released record they were made from; see ``by_group``.
    level : float
        Confidence of the intervals.
    seed : int or numpy.random.Generator, optional
        Draws the queries.
    scenario : Scenario, optional
        Gives the variables where they are not given: keys, sensitive and numeric ones.
    id, prefix : str, optional
        Column of the original carried along in ``records``; text before the names of result columns.

    Returns
    -------
    SinglingOut
        ``success_rate``, ``baseline_rate``, ``control_rate``, ``risk`` with intervals, ``verdict``, ``queries``,
        ``records``, ``by_group``.

    Raises
    ------
    ColumnError
        A column that a file does not have.
    DataError
        Fewer than two records in a file; more columns per query than variables; a number out of range.

    Notes
    -----
    Queries on the same people are not independent of each other; the intervals are widened by the ratio of
    variances found when people are dealt out anew to two files.

    Records equal on all variables count once in each file. Among fewer people a query is true of exactly one
    more, or less, often. A larger control file counts as so many people drawn from it at random, by the mean
    over all draws (hypergeometric distribution). Successes on a smaller one are multiplied by what the
    original isolates, over the same mean of as many people drawn from the original.

    References
    ----------
    Giomi, M., Boenisch, F., Wehmeyer, C. and Tasnádi, B. (2023). A unified framework for quantifying privacy
    risk in synthetic data. Proceedings on Privacy Enhancing Technologies. Cohen, A. and Nissim, K. (2020).
    Towards formalizing the GDPR's notion of singling out. PNAS 117.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": range(20, 70), "sex": ["f", "m"] * 25})
    >>> found = singling_out(people, people, seed=1)
    >>> found.success_rate, found.n_attacks, found.notes["n_attacks"]
    (1.0, 52.0, '500 queries asked for, 52 are true of one released record: all were tried')
    """
    asked = options(n_attacks, level, by, seed)
    arguments.text(prefix, "prefix")
    arguments.choice(mode, "mode", tuple(NOTHING))
    columns = arguments.count(n_columns, "n_columns", "is how many columns a query names")
    arguments.scenario_or_none(scenario)
    k = 1 if mode == "univariate" else columns
    notes: dict[str, str] = {}
    opened = open_files(original, released, control, id=id)
    names = all_variables(opened, variables, scenario, notes)
    if k > len(names):
        raise DataError(
            f"n_columns={k} of {len(names)} variable{'s' * (len(names) > 1)}: give fewer, or mode='univariate'",
            argument="n_columns",
        )
    files = open_attack(opened, roles={"variables": names}, by=asked.by)
    file_notes(files, names, notes)
    tables = _tables(files, names)
    found = tuple(_attacked(files, names, tables, j, k, asked, notes) for j in range(files.m))
    per_release = tuple(_figures(one, np.ones(one.queries.n, np.bool_), files, asked, notes) for one in found)
    figures = means(per_release, notes)
    said = verdict(figures, files.control_state) if figures["n_attacks"] else NOTHING[mode]
    return SinglingOut(
        pair=files.pair, per_release=per_release, missing_rule=MISSING_RULE, notes=notes, **figures, verdict=said,
        level=asked.level, by=asked.by, prefix=prefix, mode=mode, variables=names,
        hits=tuple((one.rows[one.isolated], one.isolated[one.isolated]) for one in found),
        groups=_groups(files, found, asked), asked=found, labels=tuple(files.codes(name).labels() for name in names),
        control_state=files.control_state, n_overlap=files.overlap,
    )  # fmt: skip


def _tables(files: AttackFiles, names: Sequence[str]) -> list[Table]:
    """The distinct records of each file."""
    out = []
    groups = files.groups(tuple(names)).of_row
    for f, of_row in enumerate(groups):
        _, first = np.unique(of_row, return_index=True)
        rows = np.sort(first).astype(np.int64)
        codes = np.stack([files.codes(name).codes[f][rows] for name in names])
        out.append(Table(np.ascontiguousarray(codes), rows))
    return out


def _attacked(
    files: AttackFiles, names: Sequence[str], tables: Sequence[Table], j: int, k: int, asked: Options,
    notes: dict[str, str],
) -> _Asked:  # fmt: skip
    people, released = tables[0], tables[j + 1]
    ordered = np.array([is_ordered(files.codes(name)) for name in names])
    if k == 1:
        queries, rows, possible = univariate_queries(released, ordered, asked.n_attacks, asked.rng)
        short = f"{possible} are true of one released record: all were tried"
    else:
        queries, rows, tried = multivariate_queries(released, ordered, asked.n_attacks, k, asked.rng)
        short = (
            f"{queries.n} true of one released record were found in {tried} draws, the others were not drawn"
        )
    if queries.n < asked.n_attacks:
        notes.setdefault("n_attacks", f"{asked.n_attacks} queries asked for, {short}")
    count, first = matches(people, queries)
    random = random_predicates(released, ordered, queries.n, k, asked.rng)
    baseline = float((matches(people, random)[0] == 1).mean()) if queries.n else np.nan
    row_of = people.rows[first[:, 0]]
    if not files.has_control:
        none = np.zeros(0)
        return _Asked(
            queries, released.rows[rows], count == 1, row_of, none.astype(np.bool_), none, none, people.n // 2,
            baseline, people, people.n // 2,
        )  # fmt: skip
    others = tables[-1]
    size = min(people.n, others.n)
    return _Asked(
        queries, released.rows[rows], count == 1, row_of, matches(others, queries)[0] == 1,
        _same_size(people, queries, size), _same_size(others, queries, size), size, baseline, people.join(others),
        people.n,
    )  # fmt: skip


def _same_size(table: Table, queries: Predicates, size: int) -> Floats:
    """For each query the chance that it is true of exactly one of `size` people."""
    return isolated(matches(table, queries, counted(table.n, size))[0], table.n, size)


def _figures(
    found: _Asked, chosen: Bools, files: AttackFiles, asked: Options, notes: dict[str, str]
) -> dict[str, float]:
    n = int(chosen.sum())
    queries = found.queries.take(np.flatnonzero(chosen))
    effect = design_effect(found.pool, found.n_people, found.size, queries, asked.rng)
    successes = float(found.isolated[chosen].sum())
    attack = Tally(n, successes, max(effect, 1.0))
    if not files.has_control or n == 0:
        return rates(attack, found.baseline, None, asked.level, notes)
    control = float(found.control_same_size[chosen].sum())
    if found.size == found.n_people:
        return rates(attack, found.baseline, Tally(n, control, effect), asked.level, notes)
    same = float(found.same_size[chosen].sum())
    at_size = scaled(successes / effect, same / effect, control / effect, n / effect, asked.level)
    if abs(at_size.factor - 1) >= TOLD:
        notes["scaled"] = (
            f"the control file has {found.size} distinct records, the original {found.n_people}: successes on it are "
            f"scaled by {at_size.factor:.3g}, to what as many records would give"
        )
    there = Tally(n, min(at_size.factor * control, n), effect * max(at_size.factor, 1.0))
    return rates(attack, found.baseline, there, asked.level, notes, at_size.residual)


def _groups(files: AttackFiles, found: Sequence[_Asked], asked: Options) -> tuple[Group, ...]:
    if not asked.by:
        return ()
    of_row = files.groups(asked.by).of_row
    out = []
    for number, labels in group_labels(files, asked.by).items():
        for j, one in enumerate(found):
            chosen = of_row[j + 1][one.released_rows] == number
            out.append(Group(j + 1, labels, _figures(one, chosen, files, asked, {})))
    return tuple(out)
