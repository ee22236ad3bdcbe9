"""Build the documentation site: lay its pages out, put the navigation in full, and run Zensical on them.

The pages of the repository link to each other as files. Here README becomes the first page, pages from outside
`docs/` get a place, and every link is turned to where its page now stands. The reference has a page for each module
that `__init__.pyi` takes a public name from, so a new name appears by itself.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gallery

from sdckit.catalogue import CATALOGUE

MEASURES = {row.name: row for row in CATALOGUE}
ROOT = Path(__file__).resolve().parents[1]
CONFIG = ROOT / "zensical.toml"
THEME = ROOT / ".ci" / "site_theme"
STUB = ROOT / "src" / "sdckit" / "__init__.pyi"
OUTSIDE = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "docs/tutorial.ipynb": "tutorial.md",
    **{f"docs/course/{path.name}": f"course/{path.stem}.md" for path in (ROOT / "docs" / "course").glob("*.ipynb")},
}
GALLERY = "gallery.md"
ROOMS = {
    "workflow": "Assess, check, recipes",
    "identity": "Who can be recognised",
    "attribute": "What can be learnt",
    "attacks": "Simulated attacks",
    "utility": "What is it good for",
    "protect": "Protection",
    "data": "Files and scenarios",
    "cells": "Cells",
    "demo": "The demo",
    "errors": "Errors",
}
FENCE = re.compile(r"^( *)```.*?^\1```", flags=re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<=\]\()([^)\s#]+)(?=[)#])")
TITLE = re.compile(r"^# (.+)$", flags=re.MULTILINE)


RESULTS = """# What every result can do

Functions give frozen results. Beside its own figures each has what stands here.

::: sdckit.result.Result
    options:
      members: [summary, details, to_dict, rates, plot]

## Figures of subgroups

Results of a row per record have it, where they were asked `by=`.

::: sdckit.cells.record_result.RecordResult.by_group
    options:
      heading_level: 3
"""


class SiteError(Exception):
    """A page or a link that the site has no place for."""


@dataclass(frozen=True)
class Module:
    """A page of the reference: the public names that one module brings."""

    room: str
    name: str
    names: tuple[str, ...]

    @property
    def page(self) -> str:
        """Where it stands in the site."""
        return f"reference/{self.room}/{self.name}.md"


def public_modules() -> list[Module]:
    """The modules of the public names, in the order of the rooms."""
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    found = [
        Module(node.module.split(".")[0], node.module.split(".")[-1], _functions_first(node.names))
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module
    ]
    if unknown := {one.room for one in found} - ROOMS.keys():
        raise SiteError(f"the reference has no title for the rooms {sorted(unknown)}")
    order = list(ROOMS)
    return sorted(found, key=lambda one: (order.index(one.room), one.name))


def _functions_first(names: Iterable[ast.alias]) -> tuple[str, ...]:
    return tuple(sorted((one.name for one in names), key=lambda name: (name[0].isupper(), name)))


def places() -> dict[Path, str]:
    """Where each page and picture of the repository stands in the site."""
    found = {ROOT / name: place for name, place in OUTSIDE.items()}
    for path in sorted((ROOT / "docs").rglob("*")):
        if path.suffix in {".md", ".png", ".svg"}:
            found[path] = path.relative_to(ROOT / "docs").as_posix()
    return found


def turned(text: str, page: Path, where: dict[Path, str]) -> str:
    """The text of a page with its links turned to where the pages stand in the site."""

    def turn(match: re.Match[str]) -> str:
        target = match[1]
        if "://" in target or target.startswith("mailto:"):
            return target
        path = Path(os.path.normpath(page.parent / target))
        place = where.get(path)
        if place is None and path.is_dir():
            place = f"{path.relative_to(ROOT / 'docs').as_posix()}/index.md"
        if place is None:
            raise SiteError(f"{page.relative_to(ROOT)}: the site has no place for {target}")
        return os.path.relpath(place, Path(where[page]).parent).replace(os.sep, "/")

    kept: list[str] = []
    end = 0
    for block in FENCE.finditer(text):
        kept += [LINK.sub(turn, text[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*kept, LINK.sub(turn, text[end:])])


def of_notebook(path: Path) -> str:
    """A notebook's cells as a page; what they show is seen by whoever runs it."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    parts = (
        "".join(cell["source"]) if cell["cell_type"] == "markdown" else f"```python\n{''.join(cell['source'])}\n```"
        for cell in cells
    )
    return "\n\n".join(parts) + "\n"


