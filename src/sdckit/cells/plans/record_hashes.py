"""Equal records of several files that stay on one engine, counted there by a hash of all columns.

Each value has two hashes of 64 bits, salted by the place of its column; those of a record are put together by exclusive
or, so that a column is left out by leaving out its hashes. Records are grouped by 128 bits: of 200 million, two that
differ share them with a probability of 10^-22.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from sdckit.cells.plans.count_cells import PREFIX, KeyColumn, aggregate, count
from sdckit.cells.plans.pair_cells import are_joined, can_count
from sdckit.data import pl
from sdckit.data.frames import as_plan, carried_out, check_plan_names, on_spark

HASHES = tuple(f"{PREFIX}hash{i}" for i in (1, 2))
ODD = 0x9E3779B97F4A7C15  # salts are its multiples, far from each other


@dataclass(frozen=True)
class EqualCounts:
    """Rows of other files equal to one of the first that is alone there; combinations that 1, 2 and 3 of it have.

    `others`: by file. `shared`: whether a row of the second file equals one of the first at all.
    """

    others: tuple[int, ...]
    times: tuple[int, int, int]
    shared: bool


@dataclass(frozen=True, eq=False)
class HashedFiles:
    """Files of one engine with the same columns, in a form in which equal values have equal hashes.

    `kinds`: the types as which columns are compared. `decimals`: of each column the decimals that its numbers are
    compared at; None where values are as they are.
    """

    frames: tuple[nw.LazyFrame[Any], ...]
    columns: tuple[str, ...]
    decimals: tuple[int | None, ...]
    kinds: dict[str, Any]

    def count(self, without: Sequence[str] = ()) -> EqualCounts:
        """Count equal rows by all columns but some.

        Raises DataError: the engine fails.
        """
        places = [at for at, name in enumerate(self.columns) if name not in without]
        marks = [f"{PREFIX}in{file}" for file in range(len(self.frames))]
        marked = []
        for file, frame in enumerate(self.frames):
            own = (nw.lit(1 if at == file else None, nw.Int32).alias(mark) for at, mark in enumerate(marks))
            marked.append(self._hashed(frame, places).select(*HASHES, *own))
        groups = nw.concat(marked, how="vertical").group_by(*HASHES).agg(nw.col(mark).count() for mark in marks)
        first, *others = map(nw.col, marks)
        of_alone = (nw.when(first == 1).then(other).sum() for other in others)
        values = np.nan_to_num(aggregate(
            groups, *of_alone, *(count(first == k) for k in (1, 2, 3)), count((first > 0) & (others[0] > 0))
        )).astype(np.int64).tolist()  # fmt: skip
        m = len(others)
        return EqualCounts(tuple(values[:m]), (values[m], values[m + 1], values[m + 2]), values[-1] > 0)

    def _hashed(self, frame: nw.LazyFrame[Any], places: Sequence[int]) -> nw.LazyFrame[Any]:
        native: Any = frame.select(*(f"{PREFIX}v{at}" for at in places)).to_native()
        if frame.implementation.is_polars():
            hashed = [_of_polars(places, self.decimals, which) for which in (0, 1)]
            made = native.select(value.alias(name) for value, name in zip(hashed, HASHES, strict=True))
        else:
            of_engine = _of_spark if on_spark(frame) else _of_duckdb
            listed = [f"{of_engine(places, self.decimals, which)} AS {name}" for which, name in enumerate(HASHES)]
            made = carried_out(
                lambda: native.selectExpr(*listed) if on_spark(frame) else native.project(", ".join(listed))
            )
        return as_plan(made)


def hash_files(frames: Sequence[Any], columns: Sequence[str], most_decimals: int) -> HashedFiles | None:
    """Files to be compared by some columns; None where they are not on one engine, or their types do not hash alike.

    Numbers that are not whole in some file are compared at the decimals that the second file shows, up to so many.
    """
    if not all(isinstance(frame, nw.LazyFrame) for frame in frames) or not can_count(frames, columns):
        return None
    if not are_joined([frame.select(nw.lit(1).alias("one")) for frame in frames], "one"):
        return None
    read = [_alike([frame.collect_schema()[name] for frame in frames]) for name in columns]
    if None in read:
        return None
    chosen = []
    for frame in frames:
        check_plan_names(frame, columns)
        schema = frame.collect_schema()
        chosen.append(frame.select(*(
            key.one_zero(key.value.cast(kind)).alias(f"{PREFIX}v{at}")
            for at, (name, kind) in enumerate(zip(columns, read, strict=True))
            for key in [KeyColumn.of(name, at, schema[name])]
        )))  # fmt: skip
    kinds = dict(zip(columns, read, strict=True))
    measured = [at for at, kind in enumerate(read) if kind == nw.Float64]
    return HashedFiles(
        tuple(chosen), tuple(columns), _decimals(chosen[1], measured, len(columns), most_decimals), kinds
    )


def _alike(kinds: Sequence[Any]) -> Any:
    """The type that values of these types are compared as; None where they do not compare here."""
    if all(kind.is_integer() and kind != nw.UInt64 for kind in kinds):
        return nw.Int64
    if all(kind.is_integer() or kind.is_float() for kind in kinds) and any(kind.is_float() for kind in kinds):
        return nw.Float64
    text = (nw.String, nw.Categorical, nw.Enum)
    if all(kind.base_type() in text for kind in kinds):
        return nw.String
    return kinds[0] if kinds[0] in (nw.Boolean, nw.Date) and len(set(kinds)) == 1 else None


def _decimals(frame: nw.LazyFrame[Any], measured: Sequence[int], n: int, most: int) -> tuple[int | None, ...]:
    """Decimals that numbers are written with, up to `most`; None where they have more, and of what is no number."""
    out: list[int | None] = [None] * n
    if not measured:
        return tuple(out)
    asked = [(at, decimals) for at in measured for decimals in range(most + 1)]
    names = [f"{PREFIX}r{at}_{decimals}" for at, decimals in asked]
    native: Any = frame.to_native()
    if frame.implementation.is_polars():
        made = native.with_columns(
            _rounded(pl.col(f"{PREFIX}v{at}"), decimals).alias(name)
            for (at, decimals), name in zip(asked, names, strict=True)
        )
    else:
        half_even = "rint({})" if on_spark(frame) else "round_even({}, 0)"
        listed = ["*", *(f"{_in_sql(at, decimals, half_even)} AS {name}" for (at, decimals), name in zip(
            asked, names, strict=True))]  # fmt: skip
        made = carried_out(lambda: native.selectExpr(*listed) if on_spark(frame) else native.project(", ".join(listed)))
    others = aggregate(
        nw.from_native(made),
        *(count((nw.col(name) != nw.col(f"{PREFIX}v{at}")).fill_null(False))
          for (at, _), name in zip(asked, names, strict=True)),
    )  # fmt: skip
    for (at, decimals), differ in zip(asked, others, strict=True):
        if out[at] is None and not np.nan_to_num(differ):
            out[at] = decimals
    return tuple(out)


def _rounded(value: Any, decimals: int | None) -> Any:
    """A number of Polars rounded as NumPy does."""
    if decimals is None:
        return value
    power = float(10**decimals)
    return (value * power).round(0, mode="half_to_even") / power + 0.0


def _of_polars(places: Sequence[int], decimals: Sequence[int | None], which: int) -> Any:
    combined = None
    for at in places:
        hashed = _rounded(pl.col(f"{PREFIX}v{at}"), decimals[at]).hash(2 * at + which)
        combined = hashed if combined is None else combined ^ hashed
    return combined


def _in_sql(at: int, decimals: int | None, half_even: str) -> str:
    name = f"{PREFIX}v{at}"
    if decimals is None:
        return name
    power = f"CAST(1e{decimals} AS DOUBLE)"
    return f"({half_even.format(f'{name} * {power}')} / {power} + CAST(0 AS DOUBLE))"


def _of_duckdb(places: Sequence[int], decimals: Sequence[int | None], which: int) -> str:
    """By a second hash of hash and salt: in a hash of several values the salt would be a constant that drops out."""
    combined = ""
    for at in places:
        salt = (ODD * (2 * at + which + 1)) % 2**64
        hashed = f"hash(xor(hash({_in_sql(at, decimals[at], 'round_even({}, 0)')}), {salt}::UBIGINT))"
        combined = f"xor({combined}, {hashed})" if combined else hashed
    return combined


def _of_spark(places: Sequence[int], decimals: Sequence[int | None], which: int) -> str:
    values = (f"xxhash64({2 * at + which}, {_in_sql(at, decimals[at], 'rint({})')})" for at in places)
    return " ^ ".join(values)


def mean_size(frame: Any, column: str) -> float:
    """The mean size of a record's group by a column, over the records, counted by the engine."""
    key = KeyColumn.of(column, 0, frame.collect_schema()[column])
    sizes = frame.select(key.value.alias("of")).group_by("of").agg(nw.len().cast(nw.Float64).alias("size"))
    squares, n = aggregate(sizes, (nw.col("size") * nw.col("size")).sum(), nw.col("size").sum())
    return squares / n
