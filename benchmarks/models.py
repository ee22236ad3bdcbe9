"""Population models and key contributions: time and memory, beside one Polars group-by on the same keys.

    python benchmarks/models.py [--records 1000000] [--repeats 3]

Eight keys: the seven of ``census.py`` and a place of origin by household, about 2.5 billion possible cells. Times are
medians of runs in turn within one process, ratios medians of those of each turn; the peak of memory is of a
process that does that one thing (Linux). "Matched": missing key values match any value, 1 % in seven keys.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

import sdckit as sdc
from census import KEYS, census

EIGHT = [*KEYS, "origin"]
FRACTION = 0.01
MODELS = (
    "group-by", "population_risk", "population_uniques",
    "f, F", "key_contributions", "f, F matched", "key_contributions matched",
)  # fmt: skip


def people(n: int) -> pl.DataFrame:
    """Records with eight keys."""
    spread = pl.col("hid") * 7919 % 1000
    place = pl.when(spread < 700).then(0).otherwise(1 + (spread - 700) // 12)
    return census(n).with_columns(origin=place.cast(pl.UInt8)).select([*EIGHT, "w"])


def grouped(frame: pl.DataFrame) -> pl.DataFrame:
    """Count and weigh the cells by one Polars group-by."""
    return frame.group_by(EIGHT).agg(pl.len(), pl.col("w").sum())


def task(name: str, frame: pl.DataFrame) -> Callable[[], Any]:
    """What is timed under a name."""
    known, weighed = {"keys": EIGHT, "sampling_fraction": FRACTION}, {"keys": EIGHT, "weight": "w"}
    return {
        "group-by": lambda: grouped(frame),
        "population_risk": lambda: sdc.population_risk(frame, **known).to_dict(),
        "population_uniques": lambda: sdc.population_uniques(frame, **known).to_dict(),
        "f, F": lambda: sdc.key_frequencies(frame, **weighed, missing="category").to_dict(),
        "key_contributions": lambda: sdc.key_contributions(frame, **weighed, missing="category").to_dict(),
        "f, F matched": lambda: sdc.key_frequencies(frame, **weighed).to_dict(),
        "key_contributions matched": lambda: sdc.key_contributions(frame, **weighed).to_dict(),
    }[name]


def interleaved(frame: pl.DataFrame, repeats: int) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Seconds and processor seconds of each, run in turn after one warm-up."""
    seconds: dict[str, list[float]] = {name: [] for name in MODELS}
    processor: dict[str, list[float]] = {name: [] for name in MODELS}
    for round_number in range(repeats + 1):
        for name in MODELS:
            run = task(name, frame)
            start, used = time.perf_counter(), time.process_time()
            run()
            if round_number:
                seconds[name].append(time.perf_counter() - start)
                processor[name].append(time.process_time() - used)
    return seconds, processor


def ratios(seconds: dict[str, list[float]], name: str, other: str) -> tuple[float, float]:
    """Median of the ratios turn by turn, and the ratio of the fastest runs."""
    turns = [one / two for one, two in zip(seconds[name], seconds[other], strict=True)]
    return statistics.median(turns), min(seconds[name]) / min(seconds[other])


def peak(name: str, path: Path) -> float:
    """Peak memory in GB of a process that reads the file and does one thing."""
    command = [sys.executable, __file__, "--only", name, "--file", str(path)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(said) / 1e6


def own_peak() -> int:
    """Peak memory of this process in kB; what the system says of a child includes its parent's."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1])


def main() -> None:
    """Print a line per model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=float, default=1e6)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=MODELS, help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore", sdc.SdcWarning)
    if options.only:
        task(options.only, pl.read_parquet(options.file))()
        print(own_peak())
        return
    frame = people(int(options.records))
    risk = sdc.population_risk(frame, keys=EIGHT, sampling_fraction=FRACTION)
    print(
        f"{len(frame):,} records, {len(EIGHT)} keys, {risk.n_possible:.2g} possible cells, "
        f"{risk.sample_uniques:,} sample uniques, tau1 {risk.tau1:.1f}, z2 {risk.z2:.1f}, "
        f"B2 {risk.b2:.1f} +- {risk.b2_error:.2g}"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.parquet"
        frame.write_parquet(path)
        seconds, processor = interleaved(frame, options.repeats)
        for name, found in seconds.items():
            ratio, median = ratios(seconds, name, "group-by")[0], statistics.median(found)
            print(f"{name:<25} {median:7.3f} s = {ratio:6.2f} x group-by, peak {peak(name, path):.2f} GB")
    for rule in ("", " matched"):
        pair = f"key_contributions{rule}", f"f, F{rule}"
        median, best = ratios(seconds, *pair)
        print(
            f"{pair[0]}: {median:.1f} x the time of {pair[1]}; fastest runs {best:.1f} x; "
            f"{ratios(processor, *pair)[1]:.1f} x its processor time"
        )


if __name__ == "__main__":
    main()
