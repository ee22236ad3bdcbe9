"""The main job, warm: the demo, a million records, a release; against another checkout of this package.

    python benchmarks/assess.py [--against ../other/src] [--records 1000000] [--repeats 5]

Each checkout runs in a process of its own that is warmed up first; the processes take turns, and every ratio
is of medians over these turns.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORKER = """
import sys, time, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, sys.argv[1])
import polars as pl
import sdckit as sdc
from census import KEYS, census
demo, asked = sdc.load_demo(), sdc.demo_scenario()
people = census(int(sys.argv[2]), seed=1)
numbers = next(name for name in people.columns if name not in (*KEYS, "w", "hh"))
scenario = sdc.Scenario(keys=KEYS, weight="w", sensitive=[numbers], thresholds={"k": 3, "risk": 0.05})
small = sdc.Scenario(keys=["age", "educ", "occupation"], sensitive=["affairs"], aligned=True)
moved = demo.with_columns(pl.col("age").replace({17.5: 22.0}))
JOBS = {
    "the demo": lambda: sdc.assess(demo.clone(), scenario=asked),
    "the demo and its report": lambda: sdc.assess(demo.clone(), scenario=asked).report("benchmark.html"),
    "the demo, protected, beside itself": lambda: sdc.assess(demo, moved, scenario=small, seed=1),
    f"{len(people):,} records": lambda: sdc.assess(people.clone(), scenario=scenario),
}
for job in JOBS.values():
    job()
print("ready", flush=True)
for name in sys.stdin:
    start = time.perf_counter()
    JOBS[name.strip()]()
    print(time.perf_counter() - start, flush=True)
"""


def worker(source: Path, records: int, folder: str) -> subprocess.Popen[str]:
    """A warmed-up process on one checkout; its kernels are compiled apart from those of others."""
    caches = Path(folder) / source.parent.name
    environment = os.environ | {"PYTHONPATH": str(source), "NUMBA_CACHE_DIR": str(caches)}
    started = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(HERE), str(records)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True, env=environment, cwd=folder,
    )  # fmt: skip
    assert started.stdout is not None
    assert started.stdout.readline().strip() == "ready"
    return started


def seconds(one: subprocess.Popen[str], job: str) -> float:
    """The time of one job in one process."""
    assert one.stdin is not None
    assert one.stdout is not None
    one.stdin.write(job + "\n")
    one.stdin.flush()
    return float(one.stdout.readline())


def main() -> None:
    import tempfile

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", type=Path)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    sources = [HERE.parent / "src", *([asked.against.resolve()] if asked.against else [])]
    jobs = [
        "the demo", "the demo and its report", "the demo, protected, beside itself", f"{asked.records:,} records",
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        running = [worker(source, asked.records, folder) for source in sources]
        for job in jobs:
            times = [[seconds(one, job) for one in running] for _ in range(asked.repeats)]
            own, *other = (statistics.median(column) for column in zip(*times, strict=True))
            ratio = f", {own / other[0]:.2f} x the other checkout ({other[0]:.3f} s)" if other else ""
            print(f"{job}: {own:.3f} s{ratio}")
        for one in running:
            one.kill()


if __name__ == "__main__":
    main()
