"""The proposed recipe beside random ones that hold every threshold, and beside a person's: the loss, and the time.

    python benchmarks/propose.py affairs|guide [--random 200] [--k 3]
    python benchmarks/propose.py guide --loss model --formula "vote ~ age + educ + income" --family logistic
    python benchmarks/propose.py FILE.csv --ordered Age --random 200

A file of one's own is taken to have the columns of the teaching file of the 2011 census: six keys, two intruders,
k = 5, l = 2 for health. Random recipes are drawn evenly from the combinations that `propose` looks at, with
suppression of the rest. They keep k and l; those that lose less than the proposed one are held against every
threshold.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from typing import Any

import numpy as np
import polars as pl

import sdckit as sdc
from sdckit.workflow.proposing.finding import at_aim
from sdckit.workflow.proposing.judging import judge
from sdckit.workflow.proposing.losses import measure_of
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


def random_losses(
    trials: Trials, wanted: int, loss: Any, best: float
) -> tuple[list[tuple[float, float]], int]:
    """Losses of random recipes, by the keys and by `loss`, and how many were drawn.

    They keep k and l; those better than `best` hold every threshold, too.
    """
    rng, found, drawn = np.random.default_rng(1), [], 0
    while len(found) < wanted and drawn < 100 * wanted:
        drawn += 1
        node = tuple(int(rng.integers(size)) for size in trials.shape)
        release = trials.tried(node) if trials.enough(node) else None
        if release is None:
            continue
        try:
            own = trials.made[node].loss if loss is None else float(loss(trials.data, release))
        except sdc.SdcError:
            own = math.inf
        if own < best and not judge(trials.data, trials.scenario, trials.made[node], trials.how).passed:
            continue
        found.append((trials.made[node].loss, own))
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
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--loss", default="information")
    parser.add_argument("--formula")
    parser.add_argument("--family", default="linear")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    data, scenario = problem(given.file, given.ordered, given.k)
    how = {"share": given.share, "loss": given.loss, "formula": given.formula, "family": given.family}
    start, work = time.perf_counter(), time.process_time()
    found = sdc.propose(data, scenario=scenario, **how)
    took, work = time.perf_counter() - start, time.process_time() - work
    print(
        f"{found!r}\n{took:.1f} s, {work:.1f} s of the processor, bound {found.bound:.4f}, loss {found.loss:.4f}, "
        f"rests on missing values: {found.resting:.3f}; {given.loss} {found.measured:.6f}",
        flush=True,
    )
    for one in found.alternatives:
        print(f"  {one.loss:.4f} {one.passed} {one.words}", flush=True)
    lattice = open_lattice(data, scenario, keep=(), prefer={}, weights={}, internal=False)
    trials = at_aim(Trials(data, scenario, lattice, given.share, None), 1)
    if given.file == "guide":
        print(f"the recipe of the guide: {by_hand(data, scenario, lattice):.4f}", flush=True)
    loss = measure_of(given.loss, given.formula, given.family, data, scenario)
    pairs, drawn = random_losses(trials, given.random, loss, found.measured)
    for name, losses in zip(("information", given.loss), zip(*pairs, strict=True), strict=False):
        print(
            f"{name} of {len(losses)} random recipes of {drawn}: best {min(losses):.6f}, median {np.median(losses):.6f}"
        )


if __name__ == "__main__":
    main()
