"""The proposed recipe beside random ones that hold every threshold, and beside a person's: the losses, and the time.

    python benchmarks/propose.py affairs guide [--random 200] [--losses information pmse model]
    python benchmarks/propose.py affairs guide CENSUS.csv --record "two cores (AMD EPYC, 24 GB)"

A file of one's own is taken to have the columns of the teaching file of the 2011 census: six keys, two intruders,
k = 5, l = 2 for health. Random recipes are drawn from the combinations that `propose` looks at, with suppression of the
rest; each counts for every loss. In every second one a coin says of each key whether it stays as it is: bands of
numbers alone are told from numbers for sure, and a regression cannot be fitted to them. They keep k and l, and any
number may be matched back; one that loses less than the proposed one is held against every threshold, and is not
counted where one does not hold. A recipe that a person wrote stands in the guide, for its own file; what its PRAM
changes is not counted.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
import polars as pl

import sdckit as sdc
from record import add_option, record
from sdckit.workflow.proposing.find_best import at_aim, measure_of, measured
from sdckit.workflow.proposing.trials import Trials, judge, open_lattice

CENSUS = {
    "neighbour": ["Region", "Sex", "Age", "Marital Status", "Ethnic Group"],
    "colleague": ["Region", "Sex", "Age", "Occupation", "Ethnic Group"],
}
BY_HAND = {"popul": [0, 10, 100, 1000, None], "age": [18, 30, 45, 60, 75, None], "income": [1, 8, 16, 21, 25]}
MODELS = {
    "affairs": ("religious ~ age + yrs_married + children + educ", "linear"),
    "guide": ("vote ~ age + educ + income", "logistic"),
    "census": ("Health ~ Age + Sex + Occupation", "linear"),
}
WORDS = {"information": "of what the keys tell", "pmse": "pMSE", "model": "1 less the overlap of intervals"}


def problem(name: str) -> tuple[pl.DataFrame, sdc.Scenario]:
    """A file and its scenario."""
    if name == "affairs":
        keys = ["age", "yrs_married", "children", "religious", "educ", "occupation"]
        return sdc.load_demo(), sdc.Scenario(
            intruders={"acquaintance": keys, "colleague": ["age", "children", "educ", "occupation"]},
            ordered=keys[:5], sensitive=["affairs"], thresholds={"k": 3, "match_risk": 1.0},
        )  # fmt: skip
    if name == "guide":
        import statsmodels.api as sm

        study = sm.datasets.anes96.load_pandas().data[["age", "educ", "income", "popul", "vote"]].astype(int)
        return pl.from_pandas(study), sdc.Scenario(
            intruders={"neighbour": ["age", "educ", "popul"], "colleague": ["age", "educ", "income"]},
            sampling_fraction=0.001, sensitive=["vote"], numeric=["popul"], ordered=["educ"],
            thresholds={"k": 3, "match_risk": 1.0},
        )  # fmt: skip
    data = pl.read_csv(name).drop("Person ID")
    return data, sdc.Scenario(
        intruders=CENSUS, ordered=["Age"], sensitive=["Health"], thresholds={"k": 5, "l": 2, "match_risk": 1.0}
    )


def lattice_of(data: pl.DataFrame, scenario: sdc.Scenario) -> Trials:
    """The combinations that are looked at by default."""
    lattice = open_lattice(data, scenario, keep=(), prefer={}, weights={}, internal=False)
    return at_aim(Trials(data, scenario, lattice, 1.0, None), 1)


def random_losses(
    trials: Trials, wanted: int, losses: dict[str, Any], best: dict[str, float]
) -> dict[str, list[float]]:
    """What random recipes that keep k and l lose; where that is less than `best`, every threshold holds."""
    rng, found = np.random.default_rng(1), {name: list[float]() for name in losses}
    for turn in range(100 * wanted):
        if len(found["information"]) >= wanted:
            break
        kept = [turn % 2 == 1 and bool(rng.integers(2)) for _ in trials.shape]
        node = tuple(
            0 if as_it_is else int(rng.integers(size)) for as_it_is, size in zip(kept, trials.shape, strict=True)
        )
        release = trials.tried(node) if trials.enough(node) else None
        if release is None:
            continue
        own = {
            name: trials.made[node].loss if loss is None else measured(loss, trials.data, release)
            for name, loss in losses.items()
        }
        less = any(own[name] < best[name] for name in losses)
        if less and not judge(trials.data, trials.scenario, trials.made[node], trials.how).passed:
            continue
        for name, value in own.items():
            found[name].append(value)
    return found


def by_hand(trials: Trials, losses: dict[str, Any]) -> dict[str, float]:
    """The losses of the recipe of the guide."""
    data = trials.data
    steps: list[dict[str, Any]] = [
        {"method": "recode", "column": name, "bands": bands} for name, bands in BY_HAND.items()
    ]
    recoded = sdc.Recipe(steps).apply(data, watch=False).data
    both = [{"method": "local_suppression", "intruder": name} for name in trials.scenario.intruders]
    released = sdc.Recipe([*steps, *both]).apply(data, scenario=trials.scenario, watch=False).data
    kept = []
    for one in trials.lattice.ladders:
        before, after = (frame[one.key].value_counts()["count"].to_numpy() / len(data) for frame in (data, recoded))
        share = float(-(after @ np.log2(after)) / -(before @ np.log2(before)))
        kept.append(share * (1 - released[one.key].null_count() / len(data)))
    information = 1 - float(np.mean(kept))
    return {name: information if loss is None else measured(loss, data, released) for name, loss in losses.items()}


def told(value: float) -> str:
    """A loss as the table prints it."""
    return "not fitted" if np.isinf(value) else f"{value:.3f}"


def rows_of(name: str, asked: list[str], wanted: int) -> list[list[str]]:
    """One file: a row for each loss."""
    data, scenario = problem(name)
    place = name if name in MODELS else "census"
    formula, family = MODELS[place]
    best, took, used = {}, {}, {}
    for loss in asked:
        model = {"formula": formula, "family": family} if loss == "model" else {}
        start, work = time.perf_counter(), time.process_time()
        found = sdc.propose(data, scenario=scenario, loss=loss, **model)
        took[loss], used[loss] = time.perf_counter() - start, time.process_time() - work
        best[loss] = found.measured
        print(f"{place}, {loss}: {found!r}", flush=True)
    trials = lattice_of(data, scenario)
    losses = {
        loss: measure_of(loss, formula if loss == "model" else None, family, data, scenario)
        for loss in dict.fromkeys(["information", *asked])
    }
    drawn = random_losses(trials, wanted, losses, {"information": 0.0, **best})
    person = by_hand(trials, losses) if name == "guide" else {}
    rows = []
    for loss in asked:
        beaten = sum(value < best[loss] - 1e-12 for value in drawn[loss])
        words = WORDS[loss] if loss != "model" else f"{WORDS[loss]}: `{formula}`"
        rows.append(
            [place, words, told(best[loss]), told(min(drawn[loss])), str(beaten),
             told(person[loss]) if person else "–", f"{used[loss]:.0f} s"]
        )  # fmt: skip
        print(" | ".join(rows[-1]), f"({len(drawn[loss])} random ones, {took[loss]:.0f} s by the clock)", flush=True)
    return rows


def main() -> None:
    """Print a row for each file and loss."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--losses", nargs="+", default=list(WORDS), choices=list(WORDS))
    parser.add_argument("--random", type=int, default=200)
    add_option(parser)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = [row for name in given.files for row in rows_of(name, given.losses, given.random)]
    if given.record is not None:
        record("proposals", given.record, rows)


if __name__ == "__main__":
    main()
