"""Other packages in environments of their own, made on first use, and programs run there."""

from __future__ import annotations

import argparse
import subprocess
import sys
import venv
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / ".cache" / "peers"


def add_options(parser: argparse.ArgumentParser, packages: str) -> None:
    """The two options of every benchmark that has a peer."""
    parser.add_argument("--peer-python", default=None, help=f"Python that has {packages}; else one is made")
    parser.add_argument("--skip-peers", action="store_true", help="ours alone")


def chosen(options: argparse.Namespace, *packages: str) -> str | None:
    """The peer's Python: the one named, none, or one made for it."""
    if options.skip_peers:
        return None
    return options.peer_python or python_with(*packages)


def python_with(*packages: str) -> str:
    """The Python of an environment that has these packages."""
    folder = FOLDER / "-".join(packages)
    python, done = folder / "bin" / "python", folder / "installed"
    if not done.exists():
        print(f"installing {', '.join(packages)} for comparison ...", file=sys.stderr, flush=True)
        venv.create(folder, clear=True, with_pip=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages], check=True
        )
        done.touch()
    return str(python)


def said_by(python: str, program: str, *arguments: object) -> str:
    """Run a program there; its last line."""
    command = [python, "-c", program, *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()[-1]
