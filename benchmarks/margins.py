"""Files from protected margins beside synthesis by trees: time, memory, what their tables keep, and what they tell.

    python benchmarks/margins.py [--records 50000] [--rounds 3] [--risk] [--large]

Sixteen columns of a census with a declared domain, δ = 10⁻⁶: `synthesize_margins` at ε = 0.3, 1 and 3, counts rounded
to 10 in the tables that ε = 1 chose, `synthesize` by trees and a 5 % sample, in turns. Processor seconds of all threads
(median), ratios to trees, and the k-marginal of two- and three-way tables (mean). With `--risk` the share of members
that the calibrated ratio of `membership` finds at a rate of false alarms of 1 %, beside as many others (up to 5,000 of
each scored; mean), and the lower bound on ε of 200 coins (largest of the rounds). With `--large` once a million records
of thirty columns: processor seconds and the largest memory of the process.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import polars as pl

import sdckit as sdc
from census import KEYS_ALL, census

PROMISE: dict[str, Any] = {"epsilon": 1, "delta": 1e-6}
WANTED = 16
COINS = 100  # half of them
Make = Callable[[pl.DataFrame], pl.DataFrame]


def people(n: int) -> tuple[pl.DataFrame, sdc.Domain]:
    """The keys of the census in coarse groups, six answers that follow from them, and their domain."""
    rng = np.random.default_rng([20261125, n])
    known = census(n, missing=0.01).select(KEYS_ALL)
    coarse = known.with_columns(pl.col("age") // 11, pl.col("region") // 4, pl.col("occ") // 4, pl.col("cob") // 5)
    codes = coarse.fill_null(0).to_numpy().astype(float)
    answers = {}
    for i in range(WANTED - len(KEYS_ALL)):
        score = codes[:, rng.choice(len(KEYS_ALL), 3, replace=False)] @ rng.normal(size=3) + rng.normal(size=n)
        cuts = np.quantile(score, np.sort(rng.random(2 + i)))
        answers[f"answer_{i}"] = np.searchsorted(cuts, score)
    data = coarse.cast(pl.Int64).with_columns(**{name: pl.Series(values) for name, values in answers.items()})
    columns = (sdc.DomainColumn(c, "integer", levels=tuple(range(data[c].max() + 1))) for c in data.columns)
    return data, sdc.Domain(tuple(columns))


def many(n: int, p: int) -> tuple[pl.DataFrame, sdc.Domain]:
    """Columns of 2 to 20 levels that follow from three hidden numbers, and their domain."""
    rng = np.random.default_rng([20261125, n, p])
    hidden = rng.normal(size=(n, 3))
    columns, declared = {}, []
    for i in range(p):
        score, levels = hidden @ rng.normal(size=3) + rng.normal(size=n), int(rng.integers(2, 21))
        columns[f"v{i}"] = np.searchsorted(np.quantile(score[:100_000], np.arange(1, levels) / levels), score)
        declared.append(sdc.DomainColumn(f"v{i}", "integer", levels=tuple(range(levels))))
    return pl.DataFrame(columns), sdc.Domain(tuple(declared))


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds of one call, and what it gives."""
    start = time.process_time()
    made = call()
    return time.process_time() - start, made


def makers(domain: sdc.Domain, kept: list[tuple[str, ...]]) -> dict[str, Make]:
    """The ways to make a file; `kept`: the tables of the last at ε = 1, which are rounded in the next."""

    def margins(data: pl.DataFrame, epsilon: float) -> pl.DataFrame:
        made = sdc.synthesize_margins(data, domain=domain, epsilon=epsilon, delta=PROMISE["delta"])
        if epsilon == 1:
            kept[:] = made.change.kept
        return made.data

    return {
        "trees": lambda data: sdc.synthesize(data, seed=1).data,
        **{f"margins, ε = {epsilon:g}": partial(margins, epsilon=epsilon) for epsilon in (0.3, 1, 3)},
        "margins, rounded to 10": lambda data: (
            sdc.synthesize_margins(data, domain=domain, protect="coarsen", base=10, cliques=kept).data
        ),
        "a 5 % sample": lambda data: data.sample(fraction=0.05),
    }


def tables(data: pl.DataFrame, made: pl.DataFrame) -> tuple[float, float]:
    """k-marginal of two-way and three-way tables."""
    two, three = (sdc.tabular_utility(data, made, ways=ways).k_marginal for ways in (2, 3))
    return two, three


def found(data: pl.DataFrame, made: pl.DataFrame, others: pl.DataFrame, seed: int) -> float:
    """Share of the members found at a rate of false alarms of 1 %."""
    ratio = sdc.membership(data, made, control=others, numeric=[], n_attacks=5000, score="ratio", seed=seed)
    return float(ratio.detections[0].tpr)


def bound(data: pl.DataFrame, make: Make, seed: int) -> float:
    """What coins bound the ε by from below, planted in a file of its own."""
    planted = sdc.canaries(data, n=COINS, coins=True, numeric=[], seed=seed)
    return float(planted.exposure(make(planted.data)).epsilon_low or 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--risk", action="store_true")
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    everybody, domain = people(2 * options.records)
    everybody = everybody.sample(fraction=1, shuffle=True, seed=1)
    data, others = everybody[: options.records], everybody[options.records :]
    kept: list[tuple[str, ...]] = []
    calls = makers(domain, kept)
    for call in calls.values():  # what is compiled is warm
        call(data.head(1000))
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    scores: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    risks: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for seed in range(options.rounds):
        for name, call in calls.items():
            spent, made = timed(partial(call, data))
            seconds[name].append(spent)
            scores[name].append(tables(data, made))
            if options.risk:
                risks[name].append((found(data, made, others, seed), bound(data, call, seed)))
    print(f"{options.records:,} records, {data.width} columns")
    base = statistics.median(seconds["trees"])
    for name, measured in seconds.items():
        two, three = np.mean(scores[name], axis=0)
        median = statistics.median(measured)
        line = f"{name:<24}{median:8.2f} s{median / base:8.2f} x   2-way {two:6.1f}   3-way {three:6.1f}"
        if risks[name]:
            members, coins = zip(*risks[name], strict=True)
            line += f"   members {np.mean(members):6.2%}   ε at least {max(coins):.2f}"
        print(line)
    if options.large:
        data, domain = many(1_000_000, 30)
        spent, _ = timed(lambda: sdc.synthesize_margins(data, domain=domain, **PROMISE))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"1,000,000 records, 30 columns: {spent:.1f} s, {memory:.1f} GB at most")


if __name__ == "__main__":
    main()
