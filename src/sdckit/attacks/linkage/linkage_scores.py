"""Record linkage by Fellegi-Sunter weights: model, weights and counts; pairs stay on the SQL engine."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.linkage.linkage_engines import DuckDBEngine, Engine, open_duckdb, open_spark
from sdckit.errors import DataError

# The Fellegi-Sunter model, estimated from the counts of agreement patterns.


ROUNDS, CHANGE = 200, 1e-4  # EM stops when no probability changes by more
MISSING = -1
NEVER = 1e-6  # probability that EM assigns to an unobserved level
LEAST = 1e-300  # lower bound of a probability before its logarithm is taken
EQUAL = 0.95  # starting value: share of equal values among matches
FIRST = (-5.0, 3.0, 10.0)  # starting weights of different, of nearly equal and of equal values


@dataclass(frozen=True, eq=False)
class Patterns:
    """Agreement patterns and how many pairs of records have each.

    Attributes
    ----------
    levels : ndarray, int, shape (n_patterns, n_variables)
        -1 where a value is missing, 0 where values differ, upwards to equal ones.
    pairs : ndarray, float64, shape (n_patterns,)
        Pairs of each pattern.
    """

    levels: NDArray[np.int64]
    pairs: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Agreement:
    """Probabilities m and u of the agreement levels of a variable, from 0 upwards.

    Attributes
    ----------
    m, u : ndarray, float64
        Among matches, and among all other pairs; NaN for a level that was never seen.
    """

    m: NDArray[np.float64]
    u: NDArray[np.float64]

    @property
    def matches(self) -> NDArray[np.float64]:
        """`m`, with the starting value for levels never observed."""
        return np.where(np.isnan(self.m), _first_m(len(self.m)), self.m)

    @property
    def others(self) -> NDArray[np.float64]:
        """`u`, with the starting value for levels never observed."""
        n = len(self.u)
        low, high, equal = FIRST
        first = np.array([*np.linspace(low, high, n - 1), equal])
        return np.where(np.isnan(self.u), _first_m(n) / np.exp2(first), self.u)

    @property
    def weights(self) -> NDArray[np.float64]:
        """Match weight of each level: log2 of m / u."""
        return _weights(self.matches, self.others)


def agreements(
    n_levels: Sequence[int], everybody: Patterns, rules: Sequence[tuple[Sequence[int], Patterns]], prior: float,
) -> tuple[Agreement, ...]:  # fmt: skip
    """Estimate m and u of the agreement levels of each variable.

    Parameters
    ----------
    n_levels : sequence of int
        Levels of each variable, two or more.
    everybody : Patterns
        All pairs, or a sample of them: u.
    rules : sequence of (variables, Patterns)
        The pairs that meet a rule, all of which agree on its variables (none for all pairs); m of the other
        variables is learnt from each by EM, and the median over the rules is taken.
    prior : float
        Share of matches among all pairs.

    Raises
    ------
    ValueError
        A rule that no pair meets, or a prior without odds.

    References
    ----------
    Fellegi, I. P. and Sunter, A. B. (1969). A theory for record linkage. JASA 64. The start, the end and what
    holds for levels never seen are those of splink (Linacre, R. et al. (2022). IJPDS 7).
    """
    us = [_shares(everybody, j, everybody.pairs, n) for j, n in enumerate(n_levels)]
    learnt: list[list[NDArray[np.float64]]] = [[] for _ in n_levels]

    def known() -> tuple[Agreement, ...]:
        return tuple(Agreement(_median(ms, len(u)), u) for ms, u in zip(learnt, us, strict=True))

    for held, patterns in rules:
        for j, m in _learn_matches(known(), patterns, held, prior).items():
            learnt[j].append(m)
    return known()


def _learn_matches(
    known: Sequence[Agreement], patterns: Patterns, held: Sequence[int], prior: float
) -> Mapping[int, NDArray[np.float64]]:
    """Estimate m by EM with u fixed; under a blocking rule the share of matches is fixed, too, from the held levels."""
    total = patterns.pairs.sum()
    if not total or not 0 < prior < 1:
        raise ValueError("nothing to learn from")
    weight = np.log2(prior / (1 - prior)) + sum(known[j].weights[-1] for j in held)
    share = float(np.exp2(weight) / (1 + np.exp2(weight)))
    free = [j for j in range(len(known)) if j not in held]
    m = {j: known[j].matches for j in free}
    u = {j: known[j].others for j in free}
    for _ in range(ROUNDS):
        match = patterns.pairs * _probability(patterns, {j: _weights(m[j], u[j]) for j in free}, share)
        estimates = {j: _shares(patterns, j, match, len(m[j])) for j in free}
        filled = {j: np.where(np.isnan(shares), NEVER, shares) for j, shares in estimates.items()}
        after = share if held else float(match.sum() / total)
        moved = max(abs(after - share), *(float(np.abs(filled[j] - m[j]).max()) for j in free))
        m, share = filled, after
        if moved < CHANGE:
            break
    return estimates


def _probability(patterns: Patterns, weights: Mapping[int, NDArray[np.float64]], share: float) -> NDArray[np.float64]:
    """Posterior probability of a match for each pattern."""
    total = np.full(len(patterns.pairs), np.log2(share / (1 - share)))
    for j, weight in weights.items():
        total += np.append(weight, 0.0)[patterns.levels[:, j]]  # a missing value (-1) takes the last: weight 0
    small = np.exp2(-np.abs(total))
    return np.asarray(np.where(total >= 0, 1.0, small) / (1.0 + small))


def _shares(patterns: Patterns, j: int, counts: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Share of each level among the pairs with no missing value, weighted by `counts`; NaN for unobserved levels."""
    levels = patterns.levels[:, j]
    there = levels != MISSING
    seen = np.bincount(levels[there], minlength=n) > 0
    weighted = np.bincount(levels[there], weights=counts[there], minlength=n)
    total = weighted.sum()
    return np.where(seen, weighted / total, np.nan) if total > 0 else np.full(n, np.nan)


