"""Frequencies and risk per record against Polars and DuckDB, wildcards, and the whole command line.

    python benchmarks/frequencies.py [--sizes 100000,1000000,10000000] [--repeats 5] [--data census-{n}.parquet]
                                     [--record MACHINE]

Every ratio is of medians over interleaved runs in this process; values are checked equal first. ``--data``
takes files with the columns of ``census.py`` instead of making them; {n} stands for the size.
"""

from __future__ import annotations

import argparse
import itertools
import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl

import sdckit as sdc
from census import KEYS, census
from record import add_option, record

MEASURE = """
import resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""

Run = Callable[[], Any]
Rows = dict[str, list[list[str]]]  # by the table of results.toml


def ours(frame: pl.DataFrame, **rule: Any) -> Any:
    """f, F and risk of every record, as a frame."""
    return sdc.individual_risk(frame, keys=KEYS, weight="w", **rule).records


def polars_over(frame: pl.DataFrame) -> pl.DataFrame:
    """F and F of every record by Polars' window."""
    return frame.select(pl.len().over(KEYS).alias("f"), pl.col("w").sum().over(KEYS).alias("F"))


def duckdb_window(frame: pl.DataFrame) -> Any:
    """F and F of every record by DuckDB's window, to Arrow."""
    keys = ", ".join(KEYS)
    connection = duckdb.connect()
    connection.register("people", frame.to_arrow())
    query = f"select count(*) over w as f, sum(w) over w as total from people window w as (partition by {keys})"
    return connection.sql(query).to_arrow_table()


def interleaved(runs: dict[str, Run], repeats: int) -> dict[str, float]:
    """Median seconds of each, run in turn after one warm-up."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for round_number in range(repeats + 1):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            if round_number:
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(found) for name, found in times.items()}


def check_equal(frame: pl.DataFrame) -> None:
    """Ours and Polars' agree on every record."""
    left, right = ours(frame, missing="category"), polars_over(frame)
    assert (left["sample_frequency"] == right["f"]).all()
    np.testing.assert_allclose(left["population_frequency"].to_numpy(), right["F"].to_numpy(), rtol=1e-12)


