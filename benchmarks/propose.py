"""The proposed recipe beside random ones that keep k and l, and beside a person's: the loss, and the time.

    python benchmarks/propose.py affairs|guide [--random 200] [--k 3]
    python benchmarks/propose.py FILE.csv --ordered Age --random 200

A file of one's own is taken to have the columns of the teaching file of the 2011 census: six keys, two intruders,
k = 5, l = 2 for health. Random recipes are drawn evenly from the combinations that
`propose` looks at, with the same bound on what is left to suppression. They keep k and l on their release; the other
checks, which the proposed recipe has passed, are not made of them.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
import polars as pl

import sdckit as sdc
from sdckit.workflow.proposing.finding import at_aim
from sdckit.workflow.proposing.opening import open_lattice
from sdckit.workflow.proposing.trials import Trials

CENSUS = {
    "neighbour": ["Region", "Sex", "Age", "Marital Status", "Ethnic Group"],
    "colleague": ["Region", "Sex", "Age", "Occupation", "Ethnic Group"],
}
BY_HAND = {"popul": [0, 10, 100, 1000, None], "age": [18, 30, 45, 60, 75, None], "income": [1, 8, 16, 21, 25]}


def problem(name: str, ordered: list[str], k: int | None) -> tuple[pl.DataFrame, sdc.Scenario]:
    """A file and its scenario."""
    if name == "affairs":
        keys = ["age", "yrs_married", "children", "religious", "educ", "occupation"]
        return sdc.load_demo(), sdc.Scenario(
            intruders={"acquaintance": keys, "colleague": ["age", "children", "educ", "occupation"]},
            ordered=keys[:5], sensitive=["affairs"], thresholds={"k": k or 3},
        )  # fmt: skip
    if name == "guide":
        import statsmodels.api as sm

        study = sm.datasets.anes96.load_pandas().data[["age", "educ", "income", "popul", "vote"]].astype(int)
        return pl.from_pandas(study), sdc.Scenario(
            intruders={"neighbour": ["age", "educ", "popul"], "colleague": ["age", "educ", "income"]},
            sampling_fraction=0.001, sensitive=["vote"], numeric=["popul"], ordered=["educ"], thresholds={"k": k or 3},
        )  # fmt: skip
    return pl.read_csv(name), sdc.Scenario(
        intruders=CENSUS, ordered=ordered, sensitive=["Health"], identifiers=["Person ID"],
        thresholds={"k": k or 5, "l": 2},
    )  # fmt: skip


def random_losses(trials: Trials, wanted: int) -> tuple[list[float], int]:
    """Losses of random combinations that keep k and l, and how many were drawn."""
    rng, found, drawn = np.random.default_rng(1), [], 0
    while len(found) < wanted and drawn < 100 * wanted:
        drawn += 1
        node = tuple(int(rng.integers(size)) for size in trials.shape)
        if trials.enough(node):
            loss = trials.real(node)
            found += [loss] if np.isfinite(loss) else []
    return found, drawn


def by_hand(data: pl.DataFrame, scenario: sdc.Scenario, lattice: Any) -> float:
    """The loss of the recipe of the guide; what its PRAM changes is not counted."""
    steps: list[dict[str, Any]] = [
        {"method": "recode", "column": name, "bands": bands} for name, bands in BY_HAND.items()
    ]
    recoded = sdc.Recipe(steps).apply(data, watch=False).data
    both = [{"method": "local_suppression", "intruder": name} for name in scenario.intruders]
    released = sdc.Recipe([*steps, *both]).apply(data, scenario=scenario, watch=False).data
    kept = []
    for one in lattice.ladders:
        before, after = (
            frame[one.key].value_counts()["count"].to_numpy() / len(data) for frame in (data, recoded)
        )
        share = float(-(after @ np.log2(after)) / -(before @ np.log2(before)))
        kept.append(share * (1 - released[one.key].null_count() / len(data)))
    return 1 - float(np.mean(kept))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--ordered", nargs="*", default=[])
    parser.add_argument("--random", type=int, default=200)
    parser.add_argument("--k", type=int)
    parser.add_argument("--share", type=float, default=0.05)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    data, scenario = problem(given.file, given.ordered, given.k)
    start, work = time.perf_counter(), time.process_time()
    found = sdc.propose(data, scenario=scenario, alternatives=0, share=given.share)
    took, work = time.perf_counter() - start, time.process_time() - work
    print(
        f"{found!r}\n{took:.1f} s, {work:.1f} s of the processor, bound {found.bound:.4f}, loss {found.loss:.4f}",
        flush=True,
    )
    start = time.perf_counter()
    beside = sdc.propose(data, scenario=scenario, share=given.share)
    print(f"with alternatives {time.perf_counter() - start:.1f} s", flush=True)
    for one in beside.alternatives:
        print(f"  {one.loss:.4f} {one.passed} {one.words}")
    lattice = open_lattice(data, scenario, keep=(), prefer={}, weights={}, internal=False)
    trials = at_aim(Trials(data, scenario, lattice, given.share, None), 1)
    if given.file == "guide":
        print(f"the recipe of the guide: {by_hand(data, scenario, lattice):.4f}", flush=True)
    losses, drawn = random_losses(trials, given.random)
    if losses:
        print(
            f"{len(losses)} random recipes of {drawn} drawn: best {min(losses):.4f}, median {np.median(losses):.4f}"
        )


if __name__ == "__main__":
    main()
