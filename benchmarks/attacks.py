"""Simulated attacks beside anonymeter, distances beside SDMetrics, and the calibration of the intervals.

    python benchmarks/attacks.py [--rounds 3] [--records 10000] [--attacks 500] [--peer-python PATH] [--skip-peers]
    python benchmarks/attacks.py --runs 1000 [--people 300] [--control 300]

anonymeter's attacks on the original and the control file run in an environment of their own and time themselves,
reading, importing and compiling left out, in turn with ours. The data are positive numbers and categories without
missing values, where its traps do not bite: the rates must agree within its intervals. One draw of 500 would show
little, so they are compared where nothing is drawn: every record attacked, every query on one column asked, and 2,000
queries on three columns (those are drawn). Distances come from ``distances.py``, which can be run by itself.

``--runs`` simulates: original, release and control are drawn independently of each other from one population, so the
residual risk is 0, and it is counted how often the interval, not cut off at 0 and 1, covers it, and how often it lies
above it: the release would be blamed for what it did not do.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import distances
import sdckit as sdc
from peers import add_options, chosen, said_by

KNOWN = (["age", "income", "region"], ["rent", "hours", "educ", "sex"])
LEVEL = 0.95

PEER = """
import sys, time, warnings, json
warnings.simplefilter("ignore")
import pandas as pd
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator
files = [pd.read_parquet(path) for path in sys.argv[1:4]]
attempts, known, target = json.loads(sys.argv[4]), json.loads(sys.argv[5]), sys.argv[6]
def evaluator(name, o, s, c, n):
    if name == "linkability":
        return LinkabilityEvaluator(ori=o, syn=s, control=c, n_attacks=n, aux_cols=tuple(known), n_neighbors=1)
    if name == "inference":
        return InferenceEvaluator(ori=o, syn=s, control=c, n_attacks=n, aux_cols=known[0], secret=target)
    return SinglingOutEvaluator(ori=o, syn=s, control=c, n_attacks=n, n_cols=3)
out = {}
for name, n in attempts.items():
    def run(files, n):
        one = evaluator(name, *files, n)
        one.evaluate(**({"mode": name} if name.endswith("variate") else {"n_jobs": -1}))
        return one
    run([file.head(60) for file in files], 10)
    start = time.perf_counter()
    found = run(files, n).results(confidence_level=0.95)
    seconds = time.perf_counter() - start
    out[name] = {"seconds": seconds}
    for kind in ("attack_rate", "control_rate"):
        rate = getattr(found, kind)
        out[name][kind] = [rate.value, rate.error]
print(json.dumps(out))
"""


def people(n: int, seed: int) -> pl.DataFrame:
    """Positive numbers and categories that depend on each other."""
    rng = np.random.default_rng([20261120, n, seed])
    wealth, age = rng.normal(size=n), rng.integers(18, 90, n)
    return pl.DataFrame(
        {
            "age": age.astype(float),
            "income": np.exp(9 + 0.5 * wealth + 0.3 * rng.normal(size=n)).round(2),
            "rent": np.exp(6 + 0.4 * wealth + 0.3 * rng.normal(size=n)).round(2),
            "hours": rng.gamma(8, 5, n).round(1) + 1,
            "region": rng.choice(list("abcdefgh"), n),
            "educ": np.where(wealth + rng.normal(size=n) > 0, "high", "low"),
            "sex": rng.choice(["f", "m"], n),
        }
    )


def release_of(original: pl.DataFrame) -> pl.DataFrame:
    """Half of the people as they are with a little noise, half other people."""
    n = original.height
    rng = np.random.default_rng([5, n])
    mixed = pl.concat([original.head(n // 2), people(n - n // 2, n + 1)])
    return mixed.with_columns(
        (pl.col(name) * pl.Series(rng.normal(1, 0.01, n))).round(2).abs() for name in ("income", "rent")
    )


def ours(original: pl.DataFrame, release: pl.DataFrame, control: pl.DataFrame) -> dict[str, Callable[[int], Any]]:
    """The attacks on one set of files, by the number of attempts."""
    files: dict[str, Any] = {"control": control, "seed": 1}
    return {
        "linkability": lambda n: sdc.linkability(original, release, known=KNOWN, n_attacks=n, **files),
        "inference": lambda n: sdc.inference(original, release, known=KNOWN[0], target="educ", n_attacks=n, **files),
        "univariate": lambda n: sdc.singling_out(original, release, n_attacks=n, **files),
        "multivariate": lambda n: sdc.singling_out(original, release, mode="multivariate", n_attacks=n, **files),
        "membership": lambda n: sdc.membership(original, release, n_attacks=n, **files),
    }


def peer(python: str, files: list[pl.DataFrame], attempts: dict[str, int]) -> dict[str, Any]:
    """The same by anonymeter."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name}.parquet" for name in ("original", "released", "control")]
        for frame, path in zip(files, paths, strict=True):
            frame.write_parquet(path)
        said = said_by(python, PEER, *paths, json.dumps(attempts), json.dumps(KNOWN), "educ")
    found: dict[str, Any] = json.loads(said)
    return found


