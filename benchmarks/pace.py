"""Every public measure and method, warm: processor seconds by the number of records, and against another version.

    python benchmarks/pace.py [--sizes 1000,10000] [--only suda,l_diversity] [--rounds 5] [--against CHECKOUT]

Each version runs in a process of its own on the same made-up files: a call is warmed up first, then measured
`--rounds` times in turn with the other. Printed are medians of processor time, all threads counted, and with
``--against`` (a checkout, or its ``src``) the ratio to the other's. "–": no such function there, or none with these
arguments. What takes more than `--most` seconds is not tried with more records ("…").
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import sdckit as sdc

HERE = Path(__file__).resolve().parents[1] / "src"
SIZES = (1_000, 10_000, 100_000, 1_000_000)
KEYS = ["region", "sex", "age", "marital", "educ"]
FEW, NUMBERS = KEYS[:3], ["income", "hours"]
NAMES = [*KEYS, "ill", *NUMBERS]
SEED, ABSENT = {"seed": 5}, "–"
LEAST, REPEATS = 0.02, 50  # seconds: shorter calls are repeated until they take as long together


@cache
def people(n: int, seed: int = 1) -> pl.DataFrame:
    """People of nobody: keys of a survey, households, weights, two numbers."""
    rng = np.random.default_rng(seed)

    def level(count: int) -> np.ndarray:
        return np.minimum(*rng.integers(0, count, (2, n)))

    age, educ = level(60) + 18, level(7)
    return pl.DataFrame({
        "id": np.arange(n), "hh": np.arange(n) // 3, "age": age, "educ": educ, "sex": rng.integers(0, 2, n),
        "region": np.array([f"r{j:02}" for j in range(20)])[level(20)],
        "marital": np.array(["single", "married", "widowed", "apart"])[level(4)],
        "job": np.array([f"job {j}" for j in range(12)])[level(12)],
        "ill": np.array(["no", "flu", "heart", "back", "other"])[level(5)],
        "income": np.exp(rng.normal(7.5 + 0.1 * educ, 0.5)).round(1), "hours": rng.normal(35.0, 8.0, n).round(1),
        "w": rng.uniform(50.0, 150.0, n).round(2), "risk": rng.random(n) ** 8,
    })  # fmt: skip


@cache
def gaps(n: int) -> pl.DataFrame:
    """The same with one key in fifty missing."""
    row = pl.int_range(n)
    return people(n).with_columns(pl.when((row * 7 + j) % 50 > 0).then(name).alias(name) for j, name in enumerate(KEYS))


@cache
def changed(n: int) -> pl.DataFrame:
    """A release, record by record: some values of others, noise."""
    rng = np.random.default_rng(2)
    given = {name: people(n)[name].to_numpy() for name in KEYS}
    moved = {name: np.where(rng.random(n) < 0.1, rng.permutation(old), old) for name, old in given.items()}
    noise = pl.col("income") + pl.Series(rng.normal(0.0, 50.0, n))
    return people(n).with_columns(*(pl.Series(*one) for one in moved.items()), income=noise)


@cache
def taken(n: int) -> pl.DataFrame:
    """A release with values taken out."""
    return sdc.local_suppression(people(n).drop("risk", "w"), keys=FEW, k=3).data


ROLES: dict[str, Any] = {"keys": KEYS, "weight": "w"}
LEARNT: dict[str, Any] = {"keys": FEW, "sensitive": ["ill", "job"]}
ALL: dict[str, Any] = {"variables": NAMES}
JUDGED: dict[str, Any] = {"keys": FEW, "weight": "w", "household": "hh", "sensitive": ["ill"], "thresholds": {"k": 3}}
REACHED, RISKY = {"keys": FEW, "k": 3}, {"risk": lambda n: people(n)["risk"], "threshold": 0.9}
ASIDE, TARGET = partial(people, seed=4), {"keys": FEW, "target": "ill"}
TRIED: dict[str, Any] = {"control": ASIDE, "n_attacks": 200, **SEED}
ONE, GAPS, TWO, OTHERS = (people,), (gaps,), (people, changed), (people, partial(people, seed=3))
# Files and arguments of a call by its name, and what else is said of it after a comma. Functions are of the records.
CALLS: dict[str, tuple[tuple[Callable[[int], Any], ...], dict[str, Any]]] = {
    **dict.fromkeys(("key_frequencies", "individual_risk", "key_contributions", "population_uniques"), (ONE, ROLES)),
    **dict.fromkeys(("key_frequencies, missing", "individual_risk, missing"), (GAPS, ROLES)),
    "individual_risk, household": (ONE, {**ROLES, "household": "hh"}),
    **dict.fromkeys(("k_anonymity", "risky_cells"), (ONE, {"keys": KEYS})),
    "household_structure": (ONE, {"household": "hh", "keys": FEW, "weight": "w"}),
    **dict.fromkeys(("l_diversity", "t_closeness", "beta_likeness", "delta_disclosure", "alpha_k"), (ONE, LEARNT)),
    "l_diversity, missing": (GAPS, LEARNT), "suda": (ONE, {"keys": [*KEYS, "job"]}),
    "population_risk": (ONE, {"keys": FEW, "weight": "w"}), "outliers": (ONE, {"numeric": NUMBERS}),
    "explain": (ONE, {"keys": KEYS, "row": 4}),
    **dict.fromkeys(("k_map", "delta_presence"), ((lambda n: people(n)[::2], people), {"keys": FEW})),
    **dict.fromkeys(("identity_disclosure", "replicated_uniques"), (TWO, {"keys": KEYS})),
    **dict.fromkeys(("attribute_disclosure", "correct_attribution_probability", "prediction_risk"), (TWO, TARGET)),
    "few_matches": (TWO, {"keys": KEYS, "k": 3}),
    "attribute_disclosure_table": (TWO, {"keys": FEW, "targets": ["ill", "job"]}),
    "matching_risk": (TWO, {"known": [*FEW, "income"], "numeric": ["income"]}),
    "interval_risk": (TWO, {"numeric": NUMBERS}),
    **dict.fromkeys(("record_linkage", "compare_distributions", "compare_associations", "tabular_utility"), (TWO, ALL)),
    **dict.fromkeys(("robust_interval_risk", "information_loss"), (TWO, {"numeric": NUMBERS, **SEED})),
    "compare_models": (TWO, {"formula": "income ~ hours + sex"}),
    "compare_estimates": (TWO, {"statistic": "mean", "variables": NUMBERS}),
    **dict.fromkeys(("cluster_utility", "propensity", "utility_overview"), (TWO, {**ALL, **SEED})),
    "ecdf_utility": (TWO, {"variables": NUMBERS}),
    **dict.fromkeys(("singling_out", "membership"), (OTHERS, {**ALL, **TRIED})),
    "linkability": (OTHERS, {"known": (FEW, ["income", "marital"]), **TRIED}),
    "inference": (OTHERS, {"known": FEW, "target": "ill", **TRIED}),
    "distance_to_closest_record": (OTHERS, {**ALL, "control": ASIDE, **SEED}),
    "probabilistic_linkage": (TWO, {"variables": [*KEYS, "income"], "id": "id", **SEED}),
    "recoverable_values": ((taken, people), {"keys": FEW, **SEED}),
    "differencing": ((taken,), {"earlier": changed, "keys": FEW, "id": "id"}),
    "canaries": (ONE, {"n": 20, **SEED}), "assess": (GAPS, {"scenario": lambda _: sdc.Scenario(**JUDGED)}),
    "household_variables": (ONE, {"household": "hh"}), "add_noise": (ONE, {"columns": NUMBERS, **SEED}),
    "coarsen_weights": (ONE, {"weight": "w", **SEED}), "drop_identifiers": (ONE, {"columns": ["id"]}),
    "limit_households": (ONE, {"household": "hh", "largest": 2, **SEED}),
    "local_suppression": (ONE, REACHED), "local_suppression, true keys": (ONE, {**REACHED, "true_keys": True, **SEED}),
    "local_suppression, missing": (GAPS, REACHED),
    "mask_categorical": (ONE, {"columns": ["job"], "probability": 0.8, **SEED}),
    "mask_continuous": (ONE, {"columns": NUMBERS, "sd": 10.0, **SEED}),
    "microaggregate": (ONE, {"columns": NUMBERS, "k": 3}), "new_ids": (ONE, {"column": "id"}),
    "pram": (ONE, {"columns": ["job"], **SEED}), "random_order": (ONE, SEED),
    "rank_swap": (ONE, {"columns": NUMBERS, "p": 5, **SEED}), "recode": (ONE, {"column": "income", "bands": 5}),
    "replace_high_risk": (ONE, {**RISKY, "match": FEW, "replace": ["ill"], **SEED}),
    "round_to": (ONE, {"column": "income", "base": 100, **SEED}),
    "shuffle": (ONE, {"columns": NUMBERS, "given": ["age"], **SEED}),
    "suppress_above": (ONE, {**RISKY, "columns": ["ill"]}),
    "swap_records": (ONE, {"hierarchy": ["region"], "keys": ["sex", "educ"], **SEED}),
    "synthesize": (ONE, {"columns": ["ill", "hours"], **SEED}),
    "top_bottom_code": (ONE, {"column": "income", "top": 5000}),
}  # fmt: skip


def call(name: str, n: int) -> Callable[[], None]:
    """A call, its files made; results are drawn up as plain figures."""
    files, given = CALLS[name]
    function = getattr(sdc, name.partition(",")[0])
    data = [file(n) for file in files]
    arguments = {key: value(n) if callable(value) else value for key, value in given.items()}

    def run() -> None:
        result = function(*data, **arguments)
        if hasattr(result, "to_dict"):
            result.to_dict()

    return run


def serve() -> None:
    """Read "name n" a line, and print the processor seconds of a call; others warm the first one up."""
    warnings.simplefilter("ignore")
    warm: set[str] = set()
    for line in sys.stdin:
        name, n = line.strip().rsplit(" ", 1)
        try:
            run = call(name, int(n))
            if line not in warm:
                measured(run, most=1.0, times=4)
            warm.add(line)
            print(measured(run), flush=True)
        except (AttributeError, TypeError, ValueError) as error:  # not in this version, or not so
            print(ABSENT, f"{type(error).__name__}: {error}".partition("\n")[0], flush=True)


def measured(run: Callable[[], Any], *, most: float = LEAST, times: int = REPEATS) -> float:
    """Processor seconds of a call, repeated where it is short."""
    start, spent = time.process_time(), []
    while not spent or (spent[-1] < most and len(spent) < times):
        run()
        spent.append(time.process_time() - start)
    return spent[-1] / len(spent)


def started(src: Path) -> subprocess.Popen[str]:
    """A process that measures calls of one version."""
    env = {**os.environ, "PYTHONPATH": f"{src}{os.pathsep}{Path(__file__).parent}"}
    command, pipe = [sys.executable, __file__, "--serve"], subprocess.PIPE
    return subprocess.Popen(command, env=env, text=True, stdin=pipe, stdout=pipe)


def seconds(version: subprocess.Popen[str], name: str, n: int) -> float:
    """Of one call; NaN where there is none."""
    assert version.stdin is not None
    assert version.stdout is not None
    print(name, n, file=version.stdin, flush=True)
    answer, _, why = version.stdout.readline().strip().partition(" ")
    if why:
        print(f"{name}, {n:,}: {why}", file=sys.stderr)
    return math.nan if answer == ABSENT else float(answer)


def compared(versions: Sequence[subprocess.Popen[str]], name: str, n: int, rounds: int) -> list[float]:
    """Medians of the versions, measured in turn."""
    runs: list[list[float]] = [[seconds(version, name, n)] for version in versions]
    for _ in range(rounds - 1):
        for times, version in zip(runs, versions, strict=True):
            if not math.isnan(times[0]):
                times.append(seconds(version, name, n))
    return [statistics.median(times) for times in runs]


def cell(own: float, other: float | None) -> str:
    """A median, and how many times the other it is."""
    told = f"{own:.2g} s" if own >= 1 else f"{1000 * own:.3g} ms"
    ratio = "" if other is None else f" = {ABSENT if math.isnan(other) else f'{own / other:.2f} ×'}"
    return ABSENT if math.isnan(own) else f"{told}{ratio}"


def main() -> None:
    """Print a row for each measure and method."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--only", default=",".join(dict.fromkeys(name.partition(",")[0] for name in CALLS)))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--most", type=float, default=20.0, help="seconds after which more are not tried")
    parser.add_argument("--against", type=Path, help="a checkout of another version")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    sizes = [int(float(size)) for size in options.sizes.split(",")]
    with ExitStack() as stack:
        folders = [
            src / "src" if (src / "src").is_dir() else src
            for src in [HERE, *([options.against] if options.against else [])]
        ]
        versions = [stack.enter_context(started(folder.resolve())) for folder in folders]
        for name in [name for name in CALLS if name.partition(",")[0] in options.only.split(",")]:
            row, largest = [f"`{name}`"], 0.0
            for n in sizes:
                times = [] if largest > options.most else compared(versions, name, n, options.rounds)
                row.append(cell(times[0], times[1] if times[1:] else None) if times else "…")
                largest = max([largest, *(one for one in times if one > 0)])
            print("  ".join([f"{row[0]:<36}", *(f"{entry:>18}" for entry in row[1:])]), flush=True)


if __name__ == "__main__":
    main()
