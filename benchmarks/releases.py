"""A release held against earlier ones of a ledger: processor seconds that the ledger adds to a check.

    python benchmarks/releases.py [--records 1000000] [--earlier 5] [--keys 7] [--turns 2] [--linked]

People with keys in several codings and a job in codes or names; every release codes them anew, so that nothing but the
ids of the ledger says which codes belong together. With --linked the ids go out, and all releases are joined. The asked
20 s are for a million records, seven keys and five earlier releases. Printed are the ratio to a check without a ledger
and the seconds over it, the least of some turns.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

import sdckit as sdc


def people(n: int, keys: int) -> pl.DataFrame:
    """Records with an id, keys of 2 to 40 levels and a job."""
    rng = np.random.default_rng([20261125, n])
    made = {f"key{at}": rng.integers(0, (40, 4, 10, 5, 8, 16, 3)[at % 7], n) for at in range(keys)}
    return pl.DataFrame({"id": rng.permutation(n), **made, "job": rng.integers(0, 20, n)})


def released(data: pl.DataFrame, at: int) -> pl.DataFrame:
    """The release of a year: two keys coarser, the job in another coding."""
    names = [name for name in data.columns if name.startswith("key")]
    coarser = [(pl.col(names[(at + step) % len(names)]) // 2).alias(names[(at + step) % len(names)]) for step in (0, 3)]
    job = (pl.col("job"), pl.format("job {}", pl.col("job") // 2), pl.format("job {}", pl.col("job")))[at % 3]
    return data.with_columns(*coarser, job.alias("job")).sample(fraction=1.0, shuffle=True, seed=at)


def seconds(run: Callable[[], object]) -> float:
    """Processor seconds of a call."""
    start = time.process_time()
    run()
    return time.process_time() - start


def main() -> None:
    """Add the earlier releases, and check the last with and without them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--earlier", type=int, default=5)
    parser.add_argument("--keys", type=int, default=7)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--linked", action="store_true")
    given = parser.parse_args()
    data = people(given.records, given.keys)
    keys = [name for name in data.columns if name.startswith("key")]
    with tempfile.TemporaryDirectory() as folder:
        place = {"folder": f"{folder}/ledger", "key": f"{folder}/ledger.key"}
        roles = {"keys": keys, "sensitive": ["job"], "thresholds": {"k": 2, "differencing": 1.0}}
        roles |= {} if given.linked else {"identifiers": ["id"]}
        plain, beside = sdc.Scenario(**roles), sdc.Scenario(**roles, ledger={**place, "id": "id"})
        ledger = sdc.ReleaseLedger.create(**place, survey="Survey")
        for at in range(given.earlier):
            before = time.process_time()
            ledger = ledger.add(released(data, at), name=f"year {at}", scenario=beside, id="id")
            print(f"added year {at}: {time.process_time() - before:.1f} s")
        size = sum(file.stat().st_size for file in Path(place["folder"]).iterdir())
        print(f"the ledger has {size / 1e6:,.0f} MB")
        now = released(data, given.earlier)
        small = now.head(2000)
        for scenario in (plain, beside):
            sdc.check(small, scenario=scenario)  # compiled before
        times = [(seconds(lambda: sdc.check(now, scenario=plain)), seconds(lambda: sdc.check(now, scenario=beside)))
                 for _ in range(given.turns)]  # fmt: skip
    without, with_ledger = (min(column) for column in zip(*times, strict=True))
    print(f"check without a ledger {without:.1f} s, with {given.earlier} releases {with_ledger:.1f} s: "
          f"{with_ledger - without:.1f} s more, {with_ledger / without:.1f} times")  # fmt: skip
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.1f} GB")


if __name__ == "__main__":
    main()
