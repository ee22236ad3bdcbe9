"""The tutorial notebook runs from top to bottom in a kernel of its own, offline; git keeps none of its outputs."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from sdckit.display import EXACT
from tree import ROOT

TUTORIAL = ROOT / "docs" / "tutorial.ipynb"
EXACT_CELLS = {"exact", "exact-shown"}
GUARD = "import offline as _guard\n_guard.watch()"
WENT_OUT = "_guard.WENT_OUT"


def read() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(TUTORIAL.read_text(encoding="utf-8"))
    return found


def test_no_output_is_kept() -> None:
    for cell in read()["cells"]:
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None), cell["id"]
    assert TUTORIAL.read_text(encoding="utf-8").endswith("}\n")


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """What each code cell shows."""
    import nbformat
    from nbclient import NotebookClient

    folder = tmp_path_factory.mktemp("tutorial")
    paths = [str(ROOT / "src"), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
    own = {name: str(folder / name) for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "TMPDIR")}
    for place in own.values():
        Path(place).mkdir()
    notebook = nbformat.reads(TUTORIAL.read_text(encoding="utf-8"), as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(GUARD, id="guard"))
    notebook.cells.append(nbformat.v4.new_code_cell(WENT_OUT, id="went-out"))
    client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}})
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**own, "PYTHONPATH": os.pathsep.join(filter(None, paths))}.items():
            patch.setenv(name, value)
        client.execute()
    return {cell["id"]: cell["outputs"] for cell in notebook.cells if cell["cell_type"] == "code"}


def shown(outputs: list[dict[str, Any]], kind: str) -> str:
    return "".join(one["data"].get(kind, "") for one in outputs if "data" in one)


def test_it_runs_and_stays_on_this_machine(outputs: dict[str, list[dict[str, Any]]]) -> None:
    assert shown(outputs["went-out"], "text/plain") == "[]"
    for name, found in outputs.items():
        warned = [one for one in found if one["output_type"] == "stream"]
        assert not warned, (name, warned)
    assert shown(outputs["passed"], "text/plain") == "True"
    written = shown(outputs["write"], "text/plain")
    assert all(name in written for name in ("report.html", "log.json", "released.sav"))


def test_charts_are_pictures_that_ask_no_server(outputs: dict[str, list[dict[str, Any]]]) -> None:
    for name in ("assess-chart", "check-chart", "map"):
        assert shown(outputs[name], "image/svg+xml").startswith("<svg"), name
    kept = json.dumps(outputs)
    assert "<script" not in kept
    assert not re.search(r"https?://(?!www\.w3\.org/)", kept)


def test_what_is_kept_is_protected_but_where_it_says_so(outputs: dict[str, list[dict[str, Any]]]) -> None:
    tables = {name: html for name, one in outputs.items() if (html := shown(one, "text/html"))}
    assert {"guess", "scenario", "assess", "recipe", "protect", "check", "gentler"} <= set(tables)
    assert {name for name, html in tables.items() if EXACT in html} == EXACT_CELLS
    for name in set(tables) - EXACT_CELLS:
        assert shown(outputs[name], "text/plain").endswith("shown as HTML>"), name
    assert tables["exact"] == tables["exact-shown"] != tables["protected-again"]
