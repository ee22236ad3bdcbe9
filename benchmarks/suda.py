"""Special uniques against the Java program SUDA2 and against one Polars group-by on the same keys.

    python benchmarks/suda.py [--peer FOLDER] [--rounds 3] [--data census-{n}.parquet] [--rows 1,2]

The peer's folder holds suda2-0.0.1.jar, hppc-0.6.0.jar and Drv.java, which is compiled to a temporary folder; without
it only our own times are printed. Every round runs each program once in turn (Java several times within its process,
so that it is warm). Ours is the median, Java's is its best time; its numbers of minimal uniques by size must be ours.
A missing value is a category here, for both. ``--data`` takes files with the columns of ``census.py``.
"""

from __future__ import annotations

import argparse
import itertools
import math
import re
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

import sdckit as sdc
from census import KEYS_ALL, census

JARS = ("suda2-0.0.1.jar", "hppc-0.6.0.jar")
MISSING = 255  # the code of a missing value in Java's file


@dataclass(frozen=True)
class Row:
    """One comparison: records, keys, largest subset (0 is all), how often Java runs in a round."""

    n: int
    n_keys: int
    max_size: int
    java: int

    @property
    def keys(self) -> list[str]:
        """Names of the keys."""
        return KEYS_ALL[: self.n_keys]

    @property
    def name(self) -> str:
        """What is printed in front."""
        return f"{self.n:>10,} x {self.n_keys:>2}  {f'size <= {self.max_size}' if self.max_size else 'all sizes'}"


ROWS = (
    Row(100_000, 8, 0, 4), Row(1_000_000, 8, 0, 1), Row(100_000, 8, 3, 6), Row(1_000_000, 8, 3, 3),
    Row(10_000, 10, 0, 8), Row(100_000, 10, 0, 2),
)  # fmt: skip
LARGE = Row(10_000_000, 8, 3, 0)


class Java:
    """The peer, compiled once."""

    def __init__(self, folder: Path, out: Path, heap: str) -> None:
        jars = [str(folder / jar) for jar in JARS]
        subprocess.run(["javac", "-cp", jars[0], "-d", str(out), str(folder / "Drv.java")], check=True)
        self.command = ["java", f"-Xmx{heap}", "-cp", ":".join([*jars, str(out)]), "Drv"]

    def run(self, path: Path, row: Row) -> tuple[float, dict[int, int]]:
        """Best time of a round, and the number of minimal uniques by size."""
        command = [*self.command, str(path), str(row.max_size), str(row.java)]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        times, counts = re.search(r"s=\[(.*?)\]", said), re.search(r"dist=\[(.*?)\]", said)
        assert times is not None
        assert counts is not None
        best = min(map(float, times[1].split()))
        return best, {size: int(n) for size, n in enumerate(counts[1].split(","), 1)}


def ours(frame: pl.DataFrame, row: Row) -> sdc.Suda:
    """All figures and the scores of all records."""
    result = sdc.suda(frame, keys=row.keys, max_size=row.max_size or None, missing="category")
    result.to_dict()
    return result


def timed(run: object, *arguments: object) -> tuple[float, object]:
    """Seconds and result of a call."""
    start = time.perf_counter()
    result = run(*arguments)  # type: ignore[operator]
    return time.perf_counter() - start, result


def grouped(frame: pl.DataFrame, row: Row) -> pl.DataFrame:
    """The peer that does much less: counts of the whole patterns."""
    return frame.group_by(row.keys).agg(pl.len())


def compare(frame: pl.DataFrame, row: Row, java: Java | None, folder: Path, rounds: int) -> float:
    """Print a row; our median seconds."""
    path = folder / "peer.csv"
    if java is not None:
        frame.select(pl.col(row.keys).fill_null(MISSING)).write_csv(path, separator=";", include_header=False)
    expected = ours(frame, row).msu_counts  # warm-up
    mine, polars, theirs = [], [], []
    for _ in range(rounds):
        mine.append(timed(ours, frame, row)[0])
        polars.append(timed(grouped, frame, row)[0])
        if java is not None:
            best, counts = java.run(path, row)
            theirs.append(best)
            found = {size: counts.get(size, 0) for size in expected}
            assert found == expected, f"{row.name}: Java finds {found}, sdckit {expected}"
            assert sum(counts.values()) == sum(expected.values())
    seconds = statistics.median(mine)
    peer = f"Java {min(theirs):8.3f} s = {min(theirs) / seconds:6.1f} x, counts equal" if theirs else "no peer given"
    print(
        f"{row.name:<30} sdckit {seconds:7.3f} s  {peer}  "
        f"group-by {statistics.median(polars):.3f} s = {seconds / statistics.median(polars):.1f} x that  "
        f"{sum(expected.values()):,} minimal uniques",
        flush=True,
    )
    return seconds


