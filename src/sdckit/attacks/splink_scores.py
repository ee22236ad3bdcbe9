"""Weights of pairs of records by splink (Fellegi and Sunter, EM) on DuckDB; columns in, pairs out."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sdckit.errors import DataError

__all__ = ["Compared", "Level", "ScoredPairs", "need_splink", "scored_pairs"]

SIMILAR = (0.92, 0.8)  # Jaro and Winkler's similarity of texts with a slip, and with several
FULL_SAMPLE = 1e6


@dataclass(frozen=True, eq=False)
class Compared:
    """One variable of both files.

    Attributes
    ----------
    name : str
        For messages and tables.
    kind : str
        "text" (similar spellings count), "number" (near values count), "exact".
    original, released : sequence
        Text with None, or numbers with NaN where missing.
    near : float
        Numbers no farther apart are near.
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
class ScoredPairs:
    """Candidate pairs.

    Attributes
    ----------
    original, released : ndarray, int64
        Rows from 0.
    weight : ndarray, float64
        log2 of the odds that the pair is a match.
    levels : tuple of Level
    prior : float
        Estimated share of matches among all pairs.
    """

    original: NDArray[np.int64]
    released: NDArray[np.int64]
    weight: NDArray[np.float64]
    levels: tuple[Level, ...]
    prior: float


def need_splink() -> None:
    """Check that splink is there.

    Raises
    ------
    DataError
        It is not.
    """
    try:
        import splink  # noqa: F401
    except ImportError:
        raise DataError(
            "probabilistic linkage is computed by splink, which is not installed; pip install 'sdckit[linkage]'"
        ) from None


def scored_pairs(columns: Sequence[Compared], blocking: Sequence[Sequence[int]], seed: int) -> ScoredPairs:
    """Estimate the model and weigh every candidate pair.

    Parameters
    ----------
    columns : sequence of Compared
    blocking : sequence of sequence of int
        Rules; a pair that agrees on all columns of one rule is a candidate. Without rules all pairs are.
    seed : int
        For the pairs sampled to estimate u where there are too many.

    Raises
    ------
    DataError
        splink is not installed, or the model cannot be estimated.
    """
    need_splink()
    from splink import DuckDBAPI, Linker, SettingsCreator

    n, n_released = len(columns[0].original), len(columns[0].released)
    rules = [" and ".join(f"l.v{j} = r.v{j}" for j in rule) for rule in blocking] or ["1=1"]
    api = DuckDBAPI()
    tables = [
        api.register(_table(columns, side), dataset_display_name=name)
        for side, name in (("original", "a_original"), ("released", "b_released"))
    ]
    blocked: Any = rules  # texts are taken as rules, too
    settings = SettingsCreator(
        link_type="link_only",
        comparisons=[_comparison(j, one) for j, one in enumerate(columns)],
        blocking_rules_to_generate_predictions=blocked,
        probability_two_random_records_match=1 / max(n, n_released),
        retain_matching_columns=False,
        max_iterations=200,
    )
    linker = Linker(tables, settings, log_level=logging.ERROR)
    try:
        linker.training.estimate_u_using_random_sampling(
            max_pairs=float(min(max(n * n_released, 2), FULL_SAMPLE)), seed=seed, min_count_per_level=None
        )
        for rule in rules:
            linker.training.estimate_parameters_using_expectation_maximisation(
                rule, record_sample_proportion=1.0, fix_probability_two_random_records_match=rule != "1=1"
            )
        predicted: Any = linker.inference.predict(warning_mode="never")
        found = predicted.as_pyarrow_table()
    except Exception as error:  # noqa: BLE001 (whatever it is, its message may show values)
        raise DataError(
            f"splink could not estimate the model ({type(error).__name__}): variables that do not vary, or no pair "
            "that agrees; compare other variables, or other blocking"
        ) from None
    model = linker.misc.save_model_to_json()
    pairs = [np.asarray(found[name].to_numpy()) for name in ("unique_id_l", "unique_id_r", "match_weight")]
    order = np.lexsort((pairs[0], pairs[1]))
    return ScoredPairs(
        pairs[0][order].astype(np.int64), pairs[1][order].astype(np.int64), pairs[2][order].round(9),
        _levels(columns, model), float(model["probability_two_random_records_match"]),
    )  # fmt: skip


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
