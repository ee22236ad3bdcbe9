"""What the quality of a release costs on every engine: its tables by group, and the edit rules it breaks.

    python benchmarks/quality.py [--records 1e6] [--engines polars,pandas,pyarrow,lazy,duckdb,spark] [--repeats 1]
                                 [--record MACHINE]

All two-way tables of eight variables of a census by region (`tabular_utility(by=)`), and ten edit rules
(`edit_rules`), of a file and a release of it. Beside them, before each: the group-bys of the same tables, and the
conditions of the same rules as expressions, in Polars and in memory. Every engine is given the same files, and its
figures are checked equal to those of the first; a plan brings the columns asked for. Processor seconds of the fastest
call, after one of each on few records; those of Spark are left out of the table, since most of it runs in the JVM.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

import sdckit as sdc
from census import KEYS_ALL, census
from record import add_option, record
from scale import opened

VARIABLES = KEYS_ALL[1:9]
GROUP = KEYS_ALL[0]
# By column, condition and least value: people below an age hold, from it on, no more than so much.
LIMITS = [("marital", 18, 0), ("educ", 6, 0), ("educ", 16, 1), ("occ", 16, 0)]
HEADS = {"polars": "Polars", "pandas": "pandas", "pyarrow": "PyArrow", "lazy": "Polars lazy", "duckdb": "DuckDB"}


def rules() -> list[dict[str, Any]]:
    """Ten rules: four on age, and that whoever holds no job has no occupation, by status."""
    of_age = [
        {"column": column, "when": {"age": {"below": age}}, "value": {"at_most": most}} for column, age, most in LIMITS
    ]
    of_status = [{"column": "occ", "when": {"labour": status}, "value": 0} for status in (2, 3, 4, 5)]
    both = {"age": {"at_most": 66, "at_least": 16}}
    return [*of_age, *of_status, {"column": "labour", "when": both, "value": [0, 1, 2, 3]},
            {"column": "marital", "when": {"hhsize": 0, "age": {"above": 17}}, "value": [0, 2, 3, 4]}]  # fmt: skip


def bare_tables(frames: list[pl.DataFrame]) -> list[int]:
    """The same tables as bare group-bys, of both files, with the group and without."""
    pairs = list(itertools.combinations(VARIABLES, 2))
    return [
        frame.group_by([*beside, *pair]).len().height for beside in ([GROUP], []) for pair in pairs for frame in frames
    ]


def bare_rules(frames: list[pl.DataFrame]) -> list[float]:
    """The shares of records that break the rules, of both files, as expressions."""
    broken = [((pl.col("age") < age) & (pl.col(column) > most)).fill_null(value=False) for column, age, most in LIMITS]
    broken += [((pl.col("labour") == status) & (pl.col("occ") != 0)).fill_null(value=False) for status in (2, 3, 4, 5)]
    grown = pl.col("age").is_between(16, 66)
    broken.append((grown & ~pl.col("labour").is_in([0, 1, 2, 3])).fill_null(value=False))
    alone = (pl.col("hhsize") == 0) & (pl.col("age") > 17)
    broken.append((alone & ~pl.col("marital").is_in([0, 2, 3, 4])).fill_null(value=False))
    named = [flags.mean().alias(str(number)) for number, flags in enumerate(broken)]
    return [share for frame in frames for share in frame.select(named).row(0)]


def given(engine: str, frame: pl.DataFrame, path: Path) -> Any:
    """A file as a frame of an engine."""
    if engine == "polars":
        return frame
    if engine == "pandas":
        return frame.to_pandas()
    if engine == "pyarrow":
        return frame.to_arrow()
    frame.write_parquet(path)
    return opened("polars" if engine == "lazy" else engine, path, "4GB")


def tables(original: Any, released: Any) -> list[float]:
    """The score of all tables, of each group, and the sample."""
    found = sdc.tabular_utility(original, released, variables=VARIABLES, numeric=[], by=GROUP)
    return [found.k_marginal, found.sample_equivalent, *(group.k_marginal for group in found.groups)]


def broken(original: Any, released: Any) -> list[float]:
    """The shares of each rule."""
    found = sdc.edit_rules(original, released, rules=rules())
    return [share for row in found.shares[0] for share in row[:2]]


def best(call: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Processor seconds of the fastest call, and what it gave."""
    seconds, result = [], None
    for _ in range(repeats):
        start = time.process_time()
        result = call()
        seconds.append(time.process_time() - start)
    return min(seconds), result


def options_of(doc: str | None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=lambda text: int(float(text)), default=1_000_000)
    parser.add_argument("--engines", default="polars,pandas,pyarrow,lazy,duckdb,spark")
    parser.add_argument("--repeats", type=int, default=1)
    add_option(parser)
    return parser.parse_args()


def main() -> None:
    """Time every engine asked."""
    options = options_of(__doc__)
    columns = [GROUP, *VARIABLES]
    frames = [census(options.records, seed=seed)[columns] for seed in (1, 101)]
    few = [frame.head(1000) for frame in frames]
    works = (("tabular_utility(by=)", tables, bare_tables), ("edit_rules", broken, bare_rules))
    expected: dict[str, list[float]] = {}
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory() as folder:
        for engine in options.engines.split(","):
            pair = [given(engine, frame, Path(folder) / f"{engine}-{j}.parquet") for j, frame in enumerate(frames)]
            words = HEADS.get(engine, "Spark, `local[2]`")
            rows.append([words])
            for name, measure, bare in works:
                measure(*few)
                bare(few)
                alone, counted = best(lambda bare=bare: bare(frames), options.repeats)
                took, found = best(lambda measure=measure, pair=pair: measure(*pair), options.repeats)
                if name == "edit_rules":
                    by_file = [*found[::2], *found[1::2]]
                    assert all(abs(a - b) < 1e-12 for a, b in zip(by_file, counted, strict=True)), (engine, name)
                same = expected.setdefault(name, found)
                assert all(abs(a - b) < 1e-9 for a, b in zip(same, found, strict=True)), (engine, name)
                rows[-1] += [f"{took:.2f} s", f"{alone:.2f} s", f"{took / alone:.2f}"]
            print("  ".join(rows[-1]), flush=True)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB")
    if options.record:
        record("quality", options.record, [row for row in rows if "Spark" not in row[0]])


if __name__ == "__main__":
    main()