def from_file(path: Path, row: Row, rounds: int) -> float:
    """Reading the file and the whole measure against scanning it and one group-by."""

    def whole() -> None:
        ours(pl.read_parquet(path, columns=row.keys), row)

    def scan() -> None:
        pl.scan_parquet(path).group_by(row.keys).agg(pl.len()).collect()

    whole()
    scan()
    mine, theirs = [], []
    for _ in range(rounds):
        mine.append(timed(whole)[0])
        theirs.append(timed(scan)[0])
    seconds, other = statistics.median(mine), statistics.median(theirs)
    print(
        f"{row.name:<30} sdckit {seconds:7.3f} s with reading; scan and group-by {other:.3f} s; "
        f"ratio {seconds / other:.2f}",
        flush=True,
    )
    return seconds


def many_keys(n: int, n_keys: int) -> pl.DataFrame:
    """Census keys, and as many more of two to nine levels as are asked."""
    frame, rng = census(n).select(KEYS_ALL), np.random.default_rng(n_keys)
    more = {
        f"k{j}": np.minimum(*rng.integers(0, 2 + j % 8, (2, n), dtype=np.uint8)) for j in range(n_keys - len(KEYS_ALL))
    }
    return frame.hstack(pl.DataFrame(more)) if more else frame


def wide(n: int, n_keys: int, max_size: int) -> None:
    """Seconds and peak memory with many keys, in a process of its own."""
    command = [sys.executable, __file__, "--only", f"{n},{n_keys},{max_size}"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    print(
        f"{n:>10,} x {n_keys:>2}  size <= {max_size:<8} sdckit {float(said[0]):7.3f} s, "
        f"peak {float(said[1]) / 1e6:.2f} GB, before the search {float(said[2]) / 1e6:.2f} GB",
        flush=True,
    )


def own_peak() -> int:
    """Peak memory of this process in kB."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1])


def only(asked: str) -> None:
    """Do one search and print its seconds and the peak of memory after and before."""
    n, n_keys, max_size = map(int, asked.split(","))
    frame = many_keys(n, n_keys)
    sdc.suda(frame[:1000], keys=frame.columns, max_size=2)  # compiles
    before = own_peak()
    seconds, _ = timed(lambda: sdc.suda(frame, keys=frame.columns, max_size=max_size).to_dict())
    print(seconds, own_peak(), before)


def main() -> None:
    """Print a line per comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", type=Path, help="folder of the Java program")
    parser.add_argument("--heap", default="10g", help="Java's memory")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", default="")
    parser.add_argument("--rows", default="1,2,3,4,5,6,7,8", help="7 is the large file, 8 many keys")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore", sdc.SdcWarning)
    if options.only:
        only(options.only)
        return
    wanted = {int(number) for number in options.rows.split(",")}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        java = Java(options.peer, folder, options.heap) if options.peer else None
        if java is None:
            print("the Java program is left out: give its folder by --peer")

        def path_of(n: int) -> Path:
            path = Path(options.data.format(n=n)) if options.data else folder / f"census-{n}.parquet"
            if not path.exists():
                census(n).write_parquet(path)
            return path

        times: dict[Row, float] = {}
        for number, row in enumerate(ROWS, 1):
            if number in wanted:
                frame = pl.read_parquet(path_of(row.n), columns=row.keys)
                times[row] = compare(frame, row, java, folder, options.rounds)
        if len(ROWS) + 1 in wanted:
            times[LARGE] = from_file(path_of(LARGE.n), LARGE, options.rounds)
        for (small, less), (large, more) in itertools.permutations(times.items(), 2):
            if (small.n_keys, small.max_size) == (large.n_keys, large.max_size) and small.n < large.n:
                slope = math.log(more / less) / math.log(large.n / small.n)
                print(f"growth exponent, {small.name.strip()} to {large.n:,}: {slope:.2f}")
    if len(ROWS) + 2 in wanted:
        wide(1_000_000, 10, 4)
        wide(100_000, 20, 4)
        wide(20_000, 40, 3)


if __name__ == "__main__":
    main()