def against_peer(records: int, n: int, rounds: int, python: str | None) -> None:
    """Time `n` attempts of each attack, then compare the rates."""
    original, control = people(records, 0), people(records, 1)
    release = release_of(original)
    attacks = ours(original, release, control)
    mine: dict[str, list[float]] = {name: [] for name in attacks}
    theirs: dict[str, list[float]] = {name: [] for name in attacks}
    for attack in attacks.values():
        attack(n)  # compiled now
    for _ in range(rounds):
        for name, attack in attacks.items():
            start = time.perf_counter()
            attack(n)
            mine[name].append(time.perf_counter() - start)
        if python is not None:
            found = peer(python, [original, release, control], {name: n for name in attacks if name != "membership"})
            for name, one in found.items():
                theirs[name].append(one["seconds"])
    for name in attacks:
        line = f"{records:>8,} records, {n:,} attacks  {name:<13} {statistics.median(mine[name]):7.3f} s"
        if theirs[name]:
            ratio = statistics.median(theirs[name]) / statistics.median(mine[name])
            line += f"   anonymeter {statistics.median(theirs[name]):7.2f} s = {ratio:6.1f} x"
        print(line, flush=True)
    rates(attacks, [original, release, control], python)


def rates(attacks: dict[str, Callable[[int], Any]], files: list[pl.DataFrame], python: str | None) -> None:
    """Success and control rates where nothing, or little, is drawn at random."""
    n = files[0].height
    attempts = {"linkability": n, "inference": n, "univariate": 100 * n, "multivariate": 2_000}
    found = {name: attacks[name](count) for name, count in attempts.items()}
    # a pool smaller than what is asked for: the peer must be asked for its size, as it counts the rest as failures
    attempts["univariate"] = int(found["univariate"].n_attacks)
    other = {} if python is None else peer(python, files, attempts)
    for name, result in found.items():
        line = f"{attempts[name]:>8,} attacks  {name:<13} "
        for kind, rate in (("attack", result.success_rate), ("control", result.control_rate)):
            line += f"  {kind} {rate:.4f}"
            if name in other:
                value, error = other[name][f"{kind}_rate"]
                where = "within" if abs(rate - value) <= error else "OUTSIDE"
                line += f" ({where} anonymeter's {value:.4f} ± {error:.4f})"
        print(line, flush=True)


def small_people(n: int, rng: np.random.Generator) -> pl.DataFrame:
    """A population with chance rates from hardly any to nearly all."""
    wealth = rng.normal(size=n)
    return pl.DataFrame(
        {
            "a": wealth + 0.3 * rng.normal(size=n),
            "b": wealth + 0.3 * rng.normal(size=n),
            "c": rng.integers(0, 150, n),
            "g": rng.choice(list("uvw"), n),
            "t": np.where(wealth + rng.normal(size=n) > 0.6, "yes", "no"),
        }
    )


SIMULATED: dict[str, Any] = {
    "linkability, 1 neighbour": lambda o, s, **g: sdc.linkability(o, s, known=(["a"], ["b"]), **g),
    "linkability, 5 neighbours": lambda o, s, **g: sdc.linkability(o, s, known=(["a", "g"], ["b"]), n_neighbors=5, **g),
    "inference of a category": lambda o, s, **g: sdc.inference(o, s, known=["a", "b", "g"], target="t", **g),
    "inference of a number": lambda o, s, **g: sdc.inference(o, s, known=["a", "g"], target="b", tol=0.5, **g),
    "membership": sdc.membership,
    "singling out, univariate": lambda o, s, **g: sdc.singling_out(o, s, variables=["c", "g"], **g),
    "singling out, multivariate": lambda o, s, **g: sdc.singling_out(o, s, mode="multivariate", n_columns=3, **g),
}


def calibration(runs: int, n: int, n_control: int, n_attacks: int, seed: int = 0) -> Iterator[str]:
    """For each attack its mean rates, and how often the interval of the residual risk covers 0, or lies above it."""
    for name, attack in SIMULATED.items():
        rng = np.random.default_rng([seed, n])
        found = []
        for _ in range(runs):
            original, release, control = (small_people(size, rng) for size in (n, n, n_control))
            one = attack(original, release, control=control, n_attacks=n_attacks, level=LEVEL, seed=rng)
            covers = one.residual_low <= 0 <= one.residual_high
            found.append((one.success_rate, one.control_rate, covers, one.residual_low > 0))
        rate, other, covered, above = np.mean(found, axis=0)
        line = f"{name:<28} rates {rate:.3f} and {other:.3f}"
        yield f"{line}, covered in {covered:.3f}, above in {above:.3f} of {runs} runs"


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--attacks", type=int, default=500)
    parser.add_argument("--runs", type=int, default=0)
    parser.add_argument("--people", type=int, default=300, help="records per file of the simulation")
    parser.add_argument("--control", type=int, default=None, help="records of its control file, if others")
    add_options(parser, "anonymeter, sdmetrics and pyarrow")
    options = parser.parse_args()
    if options.runs:
        for line in calibration(options.runs, options.people, options.control or options.people, 150):
            print(line, flush=True)
        return
    python = chosen(options, "anonymeter", "sdmetrics", "pyarrow")
    against_peer(options.records, options.attacks, options.rounds, python)
    distances.against_peer(5_000, options.rounds, python)
    distances.large_runs(100_000)


if __name__ == "__main__":
    main()