def _weights(m: NDArray[np.float64], u: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.log2(np.maximum(m, LEAST) / np.maximum(u, LEAST)))


def _first_m(n: int) -> NDArray[np.float64]:
    return np.array([*[(1 - EQUAL) / (n - 1)] * (n - 1), EQUAL])


def _median(estimates: Sequence[NDArray[np.float64]], n: int) -> NDArray[np.float64]:
    """Median over the rules, level by level, ignoring rules in which the level was not observed."""
    seen = [[estimate[k] for estimate in estimates if not np.isnan(estimate[k])] for k in range(n)]
    return np.array([np.median(values) if values else np.nan for values in seen])


# SQL that compares and counts pairs of records, the same for DuckDB and Spark.


FILES = ("a_original", "b_released")
ALL = "1=1"  # blocking rule that every pair meets
COMPARED, EVERYBODY, WEIGHED = "sdckit_compared", "sdckit_everybody", "sdckit_weighed"


@dataclass(frozen=True)
class Step:
    """The SQL condition of an agreement level of a variable.

    `condition` is SQL on ``v0_l``, ``v0_r``, ...; the first that holds counts, "ELSE" always does. `number` is
    -1 where a value is missing, 0 without agreement.
    """

    condition: str
    number: int


def compared_sql(variables: Sequence[Sequence[Step]], rules: Sequence[str]) -> str:
    """SQL that compares all candidate pairs and counts the agreement patterns of each released record.

    Rules are conditions on `l` and `r`. The query gives `rule`, `released`, `fresh` (1 where no rule before
    holds), `g0`, `g1`, ... (numbers of levels), `pairs` and `hits` (1 where the right pair is among them).

    Examples
    --------
    >>> print(compared_sql([[Step("v0_l = v0_r", 1), Step("ELSE", 0)]], ["l.v0 = r.v0"]))
    select rule, released, fresh, g0, count(*) as pairs, sum(hit) as hits
    from (select rule, released, fresh, hit,
    cast(case when v0_l = v0_r then 1 else 0 end as smallint) as g0
    from (select 0 as rule, r.unique_id as released, 1 as fresh,
    case when l.unique_id = r.unique_id then 1 else 0 end as hit,
    l.v0 as v0_l, r.v0 as v0_r
    from a_original l join b_released r on l.v0 = r.v0) candidates) compared
    group by rule, released, fresh, g0
    """
    levels = ", ".join(_columns(len(variables)))
    cases = ",\n".join(_level_sql(j, steps) for j, steps in enumerate(variables))
    candidates = "\nunion all ".join(_candidates_sql(k, rules, len(variables)) for k in range(len(rules)))
    return (
        f"select rule, released, fresh, {levels}, count(*) as pairs, sum(hit) as hits\n"
        f"from (select rule, released, fresh, hit,\n{cases}\n"
        f"from ({candidates}) candidates) compared\ngroup by rule, released, fresh, {levels}"
    )


