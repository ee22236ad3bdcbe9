"""Nine categorical keys: distances, linkage and the main job on a release, against another checkout of this package.

    python benchmarks/many_keys.py [--against ../other/src] [--records 100000] [--repeats 1] [--jobs linkage,assess]
        [--record MACHINE]

The release has values of a tenth of the records redrawn from their columns, and 5 % of noise on three numbers. Control
files have half as many records. Processor seconds of all threads: each checkout in a process of its own, in turns,
the second run of two. Figures of both must be equal.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from record import add_option, record

HERE = Path(__file__).resolve().parent
JOBS = {
    "distances": "distances to the closest record, nine categories",
    "numbers": "the same with three numbers",
    "control": "nine categories and a control file",
    "numbers and control": "the same with three numbers",
    "linkage": "record linkage, nine categories",
    "assess": "`assess` of a release",
    "attacks": "`assess` of a release with attacks",
}
WORKER = """
import json, os, resource, sys, time, warnings
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # a solver may print there
warnings.simplefilter("ignore")
sys.path.insert(0, sys.argv[1])
import numpy as np
import polars as pl
import sdckit as sdc
from census import KEYS, census
KEYS = [*KEYS, "cob", "hhsize"]
NUMBERS = ["income", "rent", "savings"]
def people(n, seed):
    rng = np.random.default_rng([20261122, n, seed])
    frame = census(n + seed).tail(n)
    wealth = rng.normal(0, 0.5, n) + frame["educ"].fill_null(3).to_numpy() * 0.15
    amounts = {name: np.exp(8 + wealth + rng.normal(0, 0.5, n)).round(2) for name in NUMBERS}
    return frame.with_columns(**{name: pl.Series(values) for name, values in amounts.items()})
def released(original):
    rng = np.random.default_rng(7)
    n = original.height
    touched, made = rng.random(n) < 0.1, {}
    for name in KEYS:
        redrawn = original[name].gather(rng.permutation(n))
        here = pl.Series(touched & (rng.random(n) < 0.3))
        made[name] = pl.select(pl.when(here).then(redrawn).otherwise(original[name])).to_series()
    for name in NUMBERS:
        made[name] = pl.Series((original[name].to_numpy() * rng.normal(1, 0.05, n)).round(2))
    return original.with_columns(**made)
def near(one, other, names, **more):
    files = one.select(names), other.select(names)
    return sdc.distance_to_closest_record(*files, numeric=names[len(KEYS):], seed=1, **more)
SCENARIO = sdc.Scenario(keys=KEYS, sensitive=["tenure"], numeric=NUMBERS, weight="w", aligned=True)
BOTH = [*KEYS, *NUMBERS]
CALLS = {
    "distances": lambda a, b, c: near(a, b, KEYS),
    "numbers": lambda a, b, c: near(a, b, BOTH),
    "control": lambda a, b, c: near(a, b, KEYS, control=c.select(KEYS)),
    "numbers and control": lambda a, b, c: near(a, b, BOTH, control=c.select(BOTH)),
    "linkage": lambda a, b, c: sdc.record_linkage(a, b, variables=KEYS, numeric=[]),
    "assess": lambda a, b, c: sdc.assess(a, b, scenario=SCENARIO, seed=1),
    "attacks": lambda a, b, c: sdc.assess(a, b, scenario=SCENARIO, seed=1, attacks=True),
}
def files(n):
    original = people(n, 0)
    return original, released(original), people(n // 2, n)
def rounded(told):
    if isinstance(told, dict):
        return {name: rounded(one) for name, one in told.items()}
    if isinstance(told, (list, tuple)):
        return [rounded(one) for one in told]
    return float(f"{told:.8g}") if isinstance(told, float) else str(told)
many = files(int(sys.argv[2]))
print("ready", file=answers, flush=True)
for name in sys.stdin:
    call = CALLS[name.strip()]
    call(*many)  # compiled: a smaller file takes other ways
    start = time.process_time()
    found = call(*many)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps([seconds, peak, rounded(found.to_dict())]), file=answers, flush=True)
"""


def worker(source: Path, records: int, folder: str) -> subprocess.Popen[str]:
    """A process on one checkout; its kernels are compiled apart from those of others."""
    caches = Path(folder) / source.parent.name
    environment = os.environ | {"PYTHONPATH": str(source), "NUMBA_CACHE_DIR": str(caches)}
    started = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(HERE), str(records)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True, env=environment, cwd=folder,
    )  # fmt: skip
    assert started.stdout is not None
    assert started.stdout.readline().strip() == "ready"
    return started


def measured(source: Path, records: int, folder: str, job: str) -> tuple[float, float, object]:
    """Processor seconds of a job, peak memory of its process, and its figures."""
    import json

    one = worker(source, records, folder)
    assert one.stdout is not None
    assert one.stdin is not None
    one.stdin.write(job + "\n")
    one.stdin.flush()
    seconds, peak, figures = json.loads(one.stdout.readline())
    one.kill()
    return seconds, peak, figures


def main() -> None:
    """Print a row per job."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--jobs", default=",".join(JOBS))
    add_option(parser)
    asked = parser.parse_args()
    sources = [HERE.parent / "src", *([asked.against.resolve()] if asked.against else [])]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for job in asked.jobs.split(","):
            turns = [[measured(one, asked.records, folder, job) for one in sources] for _ in range(asked.repeats)]
            own, *other = (statistics.median(one[0] for one in column) for column in zip(*turns, strict=True))
            row = [JOBS[job], f"{own:.2g} s, {max(turn[0][1] for turn in turns):.2f} GB", "", ""]
            if other:
                equal = all(turn[0][2] == turn[1][2] for turn in turns)
                row[2:] = [f"{other[0]:.3g} s, figures {'equal' if equal else 'DIFFER'}", f"{other[0] / own:.1f}"]
            rows.append(row)
            print("  ".join(row), flush=True)
    if asked.record:
        record("many-keys", asked.record, rows)


if __name__ == "__main__":
    main()
