"""Links by splink's weights (Fellegi and Sunter, EM): columns in, figures out; pairs stay on the engine."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sdckit.attacks.linkage.linkage_engines import DuckDBEngine, Engine, open_duckdb, open_spark
from sdckit.attacks.linkage.linkage_sql import (
    ALL,
    COMPARED,
    FILES,
    WEIGHED,
    best_sql,
    compared_sql,
    patterns_sql,
    steps_sql,
    weighed_sql,
)
from sdckit.attacks.linkage.splink_model import SplinkModel
from sdckit.errors import DataError

__all__ = ["Compared", "Level", "Links", "need_splink", "scored_links"]

SIMILAR = (0.92, 0.8)  # Jaro and Winkler's similarity of texts with a slip, and with several


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
        Estimated share of matches among all pairs.
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


def need_splink() -> None:
    """Check that splink is there."""
    try:
        import splink  # noqa: F401
    except ImportError:
        raise DataError(
            "probabilistic linkage is computed by splink, which is not installed; pip install 'sdckit[linkage]'"
        ) from None


def scored_links(
    columns: Sequence[Compared], blocking: Sequence[Sequence[int]], seed: int, *, threshold: float = 0.5,
    session: Any = None,
) -> Links:  # fmt: skip
    """Estimate the model, weigh every candidate pair, and count.

    A pair that agrees on all columns of one rule of `blocking` is a candidate; without rules all pairs are.
    `seed` is for the pairs sampled to estimate u where there are too many; from a probability of a match of
    `threshold` on a pair counts as linked. On DuckDB, unless there is a session of Spark.
    """
    need_splink()
    rules = [" and ".join(f"l.v{j} = r.v{j}" for j in rule) for rule in blocking] or [ALL]
    with open_duckdb() as local, nullcontext(local) if session is None else open_spark(session) as engine:
        try:
            return _linked(local, engine, columns, rules, seed, threshold)
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
                f"splink could not estimate the model ({type(error).__name__}): variables that do not vary, or no "
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
    local: DuckDBEngine, engine: Engine, columns: Sequence[Compared], rules: list[str], seed: int,
    threshold: float,
) -> Links:  # fmt: skip
    """Pairs are compared once; EM and the weights need only the counts of what agrees."""
    files = {name: _table(columns, side) for name, side in zip(FILES, ("original", "released"), strict=True)}
    model = SplinkModel(local.connection, files, [_comparison(j, one) for j, one in enumerate(columns)])
    if engine is not local:
        for name, table in files.items():
            engine.load(name, table)
    engine.keep(COMPARED, compared_sql(model.steps(engine.similarity), rules))
    model.count_others(seed)
    for k, rule in enumerate(rules):
        model.learn_matches(rule, engine.rows(patterns_sql(k, len(columns))))
    engine.keep(WEIGHED, weighed_sql(model.prior_weight, model.weights))
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
    return Links(weight, correct, ordered, linked, right, _levels(columns, model.saved()), model.prior)


def _table(columns: Sequence[Compared], side: str) -> Any:
    """Neutral names: a column of any name, and none of splink's own, goes through its SQL."""
    import pyarrow as pa

    made = {"unique_id": pa.array(np.arange(len(getattr(columns[0], side))))}
    for j, one in enumerate(columns):
        values = getattr(one, side)
        made[f"v{j}"] = (
            pa.array(values, from_pandas=True) if one.kind == "number" else pa.array(values, pa.string())
        )
    return pa.table(made)


def _comparison(j: int, one: Compared) -> Any:
    import splink.comparison_level_library as levels
    import splink.comparison_library as comparisons

    name = f"v{j}"
    if one.kind == "exact":
        return comparisons.ExactMatch(name)
    near = (
        [levels.CustomLevel(f"abs({name}_l - {name}_r) <= {one.near!r}", label_for_charts="near")]
        if one.kind == "number"
        else [levels.JaroWinklerLevel(name, similar) for similar in SIMILAR]
    )
    both = [levels.NullLevel(name), levels.ExactMatchLevel(name), *near, levels.ElseLevel()]
    return comparisons.CustomComparison(both, output_column_name=name)


def _levels(columns: Sequence[Compared], model: dict[str, Any]) -> tuple[Level, ...]:
    words = {"text": ("equal", "a slip", "several slips", "different"), "number": ("equal", "near", "different"),
             "exact": ("equal", "different")}  # fmt: skip
    found = []
    for one, made in zip(columns, model["comparisons"], strict=True):
        real = [level for level in made["comparison_levels"] if not level.get("is_null_level")]
        for word, level in zip(words[one.kind], real, strict=True):
            m, u = (
                float(value) if (value := level.get(f"{name}_probability")) is not None else float("nan")
                for name in "mu"
            )
            found.append(Level(one.name, word, m, u))
    return tuple(found)
