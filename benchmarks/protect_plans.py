"""A recipe on every engine beside a copy of the file by the same engine, and the release that it gives in memory.

    python benchmarks/protect_plans.py [--n 1e6] [--engines memory,polars,duckdb,spark] [--repeats 3] [--memory 1GB]
                                       [--data census-{n}.parquet] [--steps cells] [--record MACHINE]

Each engine runs in a process of its own on one Parquet file. The recipe leaves the household out, puts ages in bands,
rounds weights, and takes values of the seven keys out (k = 3, 1 % missing in each); the engine writes the release.
`--steps pram`, `households`, `numbers`, `synthesis` (two columns given six others), `synthesis-whole` (all ten columns
that are left) take steps that treat every record by itself instead. A copy of the file runs before every release; times
are medians. Processor seconds are those of the process and of all it started, the JVM and the workers of Spark among
them. The releases hold the same records as that of memory.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

import sdckit as sdc
from census import KEYS, census
from record import add_option, record
from scale import HEADS, Frame, opened, write

STEPS: list[dict[str, Any]] = [
    {"method": "drop_identifiers", "columns": ["hid"]},
    {"method": "recode", "column": "age", "bands": [0, 15, 30, 45, 60, 75, None]},
    {"method": "round_to", "column": "w", "base": 5},
    {"method": "local_suppression", "keys": KEYS, "k": 3},
]
BY_RECORD: dict[str, list[dict[str, Any]]] = {
    "cells": STEPS,
    "pram": [{"method": "pram", "columns": ["marital", "region"], "strata": ["sex"]}],
    "households": [
        {"method": "local_suppression", "keys": KEYS[:5], "k": 3, "household": "hid",
         "household_variables": ["region"]},
    ],
    "numbers": [
        {"method": "round_to", "column": "w", "base": 5, "how": "random"},
        {"method": "coarsen_weights", "weight": "w", "hide": ["region"]},
    ],
    "synthesis": [
        {"method": "drop_identifiers", "columns": ["hid", "cob", "hhsize", "tenure"]},
        {"method": "synthesize", "columns": ["age", "marital"]},
    ],
    "synthesis-whole": [
        {"method": "drop_identifiers", "columns": ["hid", "w"]},
        {"method": "synthesize"},
    ],
}  # fmt: skip
TABLES = {"cells": "protect_plans", "synthesis-whole": "synthesis_plans"}  # where rows are kept
TICKS = os.sysconf("SC_CLK_TCK")


def processor() -> float:
    """Processor seconds of this process and of all it started and that are still there or were waited for."""
    found: dict[int, tuple[int, float]] = {}
    for one in Path("/proc").glob("[0-9]*"):
        try:
            fields = (one / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        found[int(one.name)] = int(fields[1]), sum(map(int, fields[11:15])) / TICKS
    ours, before = {os.getpid()}, 0
    while len(ours) > before:
        before = len(ours)
        ours |= {pid for pid, (parent, _) in found.items() if parent in ours}
    return sum(found[pid][1] for pid in ours if pid in found)


def release(frame: Frame, out: str, steps: str) -> int:
    """The release of a file, written; the values that the last step changed."""
    applied = sdc.Recipe(BY_RECORD[steps]).apply(frame, secret="00" * 16, watch=False)
    sdc.write_file(applied.data, out)
    return applied.log.steps[-1].n_changed


def timed(run: Callable[[], Any]) -> tuple[float, float, Any]:
    """Seconds on the clock and of the processor, and what was found."""
    start, used = time.perf_counter(), processor()
    found = run()
    return time.perf_counter() - start, processor() - used, found


def one_engine(engine: str, path: Path, repeats: int, memory: str, kept: str, steps: str) -> None:
    """Time an engine, keep its release, and print what was found as JSON."""
    warnings.simplefilter("ignore")
    told: dict[str, Any] = {"copy": [], "release": [], "lost": 0}
    sdc.Recipe(BY_RECORD[steps]).apply(census(2000), watch=False)  # compiled
    with tempfile.TemporaryDirectory(prefix=".protect-", dir=path.parent) as folder:
        for number in range(repeats):
            frame, copy = opened(engine, path, memory), f"{folder}/copy{number}.parquet"
            told["copy"].append(timed(lambda one=frame, out=copy: write(engine, one, out))[:2])
            frame, out = opened(engine, path, memory), f"{folder}/out{number}.parquet"
            *took, told["lost"] = timed(lambda one=frame, out=out: release(one, out, steps))
            told["release"].append(took)
        shutil.move(out, kept)
    told["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps(told))


def records(place: Path) -> pl.DataFrame:
    """The records of a release in an order of their own."""
    found = pl.read_parquet(place / "*.parquet" if place.is_dir() else place)
    whole = found.with_columns(pl.col(pl.Enum).cast(pl.String)).select(sorted(found.columns))
    return whole.with_columns(pl.selectors.integer().cast(pl.Int64)).sort(whole.columns)


def row(n: int, engine: str, told: dict[str, Any]) -> list[str]:
    """A row of the table."""
    (copy, of_copy), (took, used) = (
        [statistics.median(one[i] for one in told[name]) for i in (0, 1)] for name in ("copy", "release")
    )
    return [
        f"{n / 1e6:g} M", HEADS[engine], f"{copy:.2f} s", f"{took:.1f} s = {took / copy:.1f} ×",
        f"{of_copy:.1f} s", f"{used:.1f} s = {used / of_copy:.1f} ×", f"{told['lost']:,}", f"{told['peak']:.1f} GB",
    ]  # fmt: skip


def main() -> None:
    """Run every engine at every size asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", default="1e6", help="sizes, with commas between them")
    parser.add_argument("--engines", default="memory,polars,duckdb,spark")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--memory", default="1GB", help="what DuckDB may take")
    parser.add_argument("--data", default="")
    parser.add_argument("--steps", default="cells", choices=list(BY_RECORD))
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--kept", default="", help=argparse.SUPPRESS)
    add_option(parser)
    options = parser.parse_args()
    if options.record and options.steps not in TABLES:
        parser.error(f"--record keeps the rows of {', '.join(TABLES)}")
    if options.one:
        one_engine(options.one, Path(options.data), options.repeats, options.memory, options.kept, options.steps)
        return
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory() as folder:
        for n in [int(float(size)) for size in options.n.split(",")]:
            path = Path(options.data.format(n=n)) if options.data else Path(folder) / f"census-{n}.parquet"
            if not path.exists():
                census(n).write_parquet(path)
            expected: pl.DataFrame | None = None
            for engine in options.engines.split(","):
                kept = Path(folder) / f"{engine}-{n}.parquet"
                command = [sys.executable, __file__, "--one", engine, "--data", str(path), "--kept", str(kept)]
                command += ["--repeats", str(options.repeats), "--memory", options.memory]
                command += ["--steps", options.steps]
                env = {"PYSPARK_PYTHON": sys.executable} | os.environ
                done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=env)
                found = records(kept)
                expected = found if expected is None else expected
                assert found.equals(expected), f"{engine}: another release"
                rows.append(row(n, engine, json.loads(done.stdout.splitlines()[-1])))
                print("  ".join(rows[-1]), flush=True)
    if options.record:
        record(TABLES[options.steps], options.record, rows)


if __name__ == "__main__":
    main()
