"""Charts draw themselves without a network: in a notebook, and as a page in a browser that has none."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sdckit as sdc
from recipes import STEPS, scenario, survey
from report.browser import Browser
from report.views.pairs import CALLS, result_of
from sdckit.errors import FileFormatError
from sdckit.report.offline import ENDINGS, Offline, write_chart

URL = r"[\"']?\s*(?:https?:)?//"
LOADED = re.compile(rf"(?:src|href|data|action|poster)\s*=\s*{URL}|@import|url\(\s*{URL}", re.IGNORECASE)


def the_map() -> Any:
    recipe = sdc.Recipe([STEPS[1]])
    return sdc.explore(survey(), recipe, grid={"pram.pd": [0.5, 0.9]}, scenario=scenario(), seed=4, workers=1).plot()


def charts() -> dict[str, Any]:
    return {"map": the_map(), **{name: result_of(name).plot() for name in ("compare_models", "matching_risk")}}


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    return charts()


@pytest.fixture(scope="module")
def browser(page_viewer: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(page_viewer, tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def markup(page: str) -> str:
    """The page without what stands in its scripts."""
    return re.sub(r"<script[^>]*>.*?</script>", "<script></script>", page, flags=re.DOTALL)


def test_a_notebook_shows_a_picture(made: dict[str, Any]) -> None:
    for chart in made.values():
        assert isinstance(chart, Offline)
        shown = chart._repr_mimebundle_()
        assert set(shown) == {"image/svg+xml", "text/plain"}
        assert shown["image/svg+xml"].startswith("<svg")
        assert "<script" not in shown["image/svg+xml"]
        assert not LOADED.search(shown["image/svg+xml"])


def test_what_becomes_of_a_chart_stays_offline(made: dict[str, Any]) -> None:
    changed = made["map"].properties(width=300).configure_axis(grid=False)
    assert "image/svg+xml" in changed._repr_mimebundle_()


def test_another_process_is_given_a_chart(made: dict[str, Any]) -> None:
    for chart in made.values():
        again = pickle.loads(pickle.dumps(chart))
        assert isinstance(again, type(chart))
        assert again.to_dict() == chart.to_dict()


@pytest.mark.parametrize("way", ["write", "save", "to_html"])
def test_a_page_in_a_browser_without_a_network(
    made: dict[str, Any], browser: Browser, tmp_path: Path, way: str
) -> None:
    for name, chart in made.items():
        path = tmp_path / f"{name}.html"
        if way == "write":
            write_chart(chart, path)
        elif way == "save":
            chart.save(path)
        else:
            path.write_text(chart.to_html(), encoding="utf-8")
        text = path.read_text(encoding="utf-8")
        assert not LOADED.search(markup(text)), name
        browser.open(path, width=1000)
        browser.call(
            "Runtime.evaluate", awaitPromise=True,
            expression="new Promise(done => setTimeout(done, 1500))",
        )  # fmt: skip
        asked = [one["request"]["url"] for one in browser.happened("Network.requestWillBeSent")]
        assert [url for url in asked if not url.startswith(("data:", "blob:"))] == [path.as_uri()]
        assert browser.evaluate("document.querySelectorAll('svg path, canvas').length") > 0
        assert not browser.evaluate("document.querySelectorAll('.vega-actions a').length")  # no way to an editor
        assert not browser.happened("Runtime.exceptionThrown")


def test_every_format(made: dict[str, Any], tmp_path: Path) -> None:
    for ending in ENDINGS:
        path = tmp_path / f"map{ending.upper()}"
        write_chart(made["map"], path)
        assert path.stat().st_size > 500
    assert "$schema" in json.loads((tmp_path / "map.JSON").read_text(encoding="utf-8"))
    write_chart(made["map"], tmp_path / "own.svg", private=True)
    assert (tmp_path / "own.svg").stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileFormatError, match="ends in one of"):
        write_chart(made["map"], tmp_path / "map.pdf")


def test_every_chart_of_two_files_is_offline() -> None:
    for name in CALLS:
        if name in {"combine", "canaries"}:
            continue
        assert isinstance(result_of(name).plot(), Offline), name
