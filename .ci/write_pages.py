"""Write the tables of validation.md from `docs/validation.toml`, of performance.md from `benchmarks/results.toml`.

    python .ci/write_pages.py [--check]

A table stands between ``<!-- table: name -->`` and ``<!-- end -->``; all else on the pages is written by hand.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
VALIDATION = ROOT / "docs" / "validation.toml"
RESULTS = ROOT / "benchmarks" / "results.toml"
PLACE = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)
COLUMNS = ("Figures", "Compared with", "Data", "Agreement", "Differences", "Test")


class PageError(Exception):
    """A page asks for a table that nobody has, or nobody shows one."""


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def of_validation() -> dict[str, str]:
    """The comparisons, and the list of deliberate differences."""
    facts = tomllib.loads(VALIDATION.read_text(encoding="utf-8"))
    rows = [
        (
            one["figures"],
            one["reference"],
            one["data"],
            one["precision"],
            ", ".join(str(number) for number in differences(one, facts["difference"])),
            ", ".join(f"`{name}`" for name in one["tests"]),
        )
        for one in facts["comparison"]
    ]
    return {"comparisons": table(COLUMNS, rows), "differences": listed(facts["difference"])}


def differences(comparison: dict[str, Any], known: Iterable[dict[str, Any]]) -> list[int]:
    """The numbers of the differences that concern what a comparison compares."""
    return [one["number"] for one in known if set(one["names"]).intersection(comparison["names"])]


def listed(known: Iterable[dict[str, Any]]) -> str:
    """The numbered differences under their headings."""
    parts = []
    for heading, found in groupby(known, key=lambda one: one["heading"]):
        items = "".join(f"{one['number']}. {one['text'].strip()}\n" for one in found)
        parts.append(f"{heading}:\n\n{items}")
    return "\n".join(parts)


def of_performance() -> dict[str, str]:
    """The tables of the benchmarks, each with its day and machine."""
    results = tomllib.loads(RESULTS.read_text(encoding="utf-8"))
    return {
        one["name"]: f"{table(one['columns'], one['rows'])}\nWritten down on {one['date']}, {one['machine']}.\n"
        for one in results["table"]
    }


PAGES = {ROOT / "docs" / "validation.md": of_validation, ROOT / "docs" / "performance.md": of_performance}


def written(text: str, tables: dict[str, str]) -> str:
    """A page with its tables in their places."""
    places = [match[2] for match in PLACE.finditer(text)]
    if sorted(places) != sorted(tables):
        odd = sorted(set(places) ^ set(tables)) or "one of them stands twice"
        raise PageError(f"the page and the results do not name the same tables: {odd}")
    return PLACE.sub(lambda match: f"{match[1]}\n{tables[match[2]]}\n{match[3]}", text)


def main() -> None:
    """Write the pages, or say which differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a page would change")
    options = parser.parse_args()
    changed = []
    for path, tables in PAGES.items():
        before = path.read_text(encoding="utf-8")
        after = written(before, tables())
        if after != before:
            changed.append(str(path.relative_to(ROOT)))
            if not options.check:
                path.write_text(after, encoding="utf-8")
    if options.check and changed:
        sys.exit(f"not what `make pages` writes: {', '.join(changed)}")


if __name__ == "__main__":
    main()
