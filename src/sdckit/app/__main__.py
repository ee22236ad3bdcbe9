"""``python -m sdckit.app``: what the command ``sdckit app`` starts."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

from sdckit.app.serve import LIMIT, Options, serve
from sdckit.data.scenarios.scenario_toml import placed_entries
from sdckit.errors import SdcError


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve with the options of a command line, which were checked before."""
    parser = argparse.ArgumentParser(prog="python -m sdckit.app")
    parser.add_argument("file", nargs="?", default="")
    parser.add_argument("--scenario", default="", help="a scenario file")
    parser.add_argument("--project", default="", help="a project file")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--no-browser", action="store_true")
    parser.add_argument("--new", action="store_true", help="start another one where one runs")
    parser.add_argument("--limit", type=int, default=LIMIT, help="the most bytes of an upload")
    parser.add_argument("--warm", type=float, default=1.0, help="seconds until a page's worker is started ahead")
    given = parser.parse_args(arguments)
    try:
        scenario = placed_entries(given.scenario) if given.scenario else None
        options = Options(given.file, scenario, given.port, browser=not given.no_browser, project=given.project)
        serve(replace(options, limit=given.limit, warm=given.warm, new=given.new))
    except SdcError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
