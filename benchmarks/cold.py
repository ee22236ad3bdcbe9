"""The first run of a command, nothing compiled yet: processor seconds and seconds by the clock.

    python benchmarks/cold.py [--only suda,assess] [--rounds 1] [--against FOLDER]

Each command runs in a process of its own on files made of the demo (6,366 records), with an empty NUMBA_CACHE_DIR, and
once more with what it left there. ``--against`` is the ``src`` of another state, in turns with this one; the last
column is the ratio of processor seconds. ``--record MACHINE`` keeps the rows.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import sdckit as sdc
from record import add_option, record

HERE = Path(__file__).resolve().parents[1] / "src"
KEYS = "age,yrs_married,children,religious,educ,occupation"
SCENARIO = f"""
keys = {KEYS.split(",")}
weight = "w"
household = "home"
sensitive = ["affairs"]
numeric = ["income", "hours"]
[thresholds]
k = 3
risk = 0.1
"""
RECIPE = """
[[steps]]
method = "recode"
column = "age"
bands = [0, 25, 32, 40, 90]
[[steps]]
method = "microaggregate"
columns = ["income", "hours"]
k = 3
[[steps]]
method = "rank_swap"
columns = ["yrs_married"]
[[steps]]
method = "pram"
columns = ["occupation"]
[[steps]]
method = "local_suppression"
keys = ["age", "children", "educ"]
k = 3
"""
COMMANDS = {
    "suda": ["suda", "survey.csv", "--keys", KEYS],
    "assess": ["assess", "survey.csv", "--keys", KEYS, "--weight", "w", "--household", "home"],
    "assess --report": [
        "assess", "survey.csv", "--keys", KEYS, "--weight", "w", "--household", "home", "--sensitive", "affairs",
        "--k", "3", "--report", "report.html",
    ],
    "protect": ["protect", "recipe.toml", "survey.csv", "--out", "out.csv", "--scenario", "scenario.toml", "--force"],
    "attack": [
        "attack", "original.csv", "--released", "released.csv", "--control", "aside.csv", "--seed", "1", "--aligned",
        "--known", "age,yrs_married,children", "--target", "affairs",
    ],
}  # fmt: skip


def files(folder: Path) -> None:
    """Write the demo with weights, households and amounts; a part of it, a release of that, people put aside."""
    rng = np.random.default_rng(20261122)
    survey = sdc.load_demo()
    n = survey.height
    survey = survey.with_columns(
        w=pl.Series(rng.uniform(50, 150, n).round(2)),
        home=pl.Series(np.arange(n) // 2),
        income=pl.Series(np.exp(rng.normal(8, 0.5, n)).round(2)),
        hours=pl.Series(rng.normal(35, 8, n).round()),
    )
    survey.write_csv(folder / "survey.csv")
    mixed = survey[rng.permutation(n)]
    original = mixed[:3000]
    moved = {
        name: np.where(rng.random(3000) < 0.3, rng.permutation(original[name].to_numpy()), original[name].to_numpy())
        for name in ("age", "educ", "occupation", "religious")
    }
    original.write_csv(folder / "original.csv")
    mixed[3000:6000].write_csv(folder / "aside.csv")
    original.with_columns(**{name: pl.Series(values) for name, values in moved.items()}).write_csv(
        folder / "released.csv"
    )
    (folder / "scenario.toml").write_text(SCENARIO, encoding="utf-8")
    (folder / "recipe.toml").write_text(RECIPE, encoding="utf-8")


def used() -> float:
    """Processor seconds of the processes waited for."""
    both = resource.getrusage(resource.RUSAGE_CHILDREN)
    return both.ru_utime + both.ru_stime


def run(command: str, src: Path, folder: Path, cache: str) -> tuple[float, float]:
    """Processor seconds and seconds of one run."""
    env = {**os.environ, "PYTHONPATH": str(src), "NUMBA_CACHE_DIR": cache}
    before, start = used(), time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "sdckit", *COMMANDS[command]],
        env=env, cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    return used() - before, time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(COMMANDS))
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--against", type=Path, help="the src of another state")
    add_option(parser)
    options = parser.parse_args()
    sources = [HERE, *([options.against] if options.against else [])]
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files(folder)
        for command in options.only.split(","):
            cold: list[list[tuple[float, float]]] = [[] for _ in sources]
            warm = []
            for _ in range(options.rounds):
                for at, src in enumerate(sources):
                    with tempfile.TemporaryDirectory() as cache:
                        cold[at].append(run(command, src, folder, cache))
                        if at == 0:
                            warm.append(run(command, src, folder, cache)[0])
            cpu = [statistics.median(one[0] for one in runs) for runs in cold]
            row = [f"`sdckit {command}`", f"{cpu[0]:.1f} s", f"{statistics.median(warm):.1f} s"]
            row += [f"{cpu[1]:.1f} s", f"{cpu[0] / cpu[1]:.2f} ×"] if len(cpu) > 1 else ["", ""]
            walls = " / ".join(f"{statistics.median(one[1] for one in runs):.1f}" for runs in cold)
            print("  ".join([*row, f"(wall {walls} s)"]), flush=True)
            rows.append(row)
    if options.record:
        record("cold", options.record, rows)


if __name__ == "__main__":
    main()
