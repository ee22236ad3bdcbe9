"""Utility of a release on an engine beside its original: time and memory beside a bare grouping of both files.

python benchmarks/scale_release_utility.py [RECORDS] [duckdb,polars,spark] [--memory-too] [--sums]

Seven keys with 1 % missing, three sensitive variables, two amounts and weights. Bare: both files grouped by the seven
keys on the same engine, counts and sums of weights, in the same run. Every figure is compared with that of memory where
`--memory-too` is given. `--sums`: losses, estimates, propensity and models instead of tables.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl

import sdckit as sdc
from sdckit.cells.pair import open_files
from sdckit.utility.weighted_totals import moved_figures

LEVELS = {"region": 20, "sex": 2, "age": 90, "job": 40, "size": 8, "status": 5, "school": 6}
SENSITIVE = {"ill": 12, "aid": 4, "debt": 9}
AMOUNTS = ["income", "rent"]
MODELS: dict[str, dict[str, Any]] = {
    "linear": {"formula": "age ~ C(sex) + C(status) + school + size", "weight": "w"},
    "linear, amounts": {"formula": "income ~ age + C(sex) + C(status) + school"},
    "logistic": {"formula": "sex ~ C(status) + school + age", "family": "logistic", "weight": "w"},
}


def census(n: int, seed: int) -> pl.DataFrame:
    """A generated file of people."""
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {}
    for name, k in {**LEVELS, **SENSITIVE}.items():
        values = np.minimum((rng.random(n) ** 1.5 * k).astype(np.int32), k - 1)
        columns[name] = pl.Series(name, values)
        if name in LEVELS:
            columns[name] = columns[name].set(pl.Series(rng.random(n) < 0.01), None)
    columns["income"] = np.round(np.exp(rng.normal(7.5, 0.7, n)), 0)
    columns["rent"] = np.round(columns["income"] * rng.uniform(0.1, 0.5, n), 0)
    columns["w"] = rng.uniform(1, 30, n)
    return pl.DataFrame(columns).with_row_index("pid").sample(fraction=1.0, shuffle=True, seed=seed)


@cache
def connection() -> Any:
    """DuckDB's: what is on one can be joined."""
    import duckdb

    return duckdb.connect(config={"memory_limit": "2GB"})


def opened(path: Path, engine: str) -> Any:
    """A file as a plan."""
    if engine == "polars":
        return pl.scan_parquet(path)
    if engine == "duckdb":
        return connection().read_parquet(str(path))
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = session.config("spark.sql.shuffle.partitions", "2").config("spark.driver.memory", "2g")
    return session.config("spark.log.level", "OFF").getOrCreate().read.parquet(str(path))


def grouped(plan: Any) -> None:
    """The bare grouping of one file."""
    frame: Any = nw.from_native(plan)
    table = frame.group_by(*LEVELS).agg(nw.len().alias("n"), nw.col("w").sum())
    table.collect("pyarrow") if engine_of(frame) != "polars" else table.to_native().collect(engine="streaming")


def engine_of(frame: Any) -> str:
    """The engine of a plan."""
    return "polars" if frame.implementation.is_polars() else "other"


def calls(files: tuple[Any, Any]) -> dict[str, Any]:
    """What is measured: by name the call, of files that are opened once."""
    if "--sums" in sys.argv:
        return sums(files)
    pair = open_files(*files, id="pid")
    variables = [*LEVELS, *SENSITIVE, *AMOUNTS]
    both: dict[str, Any] = {"variables": variables, "numeric": [*AMOUNTS, "age"]}
    totals: dict[str, Any] = {"weight": "w", "numeric": AMOUNTS, "keys": [*LEVELS]}
    return {
        "tabular_utility": lambda: sdc.tabular_utility(pair, **both),
        "compare_distributions": lambda: sdc.compare_distributions(pair, **both),
        "compare_associations": lambda: sdc.compare_associations(pair, **both),
        "ecdf_utility": lambda: sdc.ecdf_utility(pair, variables=AMOUNTS, joint=False),
        "weighted totals": lambda: moved_figures(pair, **totals),
    }


