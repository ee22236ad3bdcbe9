"""Links by Fellegi and Sunter's weights: columns in, figures out; pairs stay on the engine."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.linkage.fellegi_sunter import Agreement, Patterns, agreements
from sdckit.attacks.linkage.linkage_engines import DuckDBEngine, Engine, open_duckdb, open_spark
from sdckit.attacks.linkage.linkage_sql import (
    ALL,
    COMPARED,
    EVERYBODY,
    FILES,
    WEIGHED,
    Step,
    best_sql,
    compared_sql,
    patterns_sql,
    steps_sql,
    weighed_sql,
)
from sdckit.errors import DataError

SIMILAR = (0.92, 0.8)  # Jaro and Winkler's similarity of texts with a slip, and with several
LEVELS = {
    "text": ("equal", "a slip", "several slips", "different"), "number": ("equal", "near", "different"),
    "exact": ("equal", "different"),
}  # fmt: skip
SAMPLE = 1_000_000  # pairs that tell how often people agree who are not the same


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
    """What came of all candidate pairs.

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
    """Pairs are compared once; EM and the weights need only the counts of what agrees."""
    sides = [_table(columns, side) for side in ("original", "released")]
    everybody = _sampled(local, columns, sides, seed) if blocking else None
    for name, table in zip(FILES, sides, strict=True):
        engine.load(name, table)
    rules = [" and ".join(f"l.v{j} = r.v{j}" for j in rule) for rule in blocking] or [ALL]
    engine.keep(COMPARED, compared_sql(_steps(columns, engine), rules))
    met = [_patterns(engine, patterns_sql(k, len(columns))) for k in range(len(rules))]
    prior = 1 / max(map(len, sides))
    model = agreements(
        [len(LEVELS[one.kind]) for one in columns], everybody or met[0],
        list(zip(blocking or [()], met, strict=True)), prior,
    )  # fmt: skip
    engine.keep(WEIGHED, weighed_sql(math.log2(prior / (1 - prior)), [_by_number(one) for one in model]))
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
    """All pairs, or those of as many records drawn from both files as make a million."""
    share = math.sqrt(min(1.0, SAMPLE / max(math.prod(map(len, sides)), 1)))
    rng = np.random.default_rng(seed)
    for name, table in zip(FILES, sides, strict=True):
        drawn = rng.choice(len(table), math.ceil(share * len(table)), replace=False)
        local.load(name, table.take(np.sort(drawn)))
    local.keep(EVERYBODY, compared_sql(_steps(columns, local), [ALL]))
    return _patterns(local, patterns_sql(0, len(columns), EVERYBODY))


def _patterns(engine: Engine, sql: str) -> Patterns:
    found = engine.rows(sql)
    *levels, pairs = (found[name].to_numpy() for name in found.column_names)
    return Patterns(np.column_stack(levels).astype(np.int64), pairs.astype(np.float64))


def _table(columns: Sequence[Compared], side: str) -> Any:
    """Neutral names: a column of any name goes through SQL."""
    import pyarrow as pa

    made = {"unique_id": pa.array(np.arange(len(getattr(columns[0], side))))}
    for j, one in enumerate(columns):
        values = getattr(one, side)
        made[f"v{j}"] = (
            pa.array(values, from_pandas=True) if one.kind == "number" else pa.array(values, pa.string())
        )
    return pa.table(made)


def _steps(columns: Sequence[Compared], engine: Engine) -> list[list[Step]]:
    """The levels of each variable as an engine finds them."""
    return [_variable_steps(f"v{j}_l", f"v{j}_r", one, engine) for j, one in enumerate(columns)]


def _variable_steps(left: str, right: str, one: Compared, engine: Engine) -> list[Step]:
    between = {
        "exact": [],
        "number": [f"abs({left} - {right}) <= {one.near!r}"],
        "text": [f"{engine.similarity}({left}, {right}) >= {similar}" for similar in SIMILAR],
    }[one.kind]
    missing = f"{left} is null or {right} is null"
    reached = [missing, f"{left} = {right}", *between, "ELSE"]
    return [Step(condition, number) for condition, number in zip(reached, _numbers(one.kind), strict=True)]


def _numbers(kind: str) -> list[int]:
    """Of the levels in the order in which they are tried: missing, then equal downwards."""
    return [-1, *range(len(LEVELS[kind]) - 1, -1, -1)]


def _by_number(one: Agreement) -> dict[int, float]:
    return {-1: 0.0, **dict(enumerate(one.weights.tolist()))}


def _levels(columns: Sequence[Compared], model: Sequence[Agreement]) -> tuple[Level, ...]:
    return tuple(
        Level(one.name, word, float(made.m[number]), float(made.u[number]))
        for one, made in zip(columns, model, strict=True)
        for number, word in zip(_numbers(one.kind)[1:], LEVELS[one.kind], strict=True)
    )
