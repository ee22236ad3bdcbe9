"""Make a folder from which the package is installed without a network, and install from it alone.

The folder (dist/air-gapped) holds the wheels of pylock.toml for this system and this Python, the package's own, and
their hashes. Where Linux allows it, the installation is tried with no network at all.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = "app,docx,dp,duckdb,files"
NO_NETWORK = ("unshare", "--map-root-user", "--net")


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


def attempt(folder: Path, tools: Path) -> str:
    """Install from the folder alone in a new environment, and run the demo there."""
    cut = no_network()
    with tempfile.TemporaryDirectory() as place:
        run(tools, "-m", "venv", f"{place}/venv")
        binaries = Path(place, "venv", "Scripts" if os.name == "nt" else "bin")
        run(*cut, binaries / "python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-index",
            "--find-links", folder / "wheelhouse", "--require-hashes", "-r", folder / "requirements.txt")  # fmt: skip
        run(binaries / "python", "-m", "pip", "--disable-pip-version-check", "check", stdout=subprocess.DEVNULL)
        run(*cut, binaries / "sdckit", "demo", "--quiet", "--report", f"{place}/demo.html", cwd=place)
        run(*cut, binaries / "python", "-c", "import docx, duckdb, fastexcel, opendp, pyreadstat, shiny", cwd=place)
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
