"""What the losses of a generalised file cost on every engine: `generalization_loss` of eight columns with hierarchies.

    python benchmarks/coarser.py [--records 1e6] [--engines polars,pandas,pyarrow,lazy,duckdb,spark] [--repeats 1]
                                 [--record MACHINE]

Eight variables of a census, each one or two levels up a hierarchy of three, one record in fifty without any value: all
figures at once. Beside them, before each: the bare group-bys that they stand on, in Polars and in memory: of each
column before and after, and of all columns after. Rows of files in memory belong together by their order, those of
plans by an id. Every engine is given the same files, and its figures are checked equal to those of the first.
Processor seconds of the fastest call, after one of each on few records; those of Spark are left out of the table, since
most of it runs in the JVM.
"""

from __future__ import annotations

import resource
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import sdckit as sdc
from census import KEYS_ALL, census
from quality import HEADS, best, given, options_of
from record import record

VARIABLES = [name for name in KEYS_ALL if name != "sex"][:8]
GONE = 50  # one record in so many has no value
ID = "row"


def hierarchies(frame: pl.DataFrame) -> dict[str, dict[int, list[str]]]:
    """Three levels above the values of each variable: by fours, by twelves, all."""
    return {
        name: {value: [f"{value // 4}", f"{value // 12}", "*"] for value in frame[name].drop_nulls().unique().sort()}
        for name in VARIABLES
    }


def coarser(frame: pl.DataFrame) -> pl.DataFrame:
    """The file with its variables at levels one and two in turns, and some records suppressed."""
    gone = pl.Series(np.arange(len(frame)) % GONE == 0)
    up = [(pl.col(name) // (4 if at % 2 else 12)).cast(pl.String).alias(name) for at, name in enumerate(VARIABLES)]
    hidden = [pl.when(gone).then(None).otherwise(pl.col(name)).alias(name) for name in VARIABLES]
    return frame.with_columns(up).with_columns(hidden)


def bare(before: pl.DataFrame, after: pl.DataFrame) -> int:
    """The group-bys beneath: how many groups there are."""
    beside = before.select(VARIABLES).hstack(after.select(pl.col(name).alias(f"{name}_") for name in VARIABLES))
    of_columns = sum(beside.group_by([name, f"{name}_"]).len().height for name in VARIABLES)
    return of_columns + after.group_by(VARIABLES).len().height


def main() -> None:
    """Time every engine asked."""
    options = options_of(__doc__)
    before = census(options.records, seed=1)[VARIABLES].with_row_index(ID)
    frames = [before, coarser(before)]
    levels = hierarchies(before)
    few = [frame.head(1000) for frame in frames]
    expected: dict[str, float] = {}
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory() as folder:
        for engine in options.engines.split(","):
            pair = [given(engine, frame, Path(folder) / f"{engine}-{j}.parquet") for j, frame in enumerate(frames)]
            plan = engine not in ("polars", "pandas", "pyarrow")
            rows_by: dict[str, Any] = {"id": ID} if plan else {"aligned": True}

            def measure(files: list[Any], how: dict[str, Any] = rows_by) -> dict[str, float]:
                found = sdc.generalization_loss(*files, hierarchies=levels, **how)
                return dict(found.per_release[0])

            measure(few)
            bare(*few)
            alone, _ = best(lambda: bare(*frames), options.repeats)
            took, found = best(lambda measure=measure, pair=pair: measure(pair), options.repeats)
            expected = expected or found
            assert all(abs(found[name] - value) <= 1e-9 * abs(value) for name, value in expected.items()), engine
            row = [HEADS.get(engine, "Spark, `local[2]`"), f"{took:.2f} s", f"{alone:.2f} s", f"{took / alone:.2f}"]
            rows.append(row)
            print("  ".join(row), flush=True)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB")
    if options.record:
        record("coarser", options.record, [row for row in rows if "Spark" not in row[0]])


if __name__ == "__main__":
    main()
