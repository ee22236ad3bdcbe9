"""Write what the package depends on: the SBOM that the wheel carries (CycloneDX), and its licences as a page's table.

Versions are those of pylock.toml; licences and dependencies are what the installed packages say of themselves.
"""

from __future__ import annotations

import json
import re
import tomllib
import uuid
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / ".ci" / "sdckit.cdx.json"
PAGE = ROOT / "docs" / "trust.md"
TABLE = re.compile(r"(?<=<!-- licences -->\n).*(?=<!-- end -->)", re.DOTALL)
# Of packages that are installed on Windows alone, or in no environment of the project.
ELSEWHERE = {"colorama": "BSD-3-Clause", "setuptools": "MIT"}
SIMPLE = {"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0", "PSF-2.0"}
CLASSIFIERS = {"MIT License": "MIT", "ISC License (ISCL)": "ISC"}
Lock = dict[str, str]


def licence(name: str) -> str:
    """The licence as its package states it: an SPDX expression where it has one, else its words."""
    if name in ELSEWHERE:
        return ELSEWHERE[name]
    found = metadata.metadata(name)
    short = found.get("License") or ""
    listed = [line.rsplit(" :: ", 1)[1] for line in found.get_all("Classifier") or () if line.startswith("License ::")]
    stated = found.get("License-Expression") or (short if short in SIMPLE else "")
    return stated or next((CLASSIFIERS.get(word, word) for word in listed), short)


def needs(name: str, locked: Lock, extras: tuple[str, ...] = ()) -> list[str]:
    """What a package asks for directly, of what is locked."""
    try:
        asked = [Requirement(line) for line in metadata.requires(name) or ()]
    except metadata.PackageNotFoundError:
        return []
    environments = [{"extra": extra} for extra in ("", *extras)]
    names = {
        one.name.lower().replace("_", "-").replace(".", "-")
        for one in asked
        if one.marker is None or any(one.marker.evaluate(environment) for environment in environments)
    }
    return sorted(names & locked.keys())


def reached(names: list[str], locked: Lock) -> set[str]:
    """These packages and all that they ask for."""
    seen: set[str] = set()
    while names:
        name = names.pop()
        if name not in seen:
            seen.add(name)
            names += needs(name, locked)
    return seen


def component(name: str, version: str, *, required: bool) -> dict[str, Any]:
    """One package as a component."""
    stated = licence(name)
    if stated in SIMPLE:
        licences = [{"license": {"id": stated}}]
    elif re.search(r" (AND|OR|WITH) ", stated):
        licences = [{"expression": stated}]
    else:
        licences = [{"license": {"name": stated}}]
    purl = f"pkg:pypi/{name}@{version}"
    scope = "required" if required else "optional"
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "scope": scope,
            "licenses": licences, "purl": purl}  # fmt: skip


def build() -> dict[str, Any]:
    """The bill of materials, which depends on the lock file and the version alone."""
    locked = {
        package["name"]: package["version"]
        for package in tomllib.loads((ROOT / "pylock.toml").read_text(encoding="utf-8"))["packages"]
    }
    version = re.search(r'__version__ = "(.*)"', (ROOT / "src/sdckit/__init__.py").read_text(encoding="utf-8"))[1]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    direct = sorted(Requirement(line).name for line in project["dependencies"])
    core = reached([*direct], locked)
    own = f"pkg:pypi/sdckit@{version}"
    refs = {name: f"pkg:pypi/{name}@{one}" for name, one in locked.items()}
    depends = [{"ref": own, "dependsOn": [refs[name] for name in direct]}]
    depends += [{"ref": refs[name], "dependsOn": [refs[one] for one in needs(name, locked)]} for name in locked]
    words = "versions with which the package was tested; the wheel asks for ranges"
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{own} {sorted(locked.items())}')}",
        "metadata": {
            "lifecycles": [{"phase": "pre-build"}],
            "component": {"type": "library", "bom-ref": own, "name": "sdckit", "version": version, "purl": own,
                          "licenses": [{"license": {"id": project["license"]}}]},
            "properties": [{"name": "sdckit:versions", "value": words}],
        },
        "components": [component(name, one, required=name in core) for name, one in locked.items()],
        "dependencies": depends,
    }  # fmt: skip


def table(bom: dict[str, Any]) -> Iterator[str]:
    """The licences as a table."""
    yield "| package | version | licence | needed |"
    yield "| --- | --- | --- | --- |"
    for one in bom["components"]:
        first = one["licenses"][0]
        stated = first.get("expression") or first["license"].get("id") or first["license"]["name"]
        yield f"| {one['name']} | {one['version']} | {stated} | {'always' if one['scope'] == 'required' else 'extra'} |"


def main() -> None:
    """Write both."""
    bom = build()
    TARGET.write_text(json.dumps(bom, indent=1) + "\n", encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(TABLE.sub(lambda _: "\n".join(table(bom)) + "\n", page), encoding="utf-8")


if __name__ == "__main__":
    main()
