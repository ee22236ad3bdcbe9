"""The wheel: the same bytes wherever it is built, what it carries, and the lock of what it depends on."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import sdckit
from tree import ROOT, none_offends

LOCK = (ROOT / "pylock.toml").read_text(encoding="utf-8")
PACKAGES: list[dict[str, Any]] = tomllib.loads(LOCK)["packages"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PINNED = dict(
    line.lower().replace("_", "-").split("==")
    for line in (ROOT / "requirements-dev.txt").read_text(encoding="utf-8").splitlines()
    if "==" in line
)
NONE = ("libsass", "_aarch64")  # what the page on machines without a network says
# What the published schema of CycloneDX 1.6 asks of the parts that are used; `make smoke` holds the file against all.
TEXT = {"type": "string", "minLength": 1}
COMPONENT = {
    "type": "object",
    "required": ["type", "name"],
    "additionalProperties": False,
    "properties": {
        **dict.fromkeys(("bom-ref", "name", "version", "purl"), TEXT),
        "type": {"enum": ["library"]},
        "scope": {"enum": ["required", "optional"]},
        "licenses": {"type": "array", "minItems": 1, "maxItems": 1},
    },
}
SCHEMA = {
    "type": "object",
    "required": ["bomFormat", "specVersion", "serialNumber", "metadata", "components", "dependencies"],
    "properties": {
        "bomFormat": {"const": "CycloneDX"},
        "specVersion": {"const": "1.6"},
        "serialNumber": {"pattern": "^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"},
        "metadata": {"properties": {"component": COMPONENT}},
        "components": {"type": "array", "uniqueItems": True, "items": COMPONENT},
        "dependencies": {"items": {"required": ["ref"], "properties": {"dependsOn": {"uniqueItems": True}}}},
    },
}


def program(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / ".ci")  # a program may take from the one beside it
        spec.loader.exec_module(module)
    return module


def built(source: Path, folder: Path) -> Path:
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    kept = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    subprocess.run(words, cwd=source, check=True, capture_output=True, env=kept)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(ROOT, tmp_path_factory.mktemp("wheel"))


def test_two_builds_are_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    """From a copy with other times and modes, in a folder of another name."""
    copy = tmp_path / "copy"
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__"), copy_function=shutil.copy)
    (copy / ".ci").mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", ".gitignore", ".ci/sdckit.cdx.json"):
        shutil.copy(ROOT / name, copy / name)
    for path in copy.rglob("*.py"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
        path.chmod(0o600)
    assert built(copy, tmp_path / "out").read_bytes() == wheel.read_bytes()


def test_it_carries_sources_its_licence_and_the_bill(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as held:
        names = held.namelist()
        (bill,) = (name for name in names if ".dist-info/sboms/" in name)
        assert held.read(bill) == (ROOT / ".ci" / "sdckit.cdx.json").read_bytes()
    assert any(name.endswith("dist-info/licenses/LICENSE") for name in names)
    assert "sdckit/cli/commands/sdckit.R" in names
    compiled = re.compile(r"\.(so|pyd|dll|dylib|pyc|nbi|nbc)$")
    none_offends(filter(compiled.search, names), "the wheel holds nothing that is compiled")


def test_the_bill_is_what_the_program_writes_and_of_its_form() -> None:
    bill = json.loads((ROOT / ".ci" / "sdckit.cdx.json").read_text(encoding="utf-8"))
    assert bill == program("write_sbom").build(), "run .ci/write_sbom.py"
    jsonschema.validate(bill, SCHEMA)
    assert bill["metadata"]["component"]["version"] == sdckit.__version__
    known = {one["bom-ref"] for one in [bill["metadata"]["component"], *bill["components"]]}
    assert {one["ref"] for one in bill["dependencies"]} == known
    assert {name for one in bill["dependencies"] for name in one["dependsOn"]} <= known
    page = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
    assert "\n".join(program("write_sbom").table(bill)) in page


def test_the_lock_names_files_and_hashes_and_no_host() -> None:
    assert not re.search(r"://|^\s*index|\burl\b", LOCK, re.MULTILINE)
    lock = tomllib.loads(LOCK)
    assert (lock["lock-version"], lock["requires-python"]) == ("1.0", PROJECT["requires-python"])
    for package in PACKAGES:
        for wheel in package["wheels"]:
            name, version = wheel["path"].removeprefix("wheelhouse/").split("-")[:2]
            assert name.lower().replace("_", "-").replace(".", "-") == package["name"]
            assert (version, len(wheel["hashes"]["sha256"])) == (package["version"], 64)


def test_the_lock_has_a_wheel_for_every_python_and_system() -> None:
    def has(package: dict[str, Any], python: str, system: str) -> bool:
        tags = [wheel["path"][:-4].split("-")[-3:] for wheel in package["wheels"]]
        return any(
            (tag in {f"cp{python}", "py3", "py2.py3"} or (abi == "abi3" and int(tag[2:]) <= int(python)))
            and (platform == "any" or system in platform)
            for tag, abi, platform in tags
        )

    systems = ("_x86_64", "_aarch64", "macosx", "win_amd64")
    none_offends(
        (
            (package["name"], python, system)
            for package in PACKAGES
            for python in ("311", "312", "313", "314")
            for system in systems
            if not has(package, python, system) and (package["name"], system) != NONE
        ),
        "every dependency has a wheel",
    )


def test_the_lock_agrees_with_the_pins() -> None:
    locked = {package["name"]: package["version"] for package in PACKAGES}
    elsewhere = {"colorama", "setuptools"}  # on Windows alone, and from Python 3.12 on
    none_offends(
        (name for name, version in locked.items() if PINNED.get(name) != version and name not in elsewhere),
        "a locked version is the pinned one",
    )
    asked = {re.split(r"[<>=]", line)[0] for line in PROJECT["dependencies"]}
    for extra in ("app", "docx", "dp", "duckdb", "files"):
        asked |= {re.split(r"[<>=]", line)[0] for line in PROJECT["optional-dependencies"][extra]}
    assert asked <= locked.keys()


def test_the_wheelhouse_asks_for_hashes(tmp_path: Path) -> None:
    house = program("wheelhouse")
    lines = list(house.locked(PACKAGES))
    assert len(lines) == len(PACKAGES)
    assert all(re.fullmatch(r"\S+==\S+( ; .*?)?( --hash=sha256:[0-9a-f]{64})+", line) for line in lines)
    for name in ("sdckit-0.2.0-py3-none-any.whl", "lazy_loader-0.4-py3-none-any.whl"):
        (tmp_path / name).write_bytes(b"")
    empty = "--hash=sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert list(house.held(tmp_path.glob("*.whl"))) == [
        f"lazy_loader==0.4 {empty}", f"sdckit[app,docx,dp,duckdb,files]==0.2.0 {empty}",
    ]  # fmt: skip


def test_what_is_tried_without_a_network_is_what_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    house = program("wheelhouse")
    assert [command.split()[-1] for command in house.commands()] == [
        "sdckit", "requirements.txt", "demo", "doctor", "app",
    ]  # fmt: skip
    assert "--no-index" in house.commands()[1]

    def without_unshare(*_: object, **__: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(house.subprocess, "run", without_unshare)
    assert house.no_network() == ()
