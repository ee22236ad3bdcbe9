"""Closeness before and after, `k_map` and `delta_presence` of files whose cells are counted in parts.

    python benchmarks/scale_people.py [--n 1e6] [--engines memory,duckdb] [--memory 700MB] [--data census-{n}.parquet]

Original and release are those of `scale_release.py`; the file in its population is one half of the original. Bare is
grouping both files by the seven keys with sums of weights, in the same run. Figures are checked equal to those in
memory where that runs, too.
"""

from __future__ import annotations

import json
import resource
import warnings
from pathlib import Path
from typing import Any

import polars as pl

import sdckit as sdc
from census import KEYS
from each_engine import compare_engines, options_of
from scale import grouped
from scale_release import SENSITIVE, both, compared, flat, now

CLOSE = ("t_closeness", "beta_likeness", "delta_disclosure", "alpha_k", "l_diversity")


def half(engine: str, file: Any) -> Any:
    """Every other record of a file."""
    if engine == "duckdb":
        return file.filter("pid % 2 = 0")
    return file.filter("pid % 2 = 0") if engine == "spark" else file.filter(pl.col("pid") % 2 == 0)


def one_engine(engine: str, path: Path, repeats: int, memory: str) -> None:
    """Time an engine, and print what it gave as JSON."""
    warnings.simplefilter("ignore")
    files = both(engine, path, memory)
    warm = sdc.load_demo().with_columns(pl.lit(1.0).alias("w"))
    for name in CLOSE:  # compiled
        getattr(sdc, name)(warm, keys=["age", "educ"], sensitive="religious")
    told: dict[str, Any] = {"bare": [], "whole": [], "seconds": {}, "figures": {}, "code": 0, "check": [0, 0]}
    for file in files:
        grouped(engine, file)
    for _ in range(repeats):
        start = now()
        for file in files:
            grouped(engine, file)
        told["bare"].append((now() - start).tolist())
        whole = now()
        for at, file in enumerate(files):
            start = now()
            cells = sdc.as_cells(file, scenario=sdc.Scenario(keys=KEYS, sensitive=SENSITIVE), missing="category")
            told["seconds"].setdefault(f"counting of file {at}", []).append((now() - start).tolist())
            for name in CLOSE:
                start = now()
                result = getattr(sdc, name)(cells, sensitive=SENSITIVE)
                told["figures"][f"{name} {at}"] = flat(result.to_dict()["figures"])
                told["seconds"].setdefault(f"{name} {at}", []).append((now() - start).tolist())
            del cells, result
        start = now()
        some = sdc.as_cells(half(engine, files[0]), keys=KEYS, missing="category")
        told["seconds"].setdefault("counting of the half", []).append((now() - start).tolist())
        for name in ("k_map", "delta_presence"):
            start = now()
            told["figures"][name] = flat(getattr(sdc, name)(some, files[0]).to_dict()["figures"])
            told["seconds"].setdefault(name, []).append((now() - start).tolist())
        told["whole"].append((now() - whole).tolist())
    told["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps(told))


def main() -> None:
    """Run every engine at every size asked."""
    options = options_of(__doc__, n="1e6", repeats=1, memory="700MB")
    compare_engines("scale_people", __file__, options, one_engine, compared)


if __name__ == "__main__":
    main()
