"""What subgroups and bootstrap intervals cost beside the measure itself, in the same run.

    python benchmarks/subgroups.py [--records 1000000] [--repeat 3]

Individual risk of a million records with five keys: alone, with the figures of some 200 subgroups, with the bootstrap
intervals of 200 resamples; and alone and with subgroups as a plan on DuckDB. Best of the repetitions, and the ratio
to the measure alone.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import polars as pl

import sdckit as sdc

KEYS = {"sex": 2, "age": 90, "region": 20, "job": 50, "status": 5}


def survey(n: int) -> pl.DataFrame:
    """Keys of unequal frequency, a weight, and ten districts to a region."""
    rng = np.random.default_rng(1)
    columns = {name: (levels * rng.random(n) ** 1.5).astype(np.int32) for name, levels in KEYS.items()}
    district = columns["region"] * 10 + rng.integers(0, 10, n)
    return pl.DataFrame({**columns, "district": district, "weight": rng.uniform(5, 50, n)})


def best(call: Callable[[], object], repeat: int) -> float:
    """Seconds of the fastest call."""
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    import duckdb

    people = survey(options.records)
    connection = duckdb.connect()
    connection.from_arrow(people.to_arrow()).create("people")
    given = {"keys": [*KEYS], "weight": "weight"}

    def alone(data: object) -> float:
        return sdc.individual_risk(data, **given).global_risk

    def grouped(data: object) -> object:
        found = sdc.individual_risk(data, **given, by="district")
        return found.global_risk, found.by_group

    def drawn(data: object) -> float:
        return sdc.individual_risk(data, **given, interval="bootstrap", seed=1).global_risk

    def plan() -> object:
        return connection.table("people")

    alone(people[:1000])  # compiled before the clock starts
    rows = {
        "in memory": (people, {"by=district": grouped, 'interval="bootstrap"': drawn}),
        "DuckDB": (None, {"by=district": grouped}),
    }
    for place, (data, calls) in rows.items():
        first = best(lambda data=data: alone(plan() if data is None else data), options.repeat)
        print(f"{first:7.2f} s          {place}, alone", flush=True)
        for name, call in calls.items():
            took = best(lambda call=call, data=data: call(plan() if data is None else data), options.repeat)
            print(f"{took:7.2f} s  {took / first:5.2f} x  {place}, {name}", flush=True)


if __name__ == "__main__":
    main()
