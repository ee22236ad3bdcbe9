"""Singling out: queries made from the release that isolate exactly one person of the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks import attack_files
from sdckit.attacks.attack_files import AttackFiles, Options
from sdckit.attacks.attack_rates import AttackResult, Group, Tally, counted, isolated, rates, scaled
from sdckit.cells.pair import open_files
from sdckit.data import arguments
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError
from sdckit.numerics.array_types import AnyInts, Bools, Codes, Floats, Ints
from sdckit.numerics.compiling import njit
from sdckit.numerics.threads import chunks, run
from sdckit.result import LetGo

# Predicates on coded columns as arrays: no query text has to be parsed.


EQUAL, UNEQUAL, AT_MOST, AT_LEAST, BELOW, ABOVE = range(6)
SIGNS = ("=", "≠", "≤", "≥", "<", ">")
LARGEST = np.iinfo(np.int32).max


@dataclass(frozen=True, eq=False)
class Table:
    """The distinct records of one file, column by column.

    Attributes
    ----------
    codes : ndarray, int32, shape (p, n)
        0 where missing, else ascending by value.
    rows : ndarray, int64, shape (n,)
        The row of the file each stands for: the first of those equal on all columns.
    """

    codes: Codes
    rows: Ints

    @property
    def n(self) -> int:
        """Distinct records."""
        return int(self.codes.shape[1])

    def take(self, chosen: Ints) -> Table:
        """The chosen records."""
        return Table(np.ascontiguousarray(self.codes[:, chosen]), self.rows[chosen])

    def join(self, other: Table) -> Table:
        """Concatenate the records of both tables."""
        return Table(np.concatenate([self.codes, other.codes], axis=1), np.concatenate([self.rows, other.rows]))


@dataclass(frozen=True, eq=False)
class Predicates:
    """Conjunctions of conditions, each on a column of its own.

    Attributes
    ----------
    column : ndarray, int64, shape (q, k)
        Ascending within a predicate.
    operator : ndarray, int8, shape (q, k)
        One of EQUAL, UNEQUAL, AT_MOST, AT_LEAST, BELOW, ABOVE.
    value : ndarray, int32, shape (q, k)
        Code; EQUAL to 0 asks for a missing value. A missing value is neither below nor above any.
    """

    column: Ints
    operator: NDArray[np.int8]
    value: Codes

    @property
    def n(self) -> int:
        """Predicates."""
        return len(self.column)

    def take(self, chosen: AnyInts | slice) -> Predicates:
        """The chosen predicates."""
        return Predicates(self.column[chosen], self.operator[chosen], self.value[chosen])

    def keys(self) -> list[bytes]:
        """One byte string per predicate, equal only for equal predicates."""
        packed = np.concatenate([self.column, self.operator, self.value], axis=1, dtype=np.int64)
        return [row.tobytes() for row in packed]

    def texts(self, names: Sequence[str], labels: Sequence[Sequence[str]]) -> list[str]:
        """The predicates in words, with values as printed labels."""
        conditions = np.stack([self.column, self.operator, self.value], axis=2).tolist()
        return [" and ".join(f"{names[c]} {SIGNS[o]} {labels[c][v]}" for c, o, v in query) for query in conditions]

    def bounds(self) -> tuple[Codes, Codes, Bools]:
        """Lower and upper bound of the codes of each condition, and whether it is negated; each (q, k)."""
        value, operator = self.value, self.operator
        low = np.where((operator == AT_MOST) | (operator == BELOW), 1, value) + (operator == ABOVE)
        high = np.where((operator == AT_LEAST) | (operator == ABOVE), LARGEST, value) - (operator == BELOW)
        return low.astype(np.int32), high.astype(np.int32), operator == UNEQUAL


def matches(table: Table, predicates: Predicates, most: int = 1) -> tuple[Ints, Ints]:
    """Count the records that satisfy each predicate, and list the first ones.

    Counts, shape (q,), where ``most + 1`` stands for more than `most`; positions in the table, shape (q, most),
    -1 behind the last.

    Examples
    --------
    >>> table = Table(np.array([[1, 2, 2]], np.int32), np.arange(3))
    >>> queries = Predicates(np.array([[0], [0]]), np.array([[0, ], [3]], np.int8), np.array([[1], [1]], np.int32))
    >>> [found.tolist() for found in matches(table, queries)]
    [[1, 2], [[0], [0]]]
    """
    count, rows = np.zeros(predicates.n, np.int64), np.full((predicates.n, most), -1, np.int64)
    low, high, turned = predicates.bounds()

    def part(ends: tuple[int, int]) -> None:
        _find(table.codes, predicates.column, low, high, turned, count, rows, *ends)

    run(part, chunks(predicates.n, minimum=64))
    return count, rows


@njit(cache=True, nogil=True)
def _find(codes, column, low, high, turned, count, rows, start, stop):  # type: ignore[no-untyped-def]
    """Evaluate the predicates from `start` to `stop` on all records, in place.

    In: `codes` (p, n) int32; per predicate and condition (q, k) the `column`, the bounds `low` and `high` of its code
    and whether it is negated (`turned`). Out: `count` (q,), at most the width of `rows` + 1; `rows` (q, most), the
    first matching records.
    """
    n, k, most = codes.shape[1], column.shape[1], rows.shape[1]
    for q in range(start, stop):
        for i in range(n):
            true = True
            for j in range(k):
                code = codes[column[q, j], i]
                if (low[q, j] <= code <= high[q, j]) == turned[q, j]:
                    true = False
                    break
            if true:
                if count[q] == most:
                    count[q] = most + 1
                    break
                rows[q, count[q]] = i
                count[q] += 1


def random_predicates(table: Table, ordered: Bools, n: int, k: int, rng: np.random.Generator) -> Predicates:
    """Draw the baseline queries of a guesser: random columns, values and operators.

    The table holds the released records; `ordered` (p,) marks the columns with order comparisons. Gives `n`
    predicates of `k` conditions.
    """
    column = random_columns(len(ordered), n, k, rng)
    levels = [np.unique(codes) for codes in table.codes]
    sizes = np.array([len(level) for level in levels])
    begins = np.cumsum(sizes) - sizes
    value = np.concatenate(levels)[begins[column] + rng.integers(0, sizes[column])]
    operator = np.where(ordered[column] & (value > 0), rng.integers(0, 6, (n, k)), rng.integers(0, 2, (n, k)))
    return Predicates(column, operator.astype(np.int8), value)


def random_columns(p: int, n: int, k: int, rng: np.random.Generator) -> Ints:
    """Draw k of p columns without replacement for each of n predicates, ascending; shape (n, k)."""
    if k == 1:
        return rng.integers(0, p, (n, 1))
    return np.sort(np.argsort(rng.random((n, p)), axis=1)[:, :k], axis=1)


# Design effect: variance inflation because all queries are asked of the same people.


FEW = 40  # a query true of more people than this practically isolates nobody in either half
LEAST = 0.1  # lower bound of the effect for expected numbers, which vary less than counts

DEALS = 400
PIECE = 4_000_000  # random numbers per batch


def design_effect(pool: Table, n_first: int, size: int, queries: Predicates, rng: np.random.Generator) -> float:
    """Design effect: variance of the difference in successes between two files over that of independent queries.

    Estimated by permutation: the people of both files are reassigned at random to files of the same sizes.

    `pool` holds the people of both files, `n_first` of them of the first (of one file where there is no other:
    its halves are compared); a query must isolate one among `size` people of each. At least 1 where each file has
    just so many people.
    """
    n_second = pool.n - n_first
    if queries.n == 0 or n_first == 0 or n_second == 0:  # nothing was asked, or there is one person only
        return 1.0
    most = FEW + counted(pool.n, size)
    count, rows = matches(pool, queries, most)
    useful = (count > 0) & (count <= most)
    listed, rows = count[useful], rows[useful]
    if len(listed) == 0:
        return 1.0
    people, place = np.unique(rows[rows >= 0], return_inverse=True)
    begins = np.cumsum(listed) - listed
    piece = max(1, min(DEALS, PIECE // max(pool.n, len(place))))
    first, second = [], []
    for start in range(0, DEALS, piece):
        deals = min(piece, DEALS - start)
        # the n_first people with the smallest random numbers form the first file
        lots = rng.random((deals, pool.n))
        limit = np.partition(lots, n_first - 1, axis=1)[:, n_first - 1 : n_first]
        inside = np.add.reduceat((lots[:, people] <= limit)[:, place], begins, axis=1, dtype=np.int64)
        first.append(isolated(inside, n_first, size).sum(axis=1))
        second.append(isolated(listed - inside, n_second, size).sum(axis=1))
    hits_first, hits_second = np.concatenate(first), np.concatenate(second)
    share, other = hits_first.mean() / queries.n, hits_second.mean() / queries.n
    independent = queries.n * (share * (1 - share) + other * (1 - other))
    effect = float((hits_first - hits_second).var(ddof=1) / independent) if independent > 0 else 1.0
    least = LEAST if max(n_first, n_second) > size else 1.0
    return max(effect, least)


# Queries of a singling-out attack: predicates that isolate exactly one released record.


ATTEMPTS = 200  # most tries per query asked for, and most failures in a row per query found
PATIENCE = 100_000  # failures in a row that are always allowed
BATCH = 100_000  # most tries per batch


def univariate_queries(table: Table, ordered: Bools, n: int, rng: np.random.Generator) -> tuple[Predicates, Ints, int]:
    """Draw queries on one column that isolate one released record: unique values, a single missing value, extremes.

    Gives distinct queries in random order, at most `n`, the released record of each, and how many there are.
    """
    column, operator, value, row = [], [], [], []
    for j, codes in enumerate(table.codes):
        levels, first, size = np.unique(codes, return_index=True, return_counts=True)
        once = size == 1
        kinds = [(EQUAL, levels[once], first[once])]
        known = np.flatnonzero(levels > 0)
        if ordered[j] and len(known):
            ends = [known[:1], known[-1:]]
            kinds += [
                (sign, levels[end][once[end]], first[end][once[end]])
                for sign, end in zip((AT_MOST, AT_LEAST), ends, strict=True)
            ]
        for sign, values, rows in kinds:
            column.append(np.full(len(values), j))
            operator.append(np.full(len(values), sign))
            value.append(values)
            row.append(rows)
    pool = Predicates(
        np.concatenate(column)[:, None].astype(np.int64),
        np.concatenate(operator)[:, None].astype(np.int8),
        np.concatenate(value)[:, None].astype(np.int32),
    )
    chosen = rng.permutation(pool.n)[:n]
    return pool.take(chosen), np.concatenate(row)[chosen].astype(np.int64), pool.n


def multivariate_queries(
    table: Table, ordered: Bools, n: int, k: int, rng: np.random.Generator
) -> tuple[Predicates, Ints, int]:
    """Draw queries on k columns that isolate one released record.

    Each takes the values of a random released record; ordered values become "at least" above the median and "at most"
    otherwise. Gives distinct queries, at most `n`, the released record of each, and how many combinations were tried.
    """
    middle = _middles(table)
    seen: set[bytes] = set()
    batches: list[Predicates] = []
    rows: list[Ints] = []
    have = tried = in_vain = 0
    while have < n and tried < ATTEMPTS * n and in_vain < max(PATIENCE, ATTEMPTS * have):
        batch = min(max(2 * (n - have), 256), ATTEMPTS * n - tried, BATCH)
        drawn = _drawn(table, ordered, middle, batch, k, rng)
        tried += batch
        new = [i for i, key in enumerate(drawn.keys()) if key not in seen and not seen.add(key)]  # type: ignore[func-returns-value]
        drawn = drawn.take(np.array(new, np.int64))
        count, first = matches(table, drawn)
        good = np.flatnonzero(count == 1)[: n - have]
        batches.append(drawn.take(good))
        rows.append(first[good, 0])
        have += len(good)
        in_vain = 0 if len(good) else in_vain + batch
    joined = Predicates(
        *(
            np.concatenate([getattr(predicates, name) for predicates in batches])
            for name in ("column", "operator", "value")
        )
    )
    return joined, np.concatenate(rows), tried


def _drawn(table: Table, ordered: Bools, middle: Codes, n: int, k: int, rng: np.random.Generator) -> Predicates:
    column = random_columns(len(ordered), n, k, rng)
    value = table.codes[column, rng.integers(0, table.n, n)[:, None]]
    side = np.where(value > middle[column], AT_LEAST, AT_MOST)
    return Predicates(column, np.where(ordered[column] & (value > 0), side, EQUAL).astype(np.int8), value)


def _middles(table: Table) -> Codes:
    """Lower median of the known codes of each column; shape (p,)."""
    out = np.zeros(len(table.codes), np.int32)
    for j, codes in enumerate(table.codes):
        known = codes[codes > 0]
        if len(known):
            out[j] = np.partition(known, (len(known) - 1) // 2)[(len(known) - 1) // 2]
    return out


Mode = Literal["univariate", "multivariate"]
NOTED = 0.01  # least deviation of the scale from 1 that is noted
MISSING_RULE = "a missing value is a value of its own, neither above nor below any other"
NOTHING: dict[str, str] = {
    "univariate": (
        "There is nothing to ask: no value of a column is held by one released record alone. Several columns "
        "together may still single people out."
    ),
    "multivariate": "There is nothing to ask: no combination of values was found that one released record alone has.",
}


@dataclass(frozen=True, eq=False)
class _QueriedRelease:
    """Outcome of the queries on one release.

    `isolated` and `control` (q,): whether a query is true of exactly one record of the original, and of the control;
    `rows`: that record of the original. `same_size` and `control_same_size` (q,): probability that it isolates one
    among as many people as the smaller file has.
    """

    queries: Predicates
    released_rows: Ints
    isolated: Bools
    rows: Ints
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
    asked: tuple[_QueriedRelease, ...]
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
        for j, attack in enumerate(self.asked):
            columns["release"] += [j + 1] * attack.queries.n
            columns["query"] += attack.queries.texts(self.variables, self.labels)
            columns["isolates"] += attack.isolated.tolist()
            if has_control:
                columns["isolates_control"] += attack.control.tolist()
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
    settings = attack_files.options(n_attacks, level, by, seed, scenario, prefix)
    arguments.choice(mode, "mode", tuple(NOTHING))
    columns = arguments.count(n_columns, "n_columns", "is how many columns a query names")
    k = 1 if mode == "univariate" else columns
    notes: dict[str, str] = {}
    opened = open_files(original, released, control, id=id)
    names = attack_files.all_variables(opened, variables, scenario, notes)
    if k > len(names):
        raise DataError(
            f"n_columns={k} of {len(names)} variable{'s' * (len(names) > 1)}: give fewer, or mode='univariate'",
            argument="n_columns",
        )
    files = attack_files.open_attack(opened, roles={"variables": names}, by=settings.by)
    attack_files.file_notes(files, names, notes)
    tables = _tables(files, names, settings.by)
    attacks = tuple(_attacked(files, names, tables, j, k, settings, notes) for j in range(files.m))
    every = [np.ones(attack.queries.n, np.bool_) for attack in attacks]
    both = zip(attacks, every, strict=True)
    per_release = tuple(_figures(attack, use, files, settings, notes) for attack, use in both)
    return attack_files.attack_result(
        SinglingOut, files, per_release, settings, notes, rule=MISSING_RULE, nothing=NOTHING[mode], mode=mode,
        variables=names,
        hits=tuple((attack.rows[attack.isolated], attack.isolated[attack.isolated]) for attack in attacks),
        groups=_groups(files, attacks, settings), asked=attacks,
        labels=tuple(files.codes(name).labels() for name in names),
    )  # fmt: skip


def _tables(files: AttackFiles, names: Sequence[str], by: Sequence[str]) -> list[Table]:
    """The distinct records of each file on the attacked columns: in the file's order, of a plan in that of values.

    What is drawn goes by this order, and rows of a plan have none.
    """
    out = []
    for f, of_row in enumerate(files.groups(tuple(names)).of_row):
        if files.pair.plans:
            order = np.lexsort([files.codes(name).codes[f] for name in (*by, *names)])
            rows = order[np.flatnonzero(np.diff(of_row[order], prepend=-1))].astype(np.int64)
        else:
            _, first = np.unique(of_row, return_index=True)
            rows = np.sort(first).astype(np.int64)
        codes = np.stack([files.codes(name).codes[f][rows] for name in names])
        out.append(Table(np.ascontiguousarray(codes), rows))
    return out


def _attacked(
    files: AttackFiles, names: Sequence[str], tables: Sequence[Table], j: int, k: int, settings: Options,
    notes: dict[str, str],
) -> _QueriedRelease:  # fmt: skip
    people, released = tables[0], tables[j + 1]
    ordered = np.array([attack_files.is_ordered(files.codes(name)) for name in names])
    if k == 1:
        queries, rows, possible = univariate_queries(released, ordered, settings.n_attacks, settings.rng)
        short = f"{possible} are true of one released record: all were tried"
    else:
        queries, rows, tried = multivariate_queries(released, ordered, settings.n_attacks, k, settings.rng)
        short = f"{queries.n} true of one released record were found in {tried} draws, the others were not drawn"
    if queries.n < settings.n_attacks:
        notes.setdefault("n_attacks", f"{settings.n_attacks} queries asked for, {short}")
    count, first = matches(people, queries)
    random = random_predicates(released, ordered, queries.n, k, settings.rng)
    baseline = float((matches(people, random)[0] == 1).mean()) if queries.n else np.nan
    row_of = people.rows[first[:, 0]]
    if not files.has_control:
        none = np.zeros(0)
        return _QueriedRelease(
            queries, released.rows[rows], count == 1, row_of, none.astype(np.bool_), none, none, people.n // 2,
            baseline, people, people.n // 2,
        )  # fmt: skip
    others = tables[-1]
    size = min(people.n, others.n)
    return _QueriedRelease(
        queries, released.rows[rows], count == 1, row_of, matches(others, queries)[0] == 1,
        _same_size(people, queries, size), _same_size(others, queries, size), size, baseline, people.join(others),
        people.n,
    )  # fmt: skip


def _same_size(table: Table, queries: Predicates, size: int) -> Floats:
    """Probability for each query that it isolates one person in a random sample of `size`."""
    return isolated(matches(table, queries, counted(table.n, size))[0], table.n, size)


def _figures(
    queried: _QueriedRelease, chosen: Bools, files: AttackFiles, settings: Options, notes: dict[str, str]
) -> dict[str, float]:
    n = int(chosen.sum())
    queries = queried.queries.take(np.flatnonzero(chosen))
    effect = design_effect(queried.pool, queried.n_people, queried.size, queries, settings.rng)
    successes = float(queried.isolated[chosen].sum())
    attack = Tally(n, successes, max(effect, 1.0))
    if not files.has_control or n == 0:
        return rates(attack, queried.baseline, None, settings.level, notes)
    control = float(queried.control_same_size[chosen].sum())
    if queried.size == queried.n_people:
        return rates(attack, queried.baseline, Tally(n, control, effect), settings.level, notes)
    same = float(queried.same_size[chosen].sum())
    at_size = scaled(successes / effect, same / effect, control / effect, n / effect, settings.level)
    if abs(at_size.factor - 1) >= NOTED:
        notes["scaled"] = (
            f"the control file has {queried.size} distinct records, the original {queried.n_people}: successes on it "
            f"are scaled by {at_size.factor:.3g}, to what as many records would give"
        )
    there = Tally(n, min(at_size.factor * control, n), effect * max(at_size.factor, 1.0))
    return rates(attack, queried.baseline, there, settings.level, notes, at_size.residual)


def _groups(files: AttackFiles, attacks: Sequence[_QueriedRelease], settings: Options) -> tuple[Group, ...]:
    if not settings.by:
        return ()
    of_row = files.groups(settings.by).of_row
    out = []
    for number, labels in files.pair.group_labels(settings.by, control=True).items():
        for j, attack in enumerate(attacks):
            chosen = of_row[j + 1][attack.released_rows] == number
            out.append(Group(j + 1, labels, _figures(attack, chosen, files, settings, {})))
    return tuple(out)
