"""What a release gives back: seconds, peak memory, and how both grow.

    python benchmarks/recovery.py [--records 100000 1000000] [--columns 20] [--skip-guess] [--profile]

Households with a weight, years of birth, sums, categories and numbers that hang together; three columns are protected
(suppressed regions and educations, top-coded sizes). Every size runs in a process of its own, whose peak memory is
printed beside that of the file alone; code is compiled before on a small file. The time of one group-by of all columns
of the same file in Polars is the yardstick. The asked 10 s and 1 GB are for 100 k records and 20 columns on 2 cores,
pairs of columns and guesses included.
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

import numpy as np
import polars as pl

import sdckit as sdc

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


def one_run(n: int, columns: int, *, guess: bool, profile: bool) -> dict[str, float]:
    """Seconds and memory at one size."""
    small = survey(2_000, columns)
    sdc.recoverable_values(released(small), small, guess=guess, seed=1, **ROLES)
    original = survey(n, columns)
    release = released(original)
    alone = peak()
    start = time.perf_counter()
    release.group_by(release.columns).len()
    grouped = time.perf_counter() - start
    profiler = cProfile.Profile()
    start, used = time.perf_counter(), time.process_time()
    if profile:
        profiler.enable()
    result = sdc.recoverable_values(release, original, guess=guess, seed=1, **ROLES)
    profiler.disable()
    seconds, used = time.perf_counter() - start, time.process_time() - used
    if profile:
        pstats.Stats(profiler, stream=sys.stderr).sort_stats("tottime").print_stats(22)
    return {
        "seconds": seconds, "processor": used, "grouped": grouped, "peak": peak(), "alone": alone,
        "touched": result.touched, "right": result.right,
    }  # fmt: skip


def main() -> None:
    """Run every size in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--skip-guess", action="store_true")
    parser.add_argument("--profile", action="store_true", help="where the time goes")
    parser.add_argument("--run", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        found = one_run(options.records[0], options.columns, guess=not options.skip_guess, profile=options.profile)
        print(json.dumps(found))
        return
    before: tuple[int, float] | None = None
    for n in options.records:
        command = [sys.executable, __file__, "--run", "--records", str(n), "--columns", str(options.columns)]
        command += ["--skip-guess"] * options.skip_guess + ["--profile"] * options.profile
        said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        one = json.loads(said.splitlines()[-1])
        line = f"{n:>9,} x {options.columns}  {one['seconds']:7.2f} s ({one['processor']:.2f} s of processor), "
        line += f"peak {one['peak']:.2f} GB (file alone {one['alone']:.2f}), {one['right']:,.0f} of "
        line += f"{one['touched']:,.0f} changed values reconstructed, {one['seconds'] / one['grouped']:.0f} group-bys"
        if before is not None:
            grown = math.log(one["seconds"] / before[1]) / math.log(n / before[0])
            line += f", grows with n^{grown:.2f}"
        print(f"{line}, load {os.getloadavg()[0]:.1f}", flush=True)
        before = n, one["seconds"]


if __name__ == "__main__":
    main()