def title(text: str) -> str:
    """The heading of a page, as the navigation shows it."""
    found = TITLE.search(text)
    if found is None:
        raise SiteError(f"a page has no heading: {text[:60]!r}")
    return found[1].replace("`", "")


def pages() -> dict[str, str]:
    """Every page of the site by its place."""
    where = places()
    found: dict[str, str] = {}
    for path, place in where.items():
        if path.suffix == ".ipynb":
            found[place] = of_notebook(path)
        elif path.suffix == ".md":
            text = turned(path.read_text(encoding="utf-8"), path, where)
            found[place] = gallery.with_pictures(text) if place == GALLERY else text
    modules = public_modules()
    found |= {one.page: of_module(one) for one in modules}
    for one in modules:  # a page on a measure or a method leads to its reference
        for name in one.names:
            for folder in ("measures", "protect"):
                if (place := f"{folder}/{name}.md") in found:
                    found[place] += f"\n## Reference\n\n[Arguments and results of `{name}`](../{one.page})\n"
    found["reference/results.md"] = RESULTS
    found["reference/index.md"] = of_rooms(modules)
    found["measures/index.md"] = of_measures(found)
    found["protect/index.md"] = of_methods(found)
    return found


def of_module(module: Module) -> str:
    """A page of the reference."""
    entries = "\n\n".join(f"::: sdckit.{name}" for name in module.names)
    return f"# {module.name}\n\n{entries}\n"


def of_rooms(modules: Iterable[Module]) -> str:
    """The first page of the reference: every public name, by room."""
    by_room: dict[str, list[str]] = defaultdict(list)
    for one in modules:
        by_room[one.room] += [f"[`{name}`]({one.room}/{one.name}.md#sdckit.{name})" for name in one.names]
    parts = [f"## {ROOMS[room]}\n\n{' · '.join(links)}" for room, links in by_room.items()]
    words = (
        "Every public name, from its docstring. `import sdckit as sdc` and then `sdc.<name>`. "
        "[What every result can do](results.md) stands on a page of its own."
    )
    return "# Reference\n\n" + words + "\n\n" + "\n\n".join(parts) + "\n"


def of_measures(found: dict[str, str]) -> str:
    """The first page of the measures: each with its question."""
    parts = ["# Measures\n"]
    for room, names in families(found).items():
        parts.append(f"\n## {ROOMS[room]}\n\n| measure | asks |\n| --- | --- |\n")
        parts += [f"| [`{name}`]({name}.md) | {MEASURES[name].question} |\n" for name in names]
    return "".join(parts)


def families(found: Iterable[str]) -> dict[str, list[str]]:
    """The measures that have a page, by room."""
    written = {Path(place).stem for place in found if place.startswith("measures/")} - {"index"}
    if unknown := written - MEASURES.keys():
        raise SiteError(f"docs/measures/ has pages of no measure: {sorted(unknown)}")
    return {
        room: sorted(name for name in written if MEASURES[name].room == room)
        for room in ("identity", "attribute", "attacks", "utility")
    }


def of_methods(found: dict[str, str]) -> str:
    """The first page of the methods: what each does."""
    rows = [
        f"| [`{Path(place).stem}`]({Path(place).name}) | {first_sentence(text)} |\n"
        for place, text in sorted(found.items())
        if place.startswith("protect/")
    ]
    return "# Protection\n\n| method | does |\n| --- | --- |\n" + "".join(rows)