def _columns(n: int) -> list[str]:
    return [f"g{j}" for j in range(n)]


def _level_sql(j: int, steps: Sequence[Step]) -> str:
    cases = " ".join(f"when {step.condition} then {step.number}" for step in steps if step.condition != "ELSE")
    return f"cast(case {cases} else 0 end as smallint) as g{j}"


def _candidates_sql(k: int, rules: Sequence[str], n_variables: int) -> str:
    before = " or ".join(f"coalesce({rule}, false)" for rule in rules[:k])
    fresh = f"case when {before} then 0 else 1 end" if before else "1"
    values = ", ".join(f"l.v{j} as v{j}_l, r.v{j} as v{j}_r" for j in range(n_variables))
    return (
        f"select {k} as rule, r.unique_id as released, {fresh} as fresh,\n"
        f"case when l.unique_id = r.unique_id then 1 else 0 end as hit,\n{values}\n"
        f"from {FILES[0]} l join {FILES[1]} r on {rules[k]}"
    )


def patterns_sql(rule: int, n_variables: int, table: str = COMPARED) -> str:
    """SQL that counts the pairs meeting a rule by agreement pattern."""
    levels = ", ".join(_columns(n_variables))
    return f"select {levels}, cast(sum(pairs) as bigint) as pairs from {table} where rule = {rule} group by {levels}"


def weighed_sql(prior: float, weights: Sequence[dict[int, float]]) -> str:
    """SQL that counts the candidate pairs of each released record by weight, each pair once.

    `prior` is log2 of the odds of a match before any comparison; `weights` say what each level adds, by its
    number.
    """
    terms = [_number(prior)]
    for j, levels in enumerate(weights):
        cases = " ".join(f"when {number} then {_number(weight)}" for number, weight in levels.items())
        terms.append(f"case g{j} {cases} end")
    return (
        "select released, weight, cast(sum(pairs) as bigint) as pairs, cast(sum(hits) as bigint) as hits "
        f"from (select released, pairs, hits, round({' + '.join(terms)}, 9) as weight "
        f"from {COMPARED} where fresh = 1) weighed group by released, weight"
    )


def best_sql() -> str:
    """SQL for the largest weight of each released record and the share of correct candidates with that weight."""
    # sums of the same terms in another order differ in the last digits: compare with a tolerance
    return (
        "select w.released as released, max(t.top) as weight, "
        "cast(sum(w.hits) as double) / cast(sum(w.pairs) as double) as correct "
        f"from {WEIGHED} w join (select released, max(weight) as top from {WEIGHED} group by released) t "
        "on w.released = t.released where w.weight >= t.top - 1e-8 group by w.released"
    )


def steps_sql(threshold: float) -> str:
    """SQL that counts pairs by the integer part of the weight and by whether they are linked at `threshold`."""
    cut = _number(math.log2(threshold / (1 - threshold)) - 1e-8)
    return (
        f"select step, linked, cast(sum(pairs) as bigint) as pairs, cast(sum(hits) as bigint) as hits "
        f"from (select cast(floor(weight) as bigint) as step, case when weight >= {cut} then 1 else 0 end as linked, "
        f"pairs, hits from {WEIGHED}) steps group by step, linked"
    )


def _number(value: float) -> str:
    """A float literal with an exponent: without one SQL would read a decimal."""
    text = repr(float(value))
    return text if "e" in text else f"{text}e0"


SIMILAR = (0.92, 0.8)  # least Jaro-Winkler similarity of texts with one typing error, and with several
LEVELS = {
    "text": ("equal", "a slip", "several slips", "different"), "number": ("equal", "near", "different"),
    "exact": ("equal", "different"),
}  # fmt: skip
SAMPLE = 1_000_000  # pairs from which the u-probabilities are estimated


@dataclass(frozen=True, eq=False)
class Compared:
    """One variable of both files.

    `kind` is "text" (similar spellings count), "number" (near values count: those no farther apart than `near`)
    or "exact". Text has None, a number NaN where missing.
    """

    name: str
    kind: Literal["text", "number", "exact"]
    original: Sequence[Any] | NDArray[Any]
    released: Sequence[Any] | NDArray[Any]
    near: float = 0.0


