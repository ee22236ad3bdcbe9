"""What a release gives back: seconds, peak memory, and how both grow.

    python benchmarks/recovery.py [--records 100000 1000000] [--columns 20] [--skip-guess] [--profile] [--apart]

Households with a weight, years of birth, sums, categories and numbers that hang together; three columns are protected
(suppressed regions and educations, top-coded sizes). Every size runs in a process of its own, whose peak memory is
printed beside that of the file alone; code is compiled before on a small file. The time of one group-by of all columns
of the same file in Polars is the yardstick. The asked 10 s and 1 GB are for 100 k records and 20 columns on 2 cores,
pairs of columns and guesses included. --apart searches once more without threads, in the same process: the results must
be equal; the longest thread of the search on threads, beside the processor seconds of that without, is what the clock
shows where nothing else runs.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import math
import os
import pstats
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl

import sdckit as sdc
from sdckit.attacks.recovery import touched_cells

ROLES = {"weight": "weight", "household": "home", "keys": ["region", "sex", "edu", "size"]}


def survey(n: int, columns: int = 20) -> pl.DataFrame:
    """Records of households in random order."""
    rng = np.random.default_rng([20261121, n])
    size = rng.choice([1, 2, 3, 4, 5, 6, 7], n, p=[0.3, 0.3, 0.15, 0.15, 0.06, 0.03, 0.01])
    home = np.repeat(np.arange(n), size)[:n]
    size = np.bincount(home, minlength=n)
    region = rng.integers(1, 10, n)[home]
    age = rng.integers(0, 95, n)
    wage, capital = rng.integers(0, 3000, n), rng.integers(0, 500, n)
    data = {
        "home": rng.permutation(n)[home], "region": [f"r{one}" for one in region], "sex": rng.choice(["m", "f"], n),
        "edu": np.clip(age // 20 + rng.integers(0, 3, n), 0, 4), "size": size[home],
        "weight": rng.uniform(200, 900, (9, 40)).round(3)[region - 1, rng.integers(0, 40, n)], "age": age,
        "born": 2020 - age - rng.integers(0, 2, n), "wage": wage, "capital": capital, "total": wage + capital,
        "rent": np.exp(rng.normal(6, 0.5, n)).round(2),
    }  # fmt: skip
    for i in range(max(columns - len(data), 0)):
        data[f"code{i}"] = rng.integers(0, 3 + 8 * i, n)
    return pl.DataFrame(data).select(list(data)[:columns]).sample(fraction=1, shuffle=True, seed=1)


def released(data: pl.DataFrame) -> pl.DataFrame:
    """Three columns protected."""
    rng = np.random.default_rng(2)
    gone = [pl.Series(rng.random(data.height) < 0.03) for _ in range(2)]
    return data.with_columns(
        region=pl.when(gone[0]).then(None).otherwise("region"),
        edu=pl.when(gone[1]).then(None).otherwise("edu"),
        size=pl.col("size").clip(upper_bound=5),
    )


def peak() -> float:
    """Most memory this process ever had, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def of_threads() -> dict[int, float]:
    """Processor seconds of each thread of this process."""
    used = {}
    for place in Path("/proc/self/task").glob("*/stat"):
        fields = place.read_text().rpartition(")")[2].split()
        used[int(place.parent.name)] = sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
    return used


def alone(release: pl.DataFrame, original: pl.DataFrame, result: sdc.RecoverableValues, *, guess: bool) -> float:
    """Processor seconds of the same without threads of its own."""
    least, touched_cells.FEWEST_APART = touched_cells.FEWEST_APART, release.height + 1
    start = time.process_time()
    again = sdc.recoverable_values(release, original, guess=guess, seed=1, **ROLES)
    used, touched_cells.FEWEST_APART = time.process_time() - start, least
    assert again.to_dict() == result.to_dict()
    assert again.records.equals(result.records)
    return used


def one_run(n: int, columns: int, *, guess: bool, profile: bool, apart: bool) -> dict[str, float]:
    """Seconds and memory at one size."""
    small = survey(2_000, columns)
    sdc.recoverable_values(released(small), small, guess=guess, seed=1, **ROLES)
    original = survey(n, columns)
    release = released(original)
    before_all = peak()
    start = time.perf_counter()
    release.group_by(release.columns).len()
    grouped = time.perf_counter() - start
    profiler = cProfile.Profile()
    start, used, before = time.perf_counter(), time.process_time(), of_threads()
    if profile:
        profiler.enable()
    result = sdc.recoverable_values(release, original, guess=guess, seed=1, **ROLES)
    profiler.disable()
    seconds, used = time.perf_counter() - start, time.process_time() - used
    longest = max(seconds - before.get(thread, 0.0) for thread, seconds in of_threads().items())
    if profile:
        pstats.Stats(profiler, stream=sys.stderr).sort_stats("tottime").print_stats(22)
    return {
        "seconds": seconds, "processor": used, "grouped": grouped, "peak": peak(), "alone": before_all,
        "touched": result.touched, "right": result.right, "longest": longest,
        "apart": alone(release, original, result, guess=guess) if apart else math.nan,
    }  # fmt: skip


def main() -> None:
    """Run every size in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--skip-guess", action="store_true")
    parser.add_argument("--profile", action="store_true", help="where the time goes")
    parser.add_argument("--apart", action="store_true", help="once more without threads, with equal results")
    parser.add_argument("--run", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        found = one_run(
            options.records[0], options.columns, guess=not options.skip_guess, profile=options.profile,
            apart=options.apart,
        )  # fmt: skip
        print(json.dumps(found))
        return
    before: tuple[int, float] | None = None
    for n in options.records:
        command = [sys.executable, __file__, "--run", "--records", str(n), "--columns", str(options.columns)]
        command += ["--skip-guess"] * options.skip_guess + ["--profile"] * options.profile + ["--apart"] * options.apart
        said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        one = json.loads(said.splitlines()[-1])
        line = f"{n:>9,} x {options.columns}  {one['seconds']:7.2f} s ({one['processor']:.2f} s of processor), "
        line += f"peak {one['peak']:.2f} GB (file alone {one['alone']:.2f}), {one['right']:,.0f} of "
        line += f"{one['touched']:,.0f} changed values reconstructed, {one['seconds'] / one['grouped']:.0f} group-bys"
        if options.apart:
            line += f", longest thread {one['longest']:.2f} s, without threads {one['apart']:.2f} s of processor"
        if before is not None:
            grown = math.log(one["seconds"] / before[1]) / math.log(n / before[0])
            line += f", grows with n^{grown:.2f}"
        print(f"{line}, load {os.getloadavg()[0]:.1f}", flush=True)
        before = n, one["seconds"]


if __name__ == "__main__":
    main()
