"""``sdckit app``: the web app, on this machine only."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Annotated

from sdckit.cli.options import argument, option
from sdckit.errors import SdcError
from sdckit.operating_system import become

NEEDED = ("shiny", "uvicorn")
HIGHEST_PORT = 65_535


def app(
    file: Annotated[Path | None, argument("app", "file")] = None,
    *,
    scenario: Annotated[Path | None, option("app", "--scenario")] = None,
    project: Annotated[Path | None, option("app", "--project")] = None,
    port: Annotated[int, option("app", "--port")] = 0,
    no_browser: Annotated[bool, option("app", "--no-browser")] = False,
    new: Annotated[bool, option("app", "--new")] = False,
) -> int:
    """Do the whole job in a browser: open a file, see its risk, protect it, take the release away.

    Everything stays on this machine. The address that is printed is good for one visit; stop the program with Ctrl+C.
    Where one of yours runs already, a fresh address of it is opened, with FILE in a tab of its own.
    """
    if missing := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
        raise SdcError(f'the app needs {" and ".join(missing)}; install it: pip install "sdckit[app]"')
    if not 0 <= port <= HIGHEST_PORT:
        raise SdcError(f"port is from 0 to {HIGHEST_PORT}; give another one", argument="port")
    options = ["--port", str(port), *["--no-browser"] * no_browser, *["--new"] * new]
    # what is named is read before another process is begun, so that it is refused here
    if project is not None:
        from sdckit.workflow.sessions.projects import read_project

        read_project(project)
        options = ["--project", str(project.resolve()), *options]
    if scenario is not None:
        from sdckit.data.scenarios.scenario import Scenario

        Scenario.from_toml(scenario)
        options = ["--scenario", str(scenario.resolve()), *options]
    if file is not None:
        from sdckit.data.files.file_checks import file_format

        file_format(file)
        options = [str(file.resolve()), *options]
    return become([sys.executable, "-m", "sdckit.app", *options])
