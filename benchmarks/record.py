"""Keep what a benchmark measured: its rows in `results.toml`, from which `make pages` writes docs/performance.md."""

from __future__ import annotations

import argparse
import json
import re
import tomllib
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results.toml"
TABLE = re.compile(r"^\[\[table\]\]\n.*?(?=^\[\[table\]\]\n|\Z)", flags=re.MULTILINE | re.DOTALL)


def add_option(parser: argparse.ArgumentParser) -> None:
    """Give a program ``--record``."""
    words = 'keep the rows in results.toml, measured on this machine ("two cores (AMD EPYC, 24 GB)")'
    parser.add_argument("--record", metavar="MACHINE", help=words)


def record(name: str, machine: str, rows: Iterable[Sequence[str]], path: Path = RESULTS) -> None:
    """Replace the rows of a table, its machine and its day; all other tables stay as they are."""
    text = path.read_text(encoding="utf-8")
    blocks = {tomllib.loads(match[0])["table"][0]["name"]: match for match in TABLE.finditer(text)}
    if name not in blocks:
        raise SystemExit(f"results.toml has no table {name}; it has {', '.join(blocks)}")
    found = blocks[name]
    kept: dict[str, Any] = tomllib.loads(found[0])["table"][0]
    kept |= {"machine": machine, "date": date.today(), "rows": [list(row) for row in rows]}
    if any(len(row) != len(kept["columns"]) for row in kept["rows"]):
        raise SystemExit(f"a row of {name} has {len(kept['columns'])} cells: {', '.join(kept['columns'])}")
    end = "\n" if found.end() < len(text) else ""
    path.write_text(text[: found.start()] + _block(kept) + end + text[found.end() :], encoding="utf-8")


def _block(one: dict[str, Any]) -> str:
    """A table as TOML, a row a line."""
    lines = [f"{key} = {_value(value)}" for key, value in one.items() if key != "rows"]
    rows = [f"  {_value(row)}," for row in one["rows"]]
    return "\n".join(["[[table]]", *lines, "rows = [", *rows, "]", ""])


def _value(value: Any) -> str:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return f"'{value}'" if '"' in value and "'" not in value else json.dumps(value, ensure_ascii=False)
