"""The whole of `assess` on every engine beside the engine's own grouping, and how both grow with the file.

    python benchmarks/scale_assess.py [--n 1e6,1e7] [--engines memory,polars,duckdb,spark] [--repeats 1] [--memory 1GB]
                                      [--data census-{n}.parquet] [--record MACHINE]

With weights, households, l-diversity of one variable, and both rules for missing keys (1 % missing in each of seven).
Each engine runs in a process of its own; the bare grouping runs before every assessment, and nothing of it leaves the
engine. Seconds are medians; those of the processor take in the JVM of Spark and its workers. The growth exponent is
that of processor seconds since the size before: 1 is in proportion to the records. Results are checked equal. Bytes
that Spark sends between its tasks are not counted here (docs/scale.md has them by measure).
"""

from __future__ import annotations

import json
import math
import resource
import statistics
import warnings
from pathlib import Path
from typing import Any

import sdckit as sdc
from census import KEYS
from each_engine import on_each_engine, options_of
from protect_plans import timed
from record import record
from scale import HEADS, figures, grouped, opened

SCENARIO = sdc.Scenario(
    keys=KEYS, sensitive=["tenure"], weight="w", household="hid", thresholds={"k": 3, "l": 2}, title="Census"
)


def found(assessment: Any) -> list[float]:
    """The figures of every result of an assessment; some are worked out when they are read."""
    results = assessment.intruders[0].results
    return [one for place in sorted(results) for one in figures(results[place])]


def one_engine(engine: str, path: Path, repeats: int, memory: str) -> None:
    """Time an engine, and print what was found as JSON."""
    warnings.simplefilter("ignore")
    few = opened("memory", path, memory).head(100_000)
    found(sdc.assess(few.lazy(), scenario=SCENARIO))  # compiled, for files that are not small too
    frame = opened(engine, path, memory)
    grouped(engine, frame)  # warm
    told: dict[str, Any] = {"bare": [], "assess": []}
    for _ in range(repeats):
        told["bare"].append(timed(lambda: grouped(engine, frame))[:2])
        wall, used, told["figures"] = timed(lambda: found(sdc.assess(frame, scenario=SCENARIO)))
        told["assess"].append((wall, used))
    told["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps(told))


def row(n: int, engine: str, told: dict[str, Any], before: tuple[int, dict[str, float]] | None) -> list[str]:
    """A row of the table; `before`: the size before with its processor seconds."""
    middle = {name: [statistics.median(each) for each in zip(*told[name], strict=True)] for name in ("bare", "assess")}
    (bare, bare_used), (whole, used) = middle["bare"], middle["assess"]
    growth = ["", ""]
    if before is not None:
        more = math.log(n / before[0])
        growth = [
            f"{math.log(now / before[1][name]) / more:.2f}" for name, now in (("bare", bare_used), ("assess", used))
        ]
    return [
        f"{n / 1e6:g} M", HEADS[engine], f"{bare:.1f} s", f"{whole:.1f} s = {whole / bare:.1f} ×",
        f"{bare_used:.1f} s", f"{used:.1f} s = {used / bare_used:.1f} ×", *growth, f"{told['peak']:.1f} GB",
    ]  # fmt: skip


def check_equal(expected: list[float], got: list[float], engine: str) -> None:
    """Refuse figures that are not those of the first engine."""
    for a, b in zip(expected, got, strict=True):
        assert math.isclose(a, b, rel_tol=1e-9) or (math.isnan(a) and math.isnan(b)), engine


def main() -> None:
    """Run every engine at every size asked."""
    options = options_of(__doc__, n="1e6,1e7", repeats=1)
    if options.one:
        one_engine(options.one, Path(options.data), options.repeats, options.memory)
        return
    rows: list[list[str]] = []
    before: dict[str, tuple[int, dict[str, float]]] = {}
    expected: dict[int, list[float]] = {}
    for n, engine, told in on_each_engine(__file__, options):
        check_equal(expected.setdefault(n, told["figures"]), told["figures"], engine)
        rows.append(row(n, engine, told, before.get(engine)))
        print("  ".join(rows[-1]), flush=True)
        used = {name: statistics.median(each[1] for each in told[name]) for name in ("bare", "assess")}
        before[engine] = (n, used)
    if options.record:
        record("scale_assess", options.record, rows)


if __name__ == "__main__":
    main()
