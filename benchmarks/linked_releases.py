"""Columns that link two releases only together: processor seconds of finding them, and of all that is judged.

    python benchmarks/linked_releases.py [--records 1000000] [--others]
    python benchmarks/linked_releases.py --engines memory,polars,duckdb,spark [--records 1000000] [--memory 4GB]

Two waves of the same people by twelve columns, none of which tells people apart and eight of which change with some of
them; with --others the second wave is about other people of the same population. Printed are the columns, the people
linked, how many of these links are right by estimate and in truth, and processor seconds: of the search, and of
`differencing` with it.

With --engines six of the columns (two of them texts) lie in Parquet files of both waves, and every engine opens them in
a process of its own, after ten thousand records for a start: processor seconds of `differencing` with the earlier file,
with Java and the workers of Spark, beside those of memory; the peak of memory of the process; whether figures are those
of memory; and what was left open.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq

import sdckit as sdc
from scale import opened
from sdckit.attacks.differencing.several_columns import link_by_several

CHANGING = {"school": 0.02, "job": 0.1, "children": 0.1, "status": 0.1, "income": 0.9, "size": 0.2, "health": 0.5,
            "month": 1.0}  # fmt: skip


def people(n: int, seed: int) -> pl.DataFrame:
    """A sample of one population of persons, whose columns depend on each other."""
    rng = np.random.default_rng([20261126, n, seed])
    birth = (1940 + rng.beta(2, 2, n) * 65).astype(int)
    school = np.clip((rng.normal(3, 1.5, n) + (birth - 1970) / 30).astype(int), 0, 7)
    children = rng.poisson(np.where(birth > 1995, 0.2, 1.8))
    job = np.where(birth < 1952, 71, np.clip(school * 8 + rng.geometric(0.15, n), 0, 70))
    status = np.where(rng.random(n) < 0.6, children > 0, rng.integers(0, 4, n))
    return pl.DataFrame({
        "region": rng.choice(16, n, p=np.arange(1, 17) / 136), "birth": birth, "sex": rng.integers(0, 2, n),
        "school": school, "job": job, "children": children, "status": status,
        "nation": rng.choice(30, n, p=[0.8, *[0.2 / 29] * 29]),
        "income": (np.exp(rng.normal(7 + school * 0.1, 0.6, n)) // 50).astype(int),
        "size": np.clip(children + 1 + (status == 1), 1, 8), "health": rng.integers(0, 5, n),
        "month": rng.integers(0, 12, n),
    })  # fmt: skip


SIX = ["region", "birth", "sex", "school", "job", "income"]
CHUNK = 1_000_000  # records that are made at a time


def write_waves(n: int, folder: Path) -> None:
    """Two waves by six columns, the second in another order, region and job as texts."""
    for start in range(0, n, CHUNK):
        size = min(CHUNK, n - start)
        made = waves(size, others=False, seed=start)[:2]
        for name, wave in zip(("first", "second"), made, strict=True):
            table = wave.select(SIX).with_columns(pl.format("{} area", "region"), pl.format("job {}", "job")).to_arrow()
            if start == 0:
                (folder / name).mkdir()
            pq.write_table(table, folder / name / f"{start:010}.parquet")


def seconds() -> float:
    """Processor seconds of this process and of those that it started and waited for."""
    of = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in of)


def of_java() -> float:
    """Processor seconds of the processes below this one that run still, as those of Spark."""
    ticks, total, parents = os.sysconf("SC_CLK_TCK"), 0.0, {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        fields = place.read_text().rpartition(")")[2].split()
        parents[int(place.parent.name)] = (int(fields[1]), sum(map(int, fields[11:15])) / ticks)
    below = {os.getpid()}
    for _ in range(5):
        below |= {pid for pid, (parent, _) in parents.items() if parent in below}
    for pid in below - {os.getpid()}:
        total += parents.get(pid, (0, 0.0))[1]
    return total


def on_one_engine(engine: str, folder: Path, memory: str) -> None:
    """Compare the waves, opened by an engine, and print what it took as JSON."""
    how: dict[str, Any] = {"keys": ["region", "birth", "sex"], "sensitive": ["job"]}
    if engine == "duckdb":
        first: Any = sdc.scan_file(folder / "first", engine="duckdb", memory=memory)
        second = sdc.scan_file(folder / "second", engine="duckdb", beside=first)
        few = [file.limit(10_000) for file in (second, first)]
    else:
        first, second = (opened(engine, folder / name / "*.parquet", memory) for name in ("first", "second"))
        few = [file.limit(10_000) if engine == "spark" else file.head(10_000) for file in (second, first)]
    sdc.differencing(few[0], earlier=few[1], **how)
    start = seconds() + of_java()
    found = sdc.differencing(second, earlier=first, **how)
    took = seconds() + of_java() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    told = found.to_dict()
    print(json.dumps({"seconds": took, "peak": peak, "told": told, "open": found.notes.get("linked", "")}))


def on_engines(engines: list[str], n: int, memory: str) -> None:
    """Each engine in a process of its own."""
    with tempfile.TemporaryDirectory() as made:
        folder, known = Path(made), {}
        write_waves(n, folder)
        for engine in engines:
            command = [sys.executable, __file__, "--one", engine, "--files", str(folder), "--memory", memory]
            env = {"PYSPARK_PYTHON": sys.executable} | os.environ
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=env)
            known[engine] = json.loads(done.stdout.splitlines()[-1])
            told, first = known[engine], known[engines[0]]
            equal = "" if engine == engines[0] else f"; figures equal: {told['told'] == first['told']}"
            print(f"{engine}: {told['seconds']:.1f} s = {told['seconds'] / first['seconds']:.2f} × {engines[0]}, "
                  f"{told['peak']:.2f} GB at most; {told['told']['figures']['linked']:,} linked{equal}; "
                  f"{told['open'].rpartition('; ')[2]}", flush=True)  # fmt: skip


def waves(n: int, *, others: bool, seed: int = 0) -> tuple[pl.DataFrame, pl.DataFrame, np.ndarray[Any, Any]]:
    """Two waves, and which person of the first each one of the second is."""
    rng = np.random.default_rng(1 + seed)
    first, drawn = people(n, 1 + seed), people(n, 2 + seed)
    who = rng.permutation(n)
    kept = first.with_columns(
        pl.when(pl.Series(rng.random(n) < share)).then(drawn[name]).otherwise(name).alias(name)
        for name, share in CHANGING.items()
    )
    return first, drawn if others else kept[who], who


def main() -> None:
    """Make two waves, link them, and print what that took."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--others", action="store_true")
    parser.add_argument("--engines", help="of memory,polars,duckdb,spark, the first is what others are compared with")
    parser.add_argument("--memory", default="4GB", help="what DuckDB and its process may take")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--files", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        on_one_engine(given.one, given.files, given.memory)
        return
    if given.engines:
        on_engines(given.engines.split(","), given.records, given.memory)
        return
    n = given.records
    first, second, who = waves(n, others=given.others)
    codes = [[file[name].to_numpy().astype(np.int64) + 1 for name in file.columns] for file in (second, first)]
    start = time.process_time()
    found, _ = link_by_several(*codes)
    searched = time.process_time() - start
    if found is None:
        print(f"{n:,} records × {len(first.columns)}: nobody linked; search {searched:.1f} s")
    else:
        columns = ", ".join(first.columns[at] for at in found.columns)
        true = (who[found.here] == found.there).mean()
        print(f"{n:,} records × {len(first.columns)}: {len(found.here):,} linked by {columns}; right {found.right:.3f} "
              f"by estimate, {true:.3f} in truth; search {searched:.1f} s")  # fmt: skip
    start = time.process_time()
    sdc.differencing(second, earlier=first, keys=["region", "birth", "sex"], sensitive=["job"])
    print(f"differencing with it {time.process_time() - start:.1f} s")


if __name__ == "__main__":
    main()
