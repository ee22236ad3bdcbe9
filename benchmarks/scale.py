"""The main measures on every engine beside the engine's own grouping, with the figures of memory.

    python benchmarks/scale.py [--n 1e6] [--engines memory,polars,duckdb,spark] [--repeats 3] [--memory 1GB]
                               [--data census-{n}.parquet] [--record MACHINE]

Each engine runs in a process of its own on one Parquet file; the bare grouping counts records and sums weights by the
same seven keys (1 % missing in each), and runs before every measure. Times are medians; figures are checked equal to
those in memory. Peak memory is that of the process, without the JVM of Spark. Workers of Spark get the Python named by
PYSPARK_PYTHON.
"""

from __future__ import annotations

import json
import math
import resource
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

import sdckit as sdc
from census import KEYS
from each_engine import compare_engines, options_of

CALL: dict[str, Any] = {"keys": KEYS, "weight": "w"}
HEADS = {"memory": "in memory", "polars": "Polars lazy", "duckdb": "DuckDB", "spark": "Spark, `local[2]`"}
Frame = Any


def opened(engine: str, path: Path, memory: str) -> Frame:
    """The file as a frame of an engine."""
    if engine == "memory":
        return pl.read_parquet(path)
    if engine == "polars":
        return pl.scan_parquet(path)
    if engine == "duckdb":
        import duckdb

        connection = duckdb.connect()
        connection.execute(f"set memory_limit = '{memory}'")
        return connection.sql(f"select * from read_parquet('{path}')")
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "4g")
        .config("spark.driver.maxResultSize", "4g")
        .config("spark.sql.shuffle.partitions", "8")
        .config("spark.log.level", "OFF")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    return session.read.parquet(str(path))


def grouped(engine: str, frame: Frame) -> float:
    """Group by the keys, and give the sum of what was summed: nothing of the groups leaves the engine."""
    if engine in {"memory", "polars"}:
        cells = frame.lazy().group_by(KEYS).agg(pl.len(), pl.col("w").sum())
        return float(cells.select(pl.col("w").sum()).collect(engine="streaming").item())
    if engine == "duckdb":
        inner = f"select {', '.join(KEYS)}, count(*) as n, sum(w) as s from census group by all"
        return float(frame.query("census", f"select sum(s) from ({inner})").fetchall()[0][0])
    from pyspark.sql import functions

    cells = frame.groupBy(*KEYS).agg(functions.count("*").alias("n"), functions.sum("w").alias("s"))
    return float(cells.agg(functions.sum("s")).collect()[0][0])


def figures(result: Any) -> list[float]:
    """The figures of a result, in the order of their names."""
    table = result.details()
    plain = table if isinstance(table, pl.DataFrame) else pl.DataFrame(table)
    return [float(one) for one in plain.sort(plain.columns[0])[plain.columns[-1]].to_list()]


MEASURES: dict[str, Callable[[Frame], Any]] = {
    "`k_anonymity`": lambda frame: sdc.k_anonymity(frame, keys=KEYS),
    "`individual_risk`": lambda frame: sdc.individual_risk(frame, **CALL),
    "`l_diversity`": lambda frame: sdc.l_diversity(frame, keys=KEYS, sensitive="tenure"),
    "`individual_risk` with households": lambda frame: sdc.individual_risk(frame, household="hid", **CALL),
}


def write_records(engine: str, frame: Frame, result: Any, out: str) -> None:
    """The file with the risk of each record, written by its engine."""
    records = result.records
    write(engine, pl.concat([frame, records], how="horizontal") if engine == "memory" else records, out)


def write(engine: str, frame: Frame, out: str) -> None:
    """Write a frame as Parquet."""
    if engine == "memory":
        frame.write_parquet(out)
    elif engine == "polars":
        frame.sink_parquet(out)
    elif engine == "duckdb":
        frame.write_parquet(out)
    else:
        frame.write.mode("overwrite").parquet(out)


def one_engine(engine: str, path: Path, repeats: int, memory: str) -> None:
    """Time an engine, and print what was found as JSON."""
    warnings.simplefilter("ignore")
    frame = opened(engine, path, memory)
    told: dict[str, Any] = {"seconds": {}, "bare": [], "figures": {}}

    def timed(run: Callable[[], Any]) -> tuple[float, Any]:
        start = time.perf_counter()
        found = run()
        return time.perf_counter() - start, found

    grouped(engine, frame)
    for name, measure in MEASURES.items():
        found = measure(frame)  # compiled, and the engine warm
        told["figures"][name] = figures(found)
        told["seconds"][name] = []
        for _ in range(repeats):
            told["bare"].append(timed(lambda: grouped(engine, frame))[0])
            told["seconds"][name].append(timed(lambda one=measure: figures(one(frame)))[0])
    told["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    with tempfile.TemporaryDirectory(prefix=".scale-", dir=path.parent) as folder:
        copy, out = f"{folder}/copy.parquet", f"{folder}/out.parquet"
        took: dict[str, list[float]] = {"copy": [], "risk": [], "records": []}
        for _ in range(repeats):
            took["copy"].append(timed(lambda: write(engine, frame, copy))[0])
            seconds, result = timed(lambda: sdc.individual_risk(frame, **CALL))
            took["risk"].append(seconds)
            took["records"].append(timed(lambda one=result: write_records(engine, frame, one, out))[0])
        told |= {name: statistics.median(seconds) for name, seconds in took.items()}
    print(json.dumps(told))


def compared(n: int, found: dict[str, Any]) -> list[list[str]]:
    """Print what each engine took, its figures checked, and give the rows of the table."""
    rows, expected = [], found.get("memory", {}).get("figures", {})
    for engine, told in found.items():
        bare = statistics.median(told["bare"])
        row = [f"{n / 1e6:g} M", HEADS[engine], f"{bare:.2f} s"]
        for name, seconds in told["seconds"].items():
            for a, b in zip(expected.get(name, told["figures"][name]), told["figures"][name], strict=True):
                assert math.isclose(a, b, rel_tol=1e-9) or (math.isnan(a) and math.isnan(b)), (engine, name)
            took = statistics.median(seconds)
            row.append(f"{took:.2f} s = {took / bare:.1f} ×")
        whole = (told["records"] + told["risk"]) / told["copy"]
        row.append(f"{told['records']:.1f} s = {told['records'] / told['copy']:.1f} ×, with the measure {whole:.1f} ×")
        row.append(f"{told['peak']:.1f} GB")
        print("  ".join(row), flush=True)
        rows.append(row)
    return rows


def main() -> None:
    """Run every engine at every size asked."""
    options = options_of(__doc__, n="1e6", repeats=3)
    compare_engines("scale", __file__, options, one_engine, compared)


if __name__ == "__main__":
    main()
