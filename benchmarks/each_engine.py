"""What the benchmarks of scale share: their options, and every engine at every size in a process of its own."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from census import write_census
from record import add_option, record


def options_of(doc: str | None, *, n: str, repeats: int, memory: str = "1GB") -> argparse.Namespace:
    """The options of the command line; `n`, `repeats` and `memory` are what they are unless given."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", default=n, help="sizes, ascending, with commas between them")
    parser.add_argument("--engines", default="memory,polars,duckdb,spark")
    parser.add_argument("--repeats", type=int, default=repeats)
    parser.add_argument("--memory", default=memory, help="what DuckDB may take")
    parser.add_argument("--data", default="")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    add_option(parser)
    return parser.parse_args()


def on_each_engine(script: str, options: argparse.Namespace) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Run a script with ``--one ENGINE`` for every size and engine asked: size, engine, and what it printed last."""
    with tempfile.TemporaryDirectory() as folder:
        for n in [int(float(size)) for size in options.n.split(",")]:
            path = Path(options.data.format(n=n)) if options.data else Path(folder) / f"census-{n}.parquet"
            if not path.exists():
                write_census(n, path)
            for engine in options.engines.split(","):
                command = [sys.executable, script, "--one", engine, "--data", str(path)]
                command += ["--repeats", str(options.repeats), "--memory", options.memory]
                env = {"PYSPARK_PYTHON": sys.executable} | os.environ
                done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=env)
                yield n, engine, json.loads(done.stdout.splitlines()[-1])


def compare_engines(
    name: str, script: str, options: argparse.Namespace, one_engine: Callable[[str, Path, int, str], None],
    compared: Callable[[int, dict[str, Any]], list[list[str]]],
) -> None:  # fmt: skip
    """Run one engine where `--one` names it, else all, and keep the rows that `compared` makes of every size."""
    if options.one:
        one_engine(options.one, Path(options.data), options.repeats, options.memory)
        return
    rows: list[list[str]] = []
    for n, some in groupby(on_each_engine(script, options), key=lambda ran: ran[0]):
        rows += compared(n, {engine: told for _, engine, told in some})
    if options.record:
        record(name, options.record, rows)
