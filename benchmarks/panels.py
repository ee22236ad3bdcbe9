"""What it takes to follow people: all pairs and triples of the waves of a panel, and drawn sets of events.

    python benchmarks/panels.py [--persons 1000000] [--waves 8] [--people 100000] [--events 300] [--repeat 2]

A panel with three complete keys; the same with 1 % of two keys missing (any value); and purchases by day and shop, of
which sets of one, two and three are drawn, 200 of each of 10,000 people. Seconds of processor time, the least of the
repetitions, with the ratio to the complete panel, and the largest memory so far.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable

import numpy as np
import polars as pl

import sdckit as sdc


def panel(persons: int, waves: int) -> pl.DataFrame:
    """Three keys of 2, 9 and 9 levels in every wave."""
    rng, n = np.random.default_rng(1), persons * waves
    keys = {name: rng.integers(0, levels, n).astype(np.int8) for name, levels in (("a", 2), ("b", 9), ("c", 9))}
    return pl.DataFrame({"who": np.repeat(np.arange(persons), waves), "t": np.tile(np.arange(waves), persons), **keys})


def with_gaps(frame: pl.DataFrame) -> pl.DataFrame:
    """The same with 1 % of two keys missing."""
    rng = np.random.default_rng(2)
    kept = {name: pl.Series(rng.random(len(frame)) > 0.01) for name in "bc"}
    return frame.with_columns(pl.when(mask).then(pl.col(name)).alias(name) for name, mask in kept.items())


def purchases(people: int, events: int) -> pl.DataFrame:
    """A year of purchases in a thousand shops, of which the r-th has 1/r of the customers of the first."""
    rng, n = np.random.default_rng(3), people * events
    share = 1 / np.arange(1, 1001)
    return pl.DataFrame(
        {
            "who": np.repeat(np.arange(people), events),
            "day": rng.integers(0, 365, n).astype(np.int16),
            "shop": rng.choice(1000, n, p=share / share.sum()).astype(np.int16),
        }
    )


def least(call: Callable[[], object], repeat: int) -> float:
    """Processor seconds of the cheapest call."""
    seconds = []
    for _ in range(repeat):
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("persons", 1_000_000), ("waves", 8), ("people", 100_000), ("events", 300), ("repeat", 2)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()

    def followed(frame: pl.DataFrame) -> object:
        return sdc.known_points(frame, person="who", time="t", keys=["a", "b", "c"], points=(2, 3))

    def searched(frame: pl.DataFrame) -> object:
        return sdc.known_points(frame, person="who", time="day", keys=["shop"], seed=1)

    complete = panel(options.persons, options.waves)
    rows = (
        ("panel, complete keys", followed, lambda: complete),
        ("panel, 1 % of two keys missing", followed, lambda: with_gaps(complete)),
        ("events, drawn sets", searched, lambda: purchases(options.people, options.events)),
    )
    first = 0.0
    for name, call, make in rows:
        frame = make()
        call(frame[: 100 * options.waves])  # compiled before the clock starts
        took = least(lambda call=call, frame=frame: call(frame), options.repeat)
        first = first or took
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"{took:7.2f} s  {took / first:5.2f} x  {memory:5.2f} GB  {name}", flush=True)


if __name__ == "__main__":
    main()