def sums(files: tuple[Any, Any]) -> dict[str, Any]:
    """The same of losses, estimates and propensity."""
    pair = open_files(*files, id="pid")
    loss: dict[str, Any] = {"numeric": AMOUNTS, "categorical": [*SENSITIVE], "ordered": ["age"], "robust": False}
    estimates = {"mean": AMOUNTS, "total": AMOUNTS, "quantile": AMOUNTS, "proportion": ["sex", "status"]}
    return {
        "information_loss": lambda: sdc.information_loss(pair, **loss),
        **{
            f"{statistic}, weighted": lambda statistic=statistic, names=names: sdc.compare_estimates(
                pair, statistic=statistic, variables=names, weight="w"
            )
            for statistic, names in estimates.items()
        },
        "propensity": lambda: sdc.propensity(pair, variables=[*LEVELS], numeric=[]),
        **{
            f"{name} model": lambda options=options: sdc.compare_models(pair, **options)
            for name, options in MODELS.items()
        },
    }


def timed(run: Any, engine: str) -> tuple[float, Any]:
    """Seconds of the processor, by the clock where the engine is another process, and what came."""
    clock = time.perf_counter if engine == "spark" else time.process_time
    start = clock()
    found = run()
    return clock() - start, found


def figures(found: Any) -> list[float]:
    """All figures of a result, or of weighted totals."""
    if isinstance(found, tuple):
        return [value for figure in found for value in (figure.change, figure.largest)]
    own = [value for release in found.per_release for value in release.values()]
    own += [value for name, values in getattr(found, "columns", {}).items() if name != "term" for value in values]
    return own + [value for matrix in getattr(found, "matrices", {}).values() for value in matrix.ravel().tolist()]


def furthest(found: Any, expected: Any) -> float:
    """The largest difference between figures, relative to those of memory or to 1."""
    here, there = np.array(figures(expected)), np.array(figures(found))
    assert here.shape == there.shape
    assert (np.isnan(here) == np.isnan(there)).all()
    return float(np.nanmax(np.abs(here - there) / np.maximum(1e-3, np.abs(here))))


def main() -> None:
    """Measure every engine that is asked for."""
    warnings.simplefilter("ignore")
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    n = int(float(words[0])) if words else 1_000_000
    engines = (words[1] if len(words) > 1 else "duckdb,polars,spark").split(",")
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for seed in (1, 2):
            paths.append(Path(folder) / f"{seed}.parquet")
            census(n, seed).write_parquet(paths[-1], row_group_size=250_000)
        expected = {}
        if "--memory-too" in sys.argv:
            here = pl.read_parquet(paths[0]), pl.read_parquet(paths[1])
            for name, call in calls(here).items():
                seconds, expected[name] = timed(call, "memory")
                print(f"memory    {name:24} {seconds:7.2f} s", flush=True)
        for engine in engines:
            files = opened(paths[0], engine), opened(paths[1], engine)
            for _ in range(2):  # the first starts the engine
                bare = sum(timed(lambda plan=plan: grouped(plan), engine)[0] for plan in files)
            print(f"{engine:9} {'bare':24} {bare:7.2f} s", flush=True)
            whole = 0.0
            for name, call in calls(files).items():
                seconds, found = timed(call, engine)
                whole += seconds
                apart = f"  {furthest(found, expected[name]):.1e} apart" if name in expected else ""
                print(f"{engine:9} {name:24} {seconds:7.2f} s  {seconds / bare:5.1f} x{apart}", flush=True)
            most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
            print(
                f"{engine:9} {'together':24} {whole:7.2f} s  {whole / bare:5.1f} x  {most:.1f} GB at most", flush=True
            )


if __name__ == "__main__":
    main()