def kinds(frame: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The same keys as integers, categories and text."""
    text = frame.with_columns((pl.lit("level ") + pl.col(key).cast(pl.String)).alias(key) for key in KEYS)
    enum = text.with_columns(pl.col(key).cast(pl.Enum(text[key].drop_nulls().unique().sort())) for key in KEYS)
    category = text.with_columns(pl.col(key).cast(pl.Categorical) for key in KEYS)
    return {"integer": frame, "enum": enum, "categorical": category, "text": text}


def kept(rows: Rows, n: int, name: str, peer: str, found: dict[str, float]) -> None:
    """Add a comparison to the rows of its table, as it is printed."""
    case, kind = name.split(", ")
    size = f"{n / 1e6:g} M, {case}"
    seconds = [f"{found[one]:.{3 if n < 10_000_000 else 2}f} s" for one in ("sdckit", peer)]
    ratio = f"{found[peer] / found['sdckit']:.1f}"
    if peer == "polars":
        rows["frequencies"].append([size, kind, *seconds, ratio])
    else:
        rows["frequencies-duckdb"].append([size, *seconds, ratio])


def tables(n: int, frame: pl.DataFrame, repeats: int, rows: Rows) -> tuple[float, float]:
    """Print the comparison at one size and keep its rows; seconds of the complete case and with wildcards."""
    complete = frame.with_columns(pl.col(KEYS).fill_null(0))
    variants = {f"complete, {kind}": data for kind, data in kinds(complete).items()}
    if n <= 1_000_000:
        variants |= {f"1 % missing, {kind}": data for kind, data in kinds(frame).items()}
    else:
        variants = {"complete, integer": complete, "1 % missing, integer": frame}
    for name, data in variants.items():
        check_equal(data)
        mine: Run = lambda d=data: ours(d, missing="category")  # noqa: E731
        peers: dict[str, Run] = {"polars": lambda d=data: polars_over(d)}
        if "integer" in name:
            peers["duckdb"] = lambda d=data: duckdb_window(d)
        told = []
        for peer, run in peers.items():  # in pairs: one peer's clean-up must not fall into another's time
            found = interleaved({"sdckit": mine, peer: run}, repeats)
            kept(rows, n, name, peer, found)
            ratio = found[peer] / found["sdckit"]
            told.append(f"{found['sdckit']:.4f} s, {peer} {found[peer]:.4f} s ({ratio:.2f} x as fast)")
        print(f"{n:>10,}  {name:<24} sdckit {'; sdckit '.join(told)}", flush=True)
    found = interleaved({"complete": lambda: ours(complete), "wildcards": lambda: ours(frame)}, repeats)
    ratio = found["wildcards"] / found["complete"]
    print(
        f"{n:>10,}  wildcards, 1 % missing   {found['wildcards']:.4f} s = {ratio:.2f} x the complete case", flush=True
    )
    return found["complete"], found["wildcards"]


def whole_process(arguments: list[str]) -> tuple[float, float]:
    """Seconds and peak gigabytes of a command.

    Started by a small process in between: a child of this large one would be charged with its memory.
    """
    done = subprocess.run([sys.executable, "-c", MEASURE, *arguments], capture_output=True, text=True, check=True)
    took, kilobytes = done.stdout.split()
    return float(took), float(kilobytes) / 1e6


def command_line(path: Path, repeats: int) -> None:
    """The whole command against scanning the file and one Polars group-by, as whole processes."""
    with tempfile.TemporaryDirectory() as folder:
        report = str(Path(folder) / "report.html")
        program = str(Path(sys.executable).with_name("sdckit"))
        command = [program, "assess", str(path), "--keys", ",".join(KEYS), "--weight", "w", "--household", "hid",
                   "--k", "3", "--report", report, "--quiet"]  # fmt: skip
        scan = (
            "import polars as pl; "
            f"pl.scan_parquet({str(path)!r}).group_by({KEYS!r}).agg(pl.len(), pl.col('w').sum()).collect()"
        )
        runs: dict[str, list[str]] = {"sdckit assess": command, "scan and group": [sys.executable, "-c", scan]}
        seconds: dict[str, list[float]] = {name: [] for name in runs}
        peak: dict[str, float] = dict.fromkeys(runs, 0.0)
        for round_number in range(repeats + 1):
            for name, arguments in runs.items():
                took, memory = whole_process(arguments)
                if round_number:
                    seconds[name].append(took)
                    peak[name] = max(peak[name], memory)
    medians = {name: statistics.median(found) for name, found in seconds.items()}
    for name in runs:
        print(f"{'':>10}  {name:<24} {medians[name]:.2f} s, peak {peak[name]:.2f} GB")
    print(f"{'':>10}  ratio                    {medians['sdckit assess'] / medians['scan and group']:.2f}")


def main() -> None:
    """Run at every size asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="100000,1000000,10000000")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--data", default="")
    add_option(parser)
    options = parser.parse_args()
    rows: Rows = {"frequencies": [], "frequencies-duckdb": []}
    wild: dict[int, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for n in [int(float(size)) for size in options.sizes.split(",")]:
            path = Path(options.data.format(n=n)) if options.data else Path(folder) / f"census-{n}.parquet"
            if not options.data:
                census(n).write_parquet(path)
            frame = pl.read_parquet(path, columns=[*KEYS, "w"])
            _, wild[n] = tables(n, frame, options.repeats, rows)
            del frame
            command_line(path, options.repeats)
    sizes = sorted(wild)
    for small, large in itertools.pairwise(sizes):
        exponent = math.log(wild[large] / wild[small]) / math.log(large / small)
        print(f"growth exponent of wildcards from {small:,} to {large:,}: {exponent:.2f}")
    if options.record:
        for name, found in rows.items():
            record(name, options.record, found)


if __name__ == "__main__":
    main()