@dataclass(frozen=True)
class Level:
    """A level of agreement of a variable, and how often it occurs among matches (m) and others (u)."""

    variable: str
    agreement: str
    m: float
    u: float


@dataclass(frozen=True, eq=False)
class Links:
    """Result of linking: best candidates, counts by weight, and the model.

    Attributes
    ----------
    weight : ndarray, float64, shape (n_released,)
        log2 of the odds that the best candidate is a match; NaN without one.
    correct : ndarray, float64, shape (n_released,)
        The chance that a best candidate is the right original; equal ones are drawn from.
    steps : tuple of (int, int, int)
        Whole number, pairs whose weight lies in the step that it begins, right ones among them; downwards.
    n_linked, n_right : int
        Pairs linked at the threshold, right ones among them.
    levels : tuple of Level
    prior : float
        Share of matches among all pairs: one for each record of the larger file.
    """

    weight: NDArray[np.float64]
    correct: NDArray[np.float64]
    steps: tuple[tuple[int, int, int], ...]
    n_linked: int
    n_right: int
    levels: tuple[Level, ...]
    prior: float

    @property
    def n_pairs(self) -> int:
        """Candidate pairs."""
        return sum(pairs for _, pairs, _ in self.steps)


def need_duckdb() -> None:
    """Check that DuckDB is there, which compares the pairs, or a sample of them."""
    try:
        import duckdb  # noqa: F401
    except ImportError:
        raise DataError(
            "probabilistic linkage compares pairs with DuckDB, which is not installed; pip install 'sdckit[linkage]'"
        ) from None


def scored_links(
    columns: Sequence[Compared], blocking: Sequence[Sequence[int]], seed: int, *, threshold: float = 0.5,
    session: Any = None,
) -> Links:  # fmt: skip
    """Estimate the model, weigh every candidate pair, and count.

    A pair that agrees on all columns of one rule of `blocking` is a candidate; without rules all pairs are.
    With rules, `seed` draws the records whose pairs tell u where there are too many; from a probability of a
    match of `threshold` on a pair counts as linked. On DuckDB, unless there is a session of Spark.
    """
    need_duckdb()
    with open_duckdb() as local, nullcontext(local) if session is None else open_spark(session) as engine:
        try:
            return _linked(local, engine, columns, blocking, seed, threshold)
        except Exception as error:  # noqa: BLE001 (whatever it is, its message may show values)
            if session is not None and isinstance(error, _errors_of_spark()):
                raise DataError(
                    f"Spark could not compare the pairs ({type(error).__name__}): its log says why; the session must "
                    "run, and sdckit be installed where its Python workers are"
                ) from None
            if isinstance(error, (OSError, MemoryError, *_no_room())):
                raise DataError(
                    "the pairs do not fit in memory and on the disk of the temporary folder; give blocking= with "
                    "narrower rules, or a Spark session"
                ) from None
            raise DataError(
                f"the model cannot be estimated ({type(error).__name__}): variables that do not vary, or no "
                "pair that agrees; compare other variables, or other blocking"
            ) from None


def _errors_of_spark() -> tuple[type[Exception], ...]:
    from pyspark.errors import PySparkException

    bridge = sys.modules.get("py4j.protocol")  # what pyspark stands on, and has loaded
    return (PySparkException,) if bridge is None else (PySparkException, bridge.Py4JError)


def _no_room() -> tuple[type[Exception], ...]:
    import duckdb

    return duckdb.IOException, duckdb.OutOfMemoryException


