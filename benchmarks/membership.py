"""Membership: what the calibrated ratio costs beside the distance, on each engine, and beside sums by NumPy.

    python benchmarks/membership.py [--records 100000] [--engines polars,pyarrow,duckdb] [--repeat 1] [--targets 20]

Files of the benchmarks of all measures: as many records in the release as in the original, half as many in the control
file, nine variables. Seconds of processor time, all threads counted, the least of the repetitions; what is compiled is
warm. Every engine must find the same. The sums by NumPy are of a few targets, whose densities must be the same, too.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import polars as pl

import sdckit as sdc
from pace import NAMES, people
from sdckit.attacks.distances.density_ratio import KernelRows, kernel_rows, log_density

WARM = 1_000


def as_engine(frame: pl.DataFrame, engine: str) -> Any:
    """The records as a frame of an engine; of DuckDB a relation."""
    if engine == "polars":
        return frame
    table = frame.to_arrow()
    if engine == "pyarrow":
        return table
    if engine == "pandas":
        return frame.to_pandas()
    import duckdb

    return duckdb.connect().from_arrow(table)


def least(call: Callable[[], Any], repeat: int) -> tuple[float, Any]:
    """Processor seconds of the cheapest call, and what it returned."""
    seconds, result = [], None
    for _ in range(repeat):
        start = time.process_time()
        result = call()
        seconds.append(time.process_time() - start)
    return min(seconds), result


def summed(targets: KernelRows, rows: KernelRows) -> np.ndarray:
    """Logarithm of the mean product of kernels, one target after the other, by NumPy."""
    out = []
    p = len(targets.numbers)
    for i in range(targets.numbers.shape[1]):
        away = np.abs(targets.numbers[:, i, None] - rows.numbers).sum(axis=0)
        alike = targets.codes[:, i, None] == rows.codes
        logs = np.where(alike, rows.same[p:, None], rows.other[p:, None]).sum(axis=0) - away
        out.append(np.log(np.exp(logs - logs.max()).mean()) + logs.max())
    return np.array(out)


def beside_numpy(original: pl.DataFrame, release: pl.DataFrame, n_targets: int, repeat: int) -> None:
    """Print what a target costs, and what it costs by NumPy."""
    files = (original.head(n_targets), release)
    numbers = [name for name in NAMES if original[name].dtype.is_numeric()]
    codes = [[pl.Series(file[name]).cast(pl.Categorical).to_physical().to_numpy() for file in files] for name in NAMES
             if name not in numbers]  # fmt: skip
    targets, rows = kernel_rows([[file[name].to_numpy().astype(float) for file in files] for name in numbers], codes)
    log_density(targets, rows)
    own, found = least(lambda: log_density(targets, rows), repeat)
    plain, expected = least(lambda: summed(targets, rows), repeat)
    assert np.allclose(found, expected, rtol=0, atol=1e-9)
    pairs = n_targets * release.height
    print(f"a pair {1e9 * own / pairs:.2f} ns, by NumPy {1e9 * plain / pairs:.2f} ns ({plain / own:.1f} ×)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("records", 100_000), ("repeat", 1), ("targets", 20)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--engines", default="polars,pyarrow,duckdb")
    options = parser.parse_args()
    n = options.records
    files = people(n), people(n, 3), people(max(n // 2, WARM), 4)
    first = None
    for engine in options.engines.split(","):
        took = {}
        for score in ("distance", "both"):
            for records in (WARM, n):
                original, release, control = (as_engine(file.head(records), engine) for file in files)
                call = partial(sdc.membership, original, release, control=control, variables=NAMES, score=score, seed=5)
                took[score], result = least(call, options.repeat)
        found = (result.auc, result.ratio_auc, *result.tpr.values())
        first = first or found
        assert np.allclose(found, first, rtol=0, atol=1e-12), engine
        times = took["both"] / took["distance"]
        print(f"{engine}: {n:,} records, distance {took['distance']:.1f} s, both {took['both']:.1f} s ({times:.1f} ×)")
    beside_numpy(files[0], files[1], options.targets, options.repeat)


if __name__ == "__main__":
    main()
