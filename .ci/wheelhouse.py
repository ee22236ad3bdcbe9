"""Make a folder from which the package is installed without a network, and install from it alone.

The folder (dist/air-gapped) holds the wheels of pylock.toml for this system and this Python, the package's own, and
their hashes. The commands of docs/air-gapped.md are then tried in a new environment, where Linux allows it with no
network at all.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from try_container import NO_NETWORK, answers

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = "app,docx,dp,duckdb,files"


def locked(packages: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Requirements with the hashes of every wheel that is locked, on whatever system."""
    for package in packages:
        marker = f" ; {package['marker']}" if "marker" in package else ""
        hashes = "".join(f" --hash=sha256:{wheel['hashes']['sha256']}" for wheel in package["wheels"])
        yield f"{package['name']}=={package['version']}{marker}{hashes}"


def held(wheels: Iterable[Path]) -> Iterator[str]:
    """Requirements with the hashes of the wheels that are there."""
    for wheel in sorted(wheels):
        name, version = wheel.name.split("-")[:2]
        asked = f"{name}[{EXTRAS}]" if name == "sdckit" else name
        yield f"{asked}=={version} --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}"


def run(*words: str | Path, **more: Any) -> None:
    """Run a program; what it says is shown, and where it fails, so does this."""
    subprocess.run([str(word) for word in words], check=True, **more)


def make(folder: Path, tools: Path) -> None:
    """Download what is locked, build the package's wheel, write the hashes."""
    shutil.rmtree(folder, ignore_errors=True)
    house = folder / "wheelhouse"
    house.mkdir(parents=True)
    requirements = folder / "requirements.txt"
    packages = tomllib.loads((ROOT / "pylock.toml").read_text(encoding="utf-8"))["packages"]
    requirements.write_text("\n".join(locked(packages)) + "\n", encoding="utf-8")
    pip = (tools, "-m", "pip", "--disable-pip-version-check")
    run(*pip, "download", "--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes", "-r", requirements,
        "-d", house)  # fmt: skip
    run(tools, "-m", "build", "--wheel", "--no-isolation", "--outdir", house, ROOT, stdout=subprocess.DEVNULL)
    requirements.write_text("\n".join(held(house.glob("*.whl"))) + "\n", encoding="utf-8")
    shutil.copy(ROOT / "pylock.toml", folder)


def no_network() -> tuple[str, ...]:
    """What a program is begun by so that it has no network; nothing where that is not possible."""
    try:
        done = subprocess.run([*NO_NETWORK, "true"], capture_output=True, check=False)
    except OSError:
        return ()
    return NO_NETWORK if done.returncode == 0 else ()


def commands() -> list[str]:
    """What the page tells whoever installs from the folder to type, the app last."""
    page = (ROOT / "docs" / "air-gapped.md").read_text(encoding="utf-8")
    return page.partition("\n## Install from it\n")[2].split("```")[1].split("\n")[1:-1]


def attempt(folder: Path, tools: Path) -> str:
    """Type the commands of the page beside the folder's files alone, and fetch the first page of the app."""
    cut = no_network()
    env = os.environ | {"PATH": f"{tools.parent}{os.pathsep}{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory() as place:
        for name in ("wheelhouse", "requirements.txt"):
            Path(place, name).symlink_to(folder / name)
        *first, app = commands()
        for command in first:
            begun = time.monotonic()
            run(*cut, "sh", "-c", command, cwd=place, env=env, stdout=subprocess.DEVNULL)
            sys.stdout.write(f"wheelhouse: {time.monotonic() - begun:.0f} s: {command}\n")
        python = Path(place, first[1].split()[0])
        run(python, "-m", "pip", "--disable-pip-version-check", "check", stdout=subprocess.DEVNULL)
        run(*cut, python, "-c", "import docx, duckdb, fastexcel, opendp, pyreadstat, shiny", cwd=place)
        program, *words = app.split()
        answers([*cut, str(Path(place, program))], [*words, "--no-browser"], env=dict(env))
    return "without a network" if cut else "from the folder alone; the network was there"


def main() -> None:
    """Make the folder and try it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "dist" / "air-gapped")
    folder, tools = parser.parse_args().folder.resolve(), Path(sys.executable)
    make(folder, tools)
    how = attempt(folder, tools)
    wheels = [path.stat().st_size for path in folder.rglob("*.whl")]
    said = f"wheelhouse: {len(wheels)} wheels, {sum(wheels) / 2**20:.0f} MB, installed and tried {how}: {folder.name}\n"
    sys.stdout.write(said)


if __name__ == "__main__":
    main()