def _linked(
    local: DuckDBEngine, engine: Engine, columns: Sequence[Compared], blocking: Sequence[Sequence[int]],
    seed: int, threshold: float,
) -> Links:  # fmt: skip
    """Compare the pairs once; EM and weights need only the counts of agreement patterns."""
    sides = [_table(columns, side) for side in ("original", "released")]
    everybody = _sampled(local, columns, sides, seed) if blocking else None
    for name, table in zip(FILES, sides, strict=True):
        engine.load(name, table)
    rules = [" and ".join(f"l.v{j} = r.v{j}" for j in rule) for rule in blocking] or [ALL]
    engine.keep(COMPARED, compared_sql(_steps(columns, engine), rules))
    met = [_patterns(engine, patterns_sql(k, len(columns))) for k in range(len(rules))]
    prior = 1 / max(map(len, sides))
    model = agreements(
        [len(LEVELS[column.kind]) for column in columns], everybody or met[0],
        list(zip(blocking or [()], met, strict=True)), prior,
    )  # fmt: skip
    weights = [{-1: 0.0, **dict(enumerate(agreement.weights.tolist()))} for agreement in model]
    engine.keep(WEIGHED, weighed_sql(math.log2(prior / (1 - prior)), weights))
    best = engine.rows(best_sql())
    n_released = len(columns[0].released)
    weight, correct = np.full(n_released, np.nan), np.zeros(n_released)
    rows = best["released"].to_numpy()
    weight[rows], correct[rows] = best["weight"].to_numpy(), best["correct"].to_numpy()
    steps: dict[int, tuple[int, int]] = {}
    linked = right = 0
    for row in engine.rows(steps_sql(threshold)).to_pylist():
        pairs, hits = steps.get(row["step"], (0, 0))
        steps[row["step"]] = (pairs + row["pairs"], hits + row["hits"])
        linked += row["linked"] * row["pairs"]
        right += row["linked"] * row["hits"]
    ordered = tuple((step, *steps[step]) for step in sorted(steps, reverse=True))
    return Links(weight, correct, ordered, linked, right, _levels(columns, model), prior)


def _sampled(local: DuckDBEngine, columns: Sequence[Compared], sides: Sequence[Any], seed: int) -> Patterns:
    """Agreement patterns of all pairs, or of random subsamples of both files with about a million pairs."""
    share = math.sqrt(min(1.0, SAMPLE / max(math.prod(map(len, sides)), 1)))
    rng = np.random.default_rng(seed)
    for name, table in zip(FILES, sides, strict=True):
        drawn = rng.choice(len(table), math.ceil(share * len(table)), replace=False)
        local.load(name, table.take(np.sort(drawn)))
    local.keep(EVERYBODY, compared_sql(_steps(columns, local), [ALL]))
    return _patterns(local, patterns_sql(0, len(columns), EVERYBODY))


def _patterns(engine: Engine, sql: str) -> Patterns:
    counted = engine.rows(sql)
    *levels, pairs = (counted[name].to_numpy() for name in counted.column_names)
    return Patterns(np.column_stack(levels).astype(np.int64), pairs.astype(np.float64))


def _table(columns: Sequence[Compared], side: str) -> Any:
    """The columns of one file as a PyArrow table with neutral names, so that any column name is safe in SQL."""
    import pyarrow as pa

    arrays = {"unique_id": pa.array(np.arange(len(getattr(columns[0], side))))}
    for j, column in enumerate(columns):
        values = getattr(column, side)
        arrays[f"v{j}"] = (
            pa.array(values, from_pandas=True) if column.kind == "number" else pa.array(values, pa.string())
        )
    return pa.table(arrays)


def _steps(columns: Sequence[Compared], engine: Engine) -> list[list[Step]]:
    """The agreement levels of each variable as SQL conditions."""
    return [_variable_steps(f"v{j}_l", f"v{j}_r", column, engine) for j, column in enumerate(columns)]


def _variable_steps(left: str, right: str, column: Compared, engine: Engine) -> list[Step]:
    between = {
        "exact": [],
        "number": [f"abs({left} - {right}) <= {column.near!r}"],
        "text": [f"{engine.similarity}({left}, {right}) >= {similar}" for similar in SIMILAR],
    }[column.kind]
    reached = [f"{left} is null or {right} is null", f"{left} = {right}", *between, "ELSE"]
    return [Step(condition, number) for condition, number in zip(reached, _numbers(column.kind), strict=True)]


def _numbers(kind: str) -> list[int]:
    """Level numbers in the order in which their conditions are tried: missing, then from equal downwards."""
    return [-1, *range(len(LEVELS[kind]) - 1, -1, -1)]


def _levels(columns: Sequence[Compared], model: Sequence[Agreement]) -> tuple[Level, ...]:
    return tuple(
        Level(column.name, word, float(agreement.m[number]), float(agreement.u[number]))
        for column, agreement in zip(columns, model, strict=True)
        for number, word in zip(_numbers(column.kind)[1:], LEVELS[column.kind], strict=True)
    )
