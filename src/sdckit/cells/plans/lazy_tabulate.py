"""Keys of a plan made safe to group and join by, and f and F as windows over them.

Engines never match a missing key in a join. So every key that has missing values is filled with a value of
its type, and the pattern of what was missing becomes a key of its own: no key is missing any more.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw

from sdckit.cells.plans.lazy_values import aggregate, count
from sdckit.cells.plans.lazy_wildcards import Filled, match_wildcards, type_name
from sdckit.cells.record_columns import bad_weights
from sdckit.cells.tabulate import MANY_LEVELS
from sdckit.data.frames import check_plan_names
from sdckit.data.scenarios.roles import Roles, check_columns
from sdckit.errors import ColumnError, DataError, SdcWarning

__all__ = ["PREFIX", "KeyPlan", "plan_keys", "with_frequencies"]

PREFIX = "sdckit__"
PATTERN = PREFIX + "pattern"
MAX_KEYS = 53  # some engines divide whole numbers as floats, and a pattern is a whole number


@dataclass(frozen=True)
class KeyPlan:
    """How the keys of a plan are grouped by.

    `keys`: of each its column, the filled column, whether it has missing values and whether those stand for any
    value.
    """

    keys: tuple[Filled, ...]

    @property
    def group(self) -> list[str]:
        """Columns to group by, none of which is ever missing."""
        return [key.column for key in self.keys] + [PATTERN]

    def as_categories(self) -> KeyPlan:
        """The same keys, none of whose missing values stands for any value."""
        return KeyPlan(tuple(replace(key, wild=False) for key in self.keys))

    def extend(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Add the filled keys and the number of the missingness pattern."""
        pattern = nw.lit(0)
        for j, key in enumerate(self.keys):
            if key.has_missing:
                pattern = pattern + key.absent.cast(nw.Int64) * (1 << j)
        filled = [key.filled.alias(key.column) for key in self.keys]
        return frame.with_columns(*filled, pattern.cast(nw.Int64).alias(PATTERN))

    def cells(self, frame: nw.LazyFrame[Any], weight: str | None) -> nw.LazyFrame[Any]:
        """The cells under their own key names, a missing value missing again, with size and weight."""
        sums = [nw.len().alias(PREFIX + "size")]
        if weight is not None:
            sums.append(nw.col(weight).cast(nw.Float64).sum().alias(PREFIX + "weight"))
        back = [
            nw.when((nw.col(PATTERN) // (1 << j)) % 2 == 0).then(nw.col(key.column)).alias(key.name)
            if key.has_missing
            else nw.col(key.column).alias(key.name)
            for j, key in enumerate(self.keys)
        ]
        counted = frame.group_by(*self.group).agg(*sums)
        return counted.select(
            *back, *(nw.col(one) for one in (PREFIX + "size", PREFIX + "weight")[: len(sums)])
        )


def plan_keys(
    frame: nw.LazyFrame[Any], roles: Roles
) -> tuple[KeyPlan, int, tuple[int, ...], tuple[int, ...]]:
    """Check the columns in one aggregate pass; the plan, the records, missing values and levels per key."""
    schema = frame.collect_schema()
    check_columns(schema.names(), roles)
    used = (*roles.keys, *roles.sensitive, roles.weight, roles.person, roles.household)
    spark = frame.implementation.is_pyspark()  # only there are columns that nobody asks for left in peace
    check_plan_names(frame, [name for name in used if name is not None] if spark else schema.names())
    if own := [name for name in schema.names() if name.casefold().startswith(PREFIX)]:
        raise ColumnError(f"column {own[0]!r} begins with {PREFIX!r}, which is kept for sdckit; rename it")
    if len(roles.keys) > MAX_KEYS:
        raise DataError(f"a plan takes at most {MAX_KEYS} keys; collect the data first")
    polars = frame.implementation.is_polars()
    keys = [Filled.of(key, j, schema[key], whole_times=polars) for j, key in enumerate(roles.keys)]
    facts = [nw.len()]
    for key in keys:
        facts += [count(key.absent), key.present.n_unique()]
    facts += _role_facts(roles, schema)
    n, *counts = [0 if math.isnan(value) else int(value) for value in aggregate(frame, *facts)]
    if n == 0:
        raise DataError("the data has no records")
    per_key, rest = counts[: 2 * len(keys)], counts[2 * len(keys) :]
    _check_roles(frame, roles, rest)
    missing, distinct = tuple(per_key[0::2]), tuple(per_key[1::2])
    levels = tuple(d - (gone > 0) for d, gone in zip(distinct, missing, strict=True))  # null counts as one
    planned = []
    for key, gone, many, rule in zip(keys, missing, levels, roles.rules, strict=True):
        _check_key(key, gone, many, rule, n, roles)
        planned.append(key.with_missing(gone > 0, wild=rule == "wildcard" and gone > 0))
    return KeyPlan(tuple(planned)), n, missing, levels


def _role_facts(roles: Roles, schema: Mapping[str, Any]) -> list[nw.Expr]:
    facts = []
    if roles.weight is not None:
        if not schema[roles.weight].is_numeric():
            raise DataError(
                f"weight {roles.weight!r} is {type_name(schema[roles.weight])}, not numbers; convert it first"
            )
        w = nw.col(roles.weight).cast(nw.Float64)
        absent = w.is_null() | w.is_nan().fill_null(True)
        facts += [count(absent), count((~absent & (w <= 0)).fill_null(False))]
        facts += [count((~absent & (w > 1.7e308)).fill_null(False))]
    if roles.person is not None:
        facts.append(count(Filled.of(roles.person, 0, schema[roles.person]).absent))
    return facts


def _check_roles(frame: nw.LazyFrame[Any], roles: Roles, counts: list[int]) -> None:
    if roles.weight is not None and any(counts[:3]):
        raise DataError(bad_weights(roles.weight, *counts[:3]))
    if roles.person is None:
        return
    if gone := counts[-1]:
        raise DataError(f"person {roles.person!r} is missing in {gone} records; give every record its person")
    if roles.weight is not None:
        w = nw.col(roles.weight)
        spread = (w.max().over(roles.person) != w.min().over(roles.person)).alias(PREFIX + "varies")
        if varying := int(aggregate(frame.select(spread), count(nw.col(PREFIX + "varies")))[0]):
            raise DataError(
                f"the weight is not constant within a person in {varying} records; give each person one weight"
            )


def _check_key(key: Filled, gone: int, levels: int, rule: str, n: int, roles: Roles) -> None:
    if gone == n:
        raise DataError(f"key {key.name!r} has no value in any record; leave it out of the keys")
    if gone and rule == "error":
        raise DataError(
            f"key {key.name!r} is missing in {gone} records, and missing='error'; complete it or choose 'wildcard' "
            "or 'category'"
        )
    if gone and rule == "wildcard" and roles.person is not None:
        raise DataError(
            f"key {key.name!r} has missing values: with person= they must be a level of their own, missing='category'"
        )
    message = ""
    if n > 1 and levels == 1 and not gone:
        message = f"key {key.name!r} has the same value in every record: it tells nobody apart"
    elif n > 1 and levels == n:
        message = f"key {key.name!r} is different for every record: is it an identifier?"
    elif levels >= MANY_LEVELS:
        message = f"key {key.name!r} has {levels} different values: recode it into fewer first"
    if message:
        warnings.warn(message, SdcWarning, stacklevel=2)


def with_frequencies(
    frame: nw.LazyFrame[Any], plan: KeyPlan, roles: Roles
) -> tuple[nw.LazyFrame[Any], dict[str, str]]:
    """Add ``cell_size``, ``sample_frequency`` and ``population_frequency``; the plan and their columns.

    With wildcards ``strict_frequency`` as well, as `cells.tabulate.frequency_columns_of` does.
    """
    size, f, big_f = PREFIX + "cell_size", PREFIX + "sample_frequency", PREFIX + "population_frequency"
    group, strict = plan.group, PREFIX + "strict_frequency"
    frame = frame.with_columns(nw.len().over(*group).cast(nw.Int64).alias(size))
    columns = {"cell_size": size, "sample_frequency": size}
    weight = None if roles.weight is None else nw.col(roles.weight).cast(nw.Float64)
    if roles.person is not None:
        times = PREFIX + "times"  # rows of the same person in the cell: each counts its share of one
        frame = frame.with_columns(nw.len().over(*group, roles.person).cast(nw.Float64).alias(times))
        one = (1.0 / nw.col(times)).sum().over(*group)
        frame = frame.with_columns(one.round().cast(nw.Int64).alias(f))
        columns["sample_frequency"] = f
        if weight is not None:
            frame = frame.with_columns((weight / nw.col(times)).sum().over(*group).alias(big_f))
        frame = frame.drop(times)
    elif any(key.wild for key in plan.keys):
        frame = match_wildcards(
            frame, plan.keys, PATTERN, weight=roles.weight, alpha=roles.alpha, frequency=f, strict=strict,
            population=big_f,
        )  # fmt: skip
        columns |= {"sample_frequency": f, "strict_frequency": strict}
    elif weight is not None:
        frame = frame.with_columns(weight.sum().over(*group).alias(big_f))
    if roles.sampling_fraction is not None:
        estimate = nw.col(columns["sample_frequency"]).cast(nw.Float64) / roles.sampling_fraction
        frame = frame.with_columns(estimate.alias(big_f))
    if weight is not None or roles.sampling_fraction is not None:
        columns["population_frequency"] = big_f
    return frame, columns
