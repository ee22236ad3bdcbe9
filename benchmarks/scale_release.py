"""The measures that compare a release with its original by cells, on every engine, beside grouping both files there.

    python benchmarks/scale_release.py [--n 1e5] [--engines memory,polars,duckdb,spark] [--repeats 1] [--memory 4GB]
                                       [--data census-{n}.parquet]

In the release 5 % of each key and sensitive variable are exchanged, and the rows of every million are in another
order; `id` says which belong together. Closeness is that of both files, `k_map` and `delta_presence` of every other
record of the original in the whole of it. Bare is grouping both files by the seven keys with sums of weights. Figures
are checked equal to those in memory where that runs, too. Then `sdckit check` of another release with its log, which
`protect` wrote by the first engine (ages in bands, weights rounded, tenure by PRAM, keys taken out for k = 3); exit
codes are checked equal, too, up to 2 million records. What an engine refuses is said; the time until then counts.
`--memory` is for DuckDB and this process together. Times are by the clock, and of the processor, of the process and of
those that it started: the JVM of Spark and its workers. The peak of memory is that of the process alone; "put aside"
are the cells that lie in files.

Files are written a million records at a time: `--n 1e6,1e7,1e8 --engines duckdb --memory 6GB` takes 4 GB of disk for
them, beside what is put aside. In memory, 1e6 records take some 4 GB.
"""

from __future__ import annotations

import json
import math
import os
import resource
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq

import sdckit as sdc
from census import CHUNK, KEYS, write_chunks
from each_engine import compare_engines, options_of
from scale import HEADS, grouped, opened
from sdckit.cells.pair import open_files
from sdckit.cli.app import run
from sdckit.workflow.opened_release import count_ahead

SENSITIVE = ["cob", "hhsize", "tenure"]
TARGETS: dict[str, Callable[..., Any]] = {
    "correct_attribution_probability": sdc.correct_attribution_probability,
    "attribute_disclosure": sdc.attribute_disclosure,
}
MEASURES: dict[str, Callable[[Any], Any]] = {
    "replicated_uniques": lambda pair: sdc.replicated_uniques(pair, keys=KEYS),
    "identity_disclosure": lambda pair: sdc.identity_disclosure(pair, keys=KEYS),
    "few_matches": lambda pair: sdc.few_matches(pair, keys=KEYS),
    **{
        f"{name} of {target}": lambda pair, run=run, target=target: run(pair, keys=KEYS, target=target)
        for name, run in TARGETS.items()
        for target in SENSITIVE
    },
    "attribute_disclosure_table": lambda pair: sdc.attribute_disclosure_table(pair, keys=KEYS, targets=SENSITIVE),
    "matching_risk": lambda pair: sdc.matching_risk(pair, known=KEYS[:4], synthetic=KEYS[4:], numeric=[]),
}
MODELS: dict[str, Callable[[Any], Any]] = {
    "linear model": lambda pair: sdc.compare_models(
        pair, formula="age ~ C(sex) + C(marital) + educ + hhsize", weight="w"
    ),
    "logistic model": lambda pair: sdc.compare_models(
        pair, formula="sex ~ C(marital) + educ + age", family="logistic", weight="w"
    ),
}
CLOSE = ("t_closeness", "beta_likeness", "delta_disclosure", "alpha_k", "l_diversity")


def half(engine: str, file: Any) -> Any:
    """Every other record of a file."""
    return file.filter(pl.col("pid") % 2 == 0 if engine in {"memory", "polars"} else "pid % 2 = 0")


def released(path: Path) -> tuple[Path, Path]:
    """The original with an id, and a release of it, written beside the file; a million records in memory at a time."""
    original, release = (path.with_suffix(f".{name}.parquet") for name in ("original", "release"))
    for file, frames in ((original, numbered(path)), (release, map(changed, numbered(path)))):
        if not file.exists():
            write_chunks(file, frames)
    return original, release


def numbered(path: Path) -> Iterator[pl.DataFrame]:
    """The records of a file with their numbers as `pid`, a million at a time."""
    start = 0
    for batch in pq.ParquetFile(path).iter_batches(CHUNK):
        frame = pl.DataFrame(batch)
        yield frame.with_columns(pid=pl.int_range(start, start + len(frame), dtype=pl.Int64))
        start += len(frame)


