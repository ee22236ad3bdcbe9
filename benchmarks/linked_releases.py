"""Columns that link two releases only together: processor seconds of finding them, and of all that is judged.

    python benchmarks/linked_releases.py [--records 1000000] [--others]

Two waves of the same people by twelve columns, none of which tells people apart and eight of which change with some of
them; with --others the second wave is about other people of the same population. Printed are the columns, the people
linked, how many of these links are right by estimate and in truth, and processor seconds: of the search, and of
`differencing` with it.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import polars as pl

import sdckit as sdc
from sdckit.attacks.differencing.several_columns import link_by_several

CHANGING = {"school": 0.02, "job": 0.1, "children": 0.1, "status": 0.1, "income": 0.9, "size": 0.2, "health": 0.5,
            "month": 1.0}  # fmt: skip


def people(n: int, seed: int) -> pl.DataFrame:
    """A sample of one population of persons, whose columns depend on each other."""
    rng = np.random.default_rng([20261126, n, seed])
    birth = (1940 + rng.beta(2, 2, n) * 65).astype(int)
    school = np.clip((rng.normal(3, 1.5, n) + (birth - 1970) / 30).astype(int), 0, 7)
    children = rng.poisson(np.where(birth > 1995, 0.2, 1.8))
    job = np.where(birth < 1952, 71, np.clip(school * 8 + rng.geometric(0.15, n), 0, 70))
    status = np.where(rng.random(n) < 0.6, children > 0, rng.integers(0, 4, n))
    return pl.DataFrame({
        "region": rng.choice(16, n, p=np.arange(1, 17) / 136), "birth": birth, "sex": rng.integers(0, 2, n),
        "school": school, "job": job, "children": children, "status": status,
        "nation": rng.choice(30, n, p=[0.8, *[0.2 / 29] * 29]),
        "income": (np.exp(rng.normal(7 + school * 0.1, 0.6, n)) // 50).astype(int),
        "size": np.clip(children + 1 + (status == 1), 1, 8), "health": rng.integers(0, 5, n),
        "month": rng.integers(0, 12, n),
    })  # fmt: skip


def main() -> None:
    """Make two waves, link them, and print what that took."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--others", action="store_true")
    given = parser.parse_args()
    n, rng = given.records, np.random.default_rng(1)
    first, drawn = people(n, 1), people(n, 2)
    who = rng.permutation(n)
    kept = first.with_columns(
        pl.when(pl.Series(rng.random(n) < share)).then(drawn[name]).otherwise(name).alias(name)
        for name, share in CHANGING.items()
    )
    second = drawn if given.others else kept[who]
    codes = [[file[name].to_numpy().astype(np.int64) + 1 for name in file.columns] for file in (second, first)]
    start = time.process_time()
    found, _ = link_by_several(*codes)
    searched = time.process_time() - start
    if found is None:
        print(f"{n:,} records × {len(first.columns)}: nobody linked; search {searched:.1f} s")
    else:
        columns = ", ".join(first.columns[at] for at in found.columns)
        true = (who[found.here] == found.there).mean()
        print(f"{n:,} records × {len(first.columns)}: {len(found.here):,} linked by {columns}; right {found.right:.3f} "
              f"by estimate, {true:.3f} in truth; search {searched:.1f} s")  # fmt: skip
    start = time.process_time()
    sdc.differencing(second, earlier=first, keys=["region", "birth", "sex"], sensitive=["job"])
    print(f"differencing with it {time.process_time() - start:.1f} s")


if __name__ == "__main__":
    main()