def first_sentence(text: str) -> str:
    """The first sentence below the headings of a page."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return re.split(r"(?<=[.:]) ", lines[0])[0].rstrip(":")


def navigation(found: dict[str, str]) -> list[Any]:
    """The navigation of the configuration with every `/*` in full; a page that is not there yet is left out."""
    declared = tomllib.loads(CONFIG.read_text(encoding="utf-8"))["project"]["nav"]
    return [entry for one in declared for entry in _entry(one, found)]


def _entry(one: Any, found: dict[str, str]) -> Iterator[Any]:
    if isinstance(one, str):
        if one in found:
            yield {title(found[one]): one}
        return
    ((name, inside),) = one.items()
    if isinstance(inside, str) and not inside.endswith("/*"):
        if inside in found:
            yield one
        return
    entries = (
        _folder(inside.removesuffix("/*"), found)
        if isinstance(inside, str)
        else [entry for part in inside for entry in _entry(part, found)]
    )
    if entries:
        yield {name: entries}


def _folder(folder: str, found: dict[str, str]) -> list[Any]:
    """All pages of a folder: measures and reference by room, others as they come."""
    if folder == "measures":
        rooms = families(found).items()
        groups = {ROOMS[room]: [f"measures/{name}.md" for name in names] for room, names in rooms}
    elif folder == "reference":
        groups = defaultdict(list)
        for one in public_modules():
            groups[ROOMS[one.room]].append(one.page)
    else:
        index = [f"{folder}/index.md"] if f"{folder}/index.md" in found else []
        rest = sorted(place for place in found if place.startswith(f"{folder}/") and place not in index)
        return [*index, *({title(found[place]): place} for place in rest)]
    inside = [{name: [{title(found[one]): one} for one in places]} for name, places in groups.items()]
    results = [{title(RESULTS): "reference/results.md"}] if folder == "reference" else []
    return [f"{folder}/index.md", *results, *inside]


def placed(entries: Iterable[Any]) -> Iterator[str]:
    """Every place that a navigation names."""
    for one in entries:
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            yield from placed(one.values())
        else:
            yield from placed(one)


def lay_out(target: Path) -> list[Any]:
    """Write the pages and the configuration into a folder, and give the navigation."""
    shutil.rmtree(target, ignore_errors=True)
    found = pages()
    for place, text in found.items():
        path = target / "docs" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for path, place in places().items():
        if path.suffix in {".png", ".svg"}:
            (target / "docs" / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target / "docs" / place)
    shutil.copytree(THEME, target / "theme")
    whole = tomllib.loads(CONFIG.read_text(encoding="utf-8"))
    nav = navigation(found)
    whole["project"]["nav"] = nav
    whole["project"]["theme"]["custom_dir"] = "theme"
    whole["project"]["plugins"]["mkdocstrings"]["handlers"]["python"]["paths"] = [str(ROOT / "src")]
    lines = [f"{key} = {_toml(value)}\n" for key, value in whole["project"].items()]
    (target / "zensical.toml").write_text("[project]\n" + "".join(lines), encoding="utf-8")
    return nav


def _toml(value: Any) -> str:
    """A value as TOML on one line."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def build(target: Path) -> str:
    """Lay the site out and build it strictly; what Zensical said, an error where it warned."""
    lay_out(target)
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean", "-f", str(target / "zensical.toml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    if done.returncode or re.search(r"\bwarning|\berror", said, flags=re.IGNORECASE):
        raise SiteError(f"the site was not built without a warning:\n{said}")
    return said


def main() -> None:
    """Build the site into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", type=Path, nargs="?", default=ROOT / ".cache" / "site")
    target = parser.parse_args().target.resolve()
    start = time.perf_counter()
    build(target)
    print(f"{target / 'site' / 'index.html'} in {time.perf_counter() - start:.0f} s")  # noqa: T201 - what it is for


if __name__ == "__main__":
    main()