def changed(frame: pl.DataFrame) -> pl.DataFrame:
    """Of each key and sensitive variable 5 % of the values exchanged among themselves, the rows in another order."""
    rng = np.random.default_rng([5, frame["pid"][0]])
    for name in (*KEYS, *SENSITIVE):
        rows = np.flatnonzero(rng.random(len(frame)) < 0.05)
        frame = frame.with_columns(frame[name].scatter(rows, frame[name].gather(rng.permutation(rows))))
    return frame[rng.permutation(len(frame))]


RECIPE = """
steps = [
    {method = "drop_identifiers", columns = ["hid"]},
    {method = "recode", column = "age", bands = [0, 15, 30, 45, 60, 75, 90]},
    {method = "round_to", column = "w", base = 5},
    {method = "pram", columns = ["tenure"]},
    {method = "local_suppression", keys = KEYS, k = 3},
]
"""
SCENARIO = """
keys = KEYS
sensitive = ["cob", "hhsize", "tenure"]
weight = "w"
[thresholds]
k = 3
l = 2
match_risk = 0.05
replicated_uniques = 0.01
correctly_disclosed = 0.5
"""


def checked(engine: str, path: Path, memory: str) -> tuple[list[float], int] | str:
    """Seconds of a check of a release with its log, by the clock and of the processor, and its exit code.

    In words why there is none, where the engine cannot protect a file of this size.
    """
    original, _ = released(path)
    names = ("recipe.toml", "scenario.toml", "protected.parquet", "log.json")
    recipe, scenario, release, log = (path.with_suffix(f".{name}") for name in names)
    for file, text in ((recipe, RECIPE), (scenario, SCENARIO)):
        file.write_text(text.replace("KEYS", json.dumps(KEYS)))
    with_engine = ["--engine", engine, *(["--memory", memory] if engine == "duckdb" else [])]
    if not release.exists():  # by the first engine that runs
        made = ["--out", str(release), "--log", str(log), "--quiet"]
        if run(["protect", str(recipe), str(original), *([] if engine == "memory" else with_engine), *made]) != 0:
            return "the file could not be protected (see above)"
    command = ["check", str(original), "--released", str(release), "--log", str(log), "--id", "pid"]
    start = now()
    code = run([*command, "--scenario", str(scenario), "--quiet", *with_engine])
    return (now() - start).tolist(), code


def both(engine: str, path: Path, memory: str) -> tuple[Any, Any]:
    """Original and release as frames of an engine; of DuckDB on one connection."""
    original, release = released(path)
    if engine != "duckdb":
        return opened(engine, original, memory), opened(engine, release, memory)
    first = sdc.scan_file(original, engine="duckdb", memory=memory)
    return first, sdc.scan_file(release, engine="duckdb", beside=first)


def now() -> np.ndarray:
    """Seconds by the clock, and of the processor in this process and all that it started."""
    return np.array([time.perf_counter(), time.process_time() + of_children()])


def of_children() -> float:
    """Seconds of the processor in the processes that this one started, and theirs; 0 where there is no /proc."""
    used: dict[int, float] = {}
    started: dict[int, list[int]] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            fields = place.read_text().rpartition(")")[2].split()
            number = int(place.parent.name)
            started.setdefault(int(fields[1]), []).append(number)
            used[number] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    seconds, left = 0.0, started.get(os.getpid(), [])
    while left:
        number = left.pop()
        seconds += used[number]
        left += started.get(number, [])
    return seconds


def flat(tree: Any) -> list[float]:
    """The numbers of a nested dictionary, in its order."""
    if isinstance(tree, dict):
        return [number for key in sorted(tree) for number in flat(tree[key])]
    return [float(tree)] if isinstance(tree, int | float) and not isinstance(tree, bool) else []


