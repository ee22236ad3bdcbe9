"""The model of Fellegi and Sunter as splink estimates it, from counts of pairs made elsewhere."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sdckit.attacks.linkage.linkage_engines import DuckDBEngine
from sdckit.attacks.linkage.linkage_sql import ALL, Step

__all__ = ["SplinkModel"]

FULL_SAMPLE = 1e6
PATTERNS, VECTORS = "sdckit_patterns", "sdckit_vectors"
PIECE = 100_000  # a pattern is repeated piece by piece, so that its rows need not be in memory


class SplinkModel:
    """A model that is estimated step by step.

    The files, originals and released records by name, have `unique_id`, `v0`, `v1`, ...; each of the latter has
    its splink comparison.
    """

    def __init__(self, connection: Any, files: Mapping[str, Any], comparisons: Sequence[Any]) -> None:
        from splink import Linker, SettingsCreator

        self._connection = connection
        self._api = _api_class()(connection)
        self._sizes = [len(table) for table in files.values()]
        settings = SettingsCreator(
            link_type="link_only",
            comparisons=list(comparisons),
            probability_two_random_records_match=1 / max(self._sizes),
            retain_matching_columns=False,
            max_iterations=200,
        )
        tables = [self._api.register(table, dataset_display_name=name) for name, table in files.items()]
        self._linker = Linker(tables, settings, log_level=logging.ERROR)

    @property
    def _levels(self) -> list[list[Any]]:
        return [one.comparison_levels for one in self._linker._settings_obj.comparisons]

    def steps(self, similarity: str) -> list[list[Step]]:
        """The levels of each variable."""
        return [
            [
                Step(_portable(level.sql_condition, similarity), level.comparison_vector_value)
                for level in levels
            ]
            for levels in self._levels
        ]

    def count_others(self, seed: int) -> None:
        """Estimate u over all pairs, or a sample of them."""
        self._linker.training.estimate_u_using_random_sampling(
            max_pairs=float(min(max(math.prod(self._sizes), 2), FULL_SAMPLE)),
            seed=seed,
            min_count_per_level=None,
        )

    def learn_matches(self, rule: str, patterns: Any) -> None:
        """Estimate m by EM.

        All these pairs agree on `rule`; `patterns` has `g0`, `g1`, ... and `pairs`, how many there are.
        """
        self._connection.register(PATTERNS, patterns)
        levels = ", ".join(f"g{j} as gamma_v{j}" for j in range(len(self._levels)))
        self._connection.execute(
            f"create or replace temp view {VECTORS} as "
            f"select {levels} from (select *, unnest(range(least({PIECE}, pairs - piece * {PIECE}))) "
            f"from (select *, unnest(range((pairs + {PIECE} - 1) // {PIECE})) as piece from {PATTERNS})) repeated"
        )
        self._api.vectors = VECTORS
        # EM reads the pairs once, and works on the counts of their patterns from then on.
        self._linker.training.estimate_parameters_using_expectation_maximisation(
            rule, record_sample_proportion=1.0, fix_probability_two_random_records_match=rule != ALL,
            estimate_without_term_frequencies=True,
        )  # fmt: skip
        self._api.vectors = None

    @property
    def prior(self) -> float:
        """Estimated share of matches among all pairs."""
        return float(self.saved()["probability_two_random_records_match"])

    @property
    def prior_weight(self) -> float:
        """log2 of its odds."""
        return math.log2(self.prior / (1 - self.prior))

    @property
    def weights(self) -> list[dict[int, float]]:
        """What each level adds to the weight of a pair, by its number."""
        return [
            {level.comparison_vector_value: _weight(level) for level in levels} for levels in self._levels
        ]

    def saved(self) -> dict[str, Any]:
        """The model as splink writes it: without m or u of a level that was never seen."""
        found: dict[str, Any] = self._linker.misc.save_model_to_json()
        return found


def _portable(condition: str, similarity: str) -> str:
    """Without quotes, which no name here needs and Spark would take for those of a text."""
    return condition.replace('"', "").replace(DuckDBEngine.similarity, similarity)


def _weight(level: Any) -> float:
    """A level never seen has splink's default."""
    return 0.0 if level.is_null_level else math.log2(level.m_probability / level.u_probability)


@cache
def _api_class() -> Any:
    """DuckDB for splink, which would compare all pairs in tables of their own, except that EM gets ours."""
    from splink import DuckDBAPI

    class CountedPairs(DuckDBAPI):
        vectors: str | None = None

        def sql_pipeline_to_splink_dataframe(self, pipeline: Any) -> Any:
            name = pipeline.output_table_name
            if self.vectors and name in {"__splink__blocked_id_pairs", "__splink__df_comparison_vectors"}:
                return self.table_to_splink_dataframe(name, self.vectors)
            return super().sql_pipeline_to_splink_dataframe(pipeline)

    return CountedPairs