def one_engine(engine: str, path: Path, repeats: int, memory: str) -> None:
    """Time an engine, and print what it gave as JSON."""
    warnings.simplefilter("ignore")
    told: dict[str, Any] = {
        "bare": [],
        "whole": [],
        "models": [],
        "seconds": {},
        "figures": {},
        "refused": {},
        "aside": 0.0,
    }
    with tempfile.TemporaryDirectory(prefix=".scale-", dir=path.parent) as folder:
        tempfile.tempdir = folder  # where the system's folder for such files is
        files = both(engine, path, memory)
        warm = open_files(*(file.head(1000) if engine == "memory" else file.limit(1000) for file in files))
        for name, measure in (MEASURES | MODELS).items():  # compiled
            with suppress(sdc.SdcError):  # of a thousand records, which need not have every outcome
                if name != "matching_risk":
                    measure(warm)
        for name in CLOSE:
            getattr(sdc, name)(sdc.load_demo(), keys=["age", "educ"], sensitive="religious")
        for file in files:
            grouped(engine, file)
        for _ in range(repeats):
            measured(engine, files, told)
        told["check"] = checked(engine, path, memory)
        told["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps(told))


def measured(engine: str, files: tuple[Any, Any], told: dict[str, Any]) -> None:
    """Add the seconds of the bare grouping and of every measure, and its figures; what was refused, in words."""
    start = now()
    for file in files:
        grouped(engine, file)
    told["bare"].append((now() - start).tolist())
    pair, whole = open_files(*files, id="pid"), now()
    scenario = sdc.Scenario(keys=KEYS, sensitive=SENSITIVE)
    timed(told, "counting", partial(count_ahead, pair, scenario))  # once for all, as `assess` does
    for name, measure in MEASURES.items():
        timed(told, name, partial(measure, pair))
    as_categories = partial(sdc.as_cells, missing="category")
    by_label = {
        label: timed(told, f"cells of the {label}", partial(as_categories, file, scenario=scenario))
        for label, file in zip(("original", "release"), files, strict=True)
    }
    for label, cells in by_label.items():
        for name in CLOSE:
            timed(told, f"{name} of the {label}", partial(getattr(sdc, name), cells, sensitive=SENSITIVE))
    some = timed(told, "cells of the half", partial(as_categories, half(engine, files[0]), keys=KEYS))
    for name in ("k_map", "delta_presence"):
        timed(told, name, partial(getattr(sdc, name), some, by_label["original"]))
    told["whole"].append((now() - whole).tolist())
    held = sum(file.stat().st_size for file in Path(tempfile.gettempdir()).rglob("*") if file.is_file())
    told["aside"] = max(told["aside"], held / 1e9)
    whole = now()
    for name, measure in MODELS.items():
        timed(told, name, partial(measure, pair))
    told["models"].append((now() - whole).tolist())


def timed(told: dict[str, Any], name: str, measure: Callable[[], Any]) -> Any:
    """What a measure gives; its seconds and figures are added, or in words why it was refused."""
    start, result = now(), None
    try:
        result = measure()
        if hasattr(result, "to_dict"):
            told["figures"][name] = flat(result.to_dict()["figures"])
    except sdc.SdcError as error:
        told["refused"][name] = str(error)
    told["seconds"].setdefault(name, []).append((now() - start).tolist())
    return result


def compared(n: int, by_engine: dict[str, Any]) -> list[list[str]]:
    """Print what each engine took, its figures checked, and give the rows of the table."""
    rows, expected = [], by_engine.get("memory", {}).get("figures", {})
    for engine, told in by_engine.items():
        for name, own in told["figures"].items():
            for a, b in zip(expected.get(name, own), own, strict=True):
                near = 1e-8 if name == "logistic model" else 1e-9
                assert math.isclose(a, b, rel_tol=near, abs_tol=1e-12) or (math.isnan(a) and math.isnan(b)), name
        (bare, used), (whole, work) = (np.median(told[name], axis=0) for name in ("bare", "whole"))
        row = [f"{n / 1e6:g} M", HEADS[engine], f"{bare:.2f} s", f"{whole:.1f} s = {whole / bare:.1f} ×"]
        row.append(f"{work:.1f} s = {work / used:.1f} ×")
        row.append(f"{told['peak']:.1f} GB")
        models = np.median(told["models"], axis=0)[1]
        print(
            "  ".join(row), f" models besides: {models / used:.1f} × ", f"put aside: {told['aside']:.1f} GB", flush=True
        )
        for name, seconds in told["seconds"].items():
            (clock, work) = np.median(seconds, axis=0)
            print(f"    {name}: {clock:.2f} s, processor {work:.2f} s = {work / used:.2f} ×")
        for name, why in told["refused"].items():
            print(f"    {name} was refused: {why}")
        if isinstance(told["check"], str):
            print(f"    no check: {told['check']}")
        else:
            (clock, work), code = told["check"]
            print(f"    check: {clock:.1f} s = {clock / bare:.1f} ×, processor {work:.1f} s = {work / used:.1f} ×")
            # What a release gives back is looked for in records drawn of larger files, and some limits are not judged.
            assert n > 2_000_000 or code == by_engine.get("memory", told)["check"][1], (engine, code)
            print(f"    its exit code: {code}")
        rows.append(row)
    return rows


def main() -> None:
    """Run every engine at every size asked."""
    options = options_of(__doc__, n="1e5", repeats=1, memory="4GB")
    compare_engines("scale_release", __file__, options, one_engine, compared)


if __name__ == "__main__":
    main()
