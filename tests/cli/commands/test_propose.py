"""``sdckit propose``: what it writes runs through ``protect`` and ``check`` as it stands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import MARKER

pytestmark = pytest.mark.filterwarnings("ignore")
Runner = Callable[..., Any]
SCENARIO = """
identifiers = ["name"]

[intruders.neighbour]
keys = ["sex", "age", "region"]

[intruders.colleague]
keys = ["sex", "income"]

[thresholds]
k = 3
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "s.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


def test_what_it_writes_protects_and_passes(sdckit: Runner, survey: Path, scenario: Path, tmp_path: Path) -> None:
    recipe, safe, log, told = (tmp_path / name for name in ("r.toml", "safe.csv", "log.json", "p.json"))
    report = tmp_path / "report.md"
    call = ("propose", survey, "--scenario", scenario, "--alternatives", 1)
    done = sdckit(*call, "--out", recipe, "--json", told, "--report", report)
    assert done.code == 0, done.err
    assert "r.toml has a first recipe that holds every threshold: " in done.out
    assert "Every threshold holds." in done.out
    assert f"sdckit protect {recipe} {survey} --scenario {scenario} --out safe.csv --log log.json" in done.out
    texts = [one.read_text(encoding="utf-8") for one in (recipe, told, report)]
    assert MARKER not in done.out + "".join(texts)
    found = json.loads(texts[1])
    assert found["passed"] is True
    first, *reasons = found["reasons"]
    assert first == "Direct identifiers do not go out."  # they were not read, and need not be left out
    assert reasons
    assert all(why in texts[2] for why in reasons)
    assert found["alternatives"][0]["words"] in texts[2]
    assert sdckit("protect", recipe, survey, "--scenario", scenario, "--out", safe, "--log", log, "-q").code == 0
    done = sdckit("check", survey, "--scenario", scenario, "--released", safe, "--log", log, "--seed", 1)
    assert done.code == 0, done.out
    done = sdckit(*call, "--out", recipe)
    assert done.code == 2
    assert "--force" in done.err


def test_what_does_not_pass_ends_with_one(sdckit: Runner, survey: Path, scenario: Path) -> None:
    scenario.write_text(SCENARIO + "match_risk = 0.000001\n", encoding="utf-8")
    done = sdckit("propose", survey, "--scenario", scenario, "--alternatives", 0)
    assert done.code == 1
    assert "do not hold, or could not be judged: match_risk" in done.out.replace("\n# ", " ")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--importance", "age=x"),
        ("--importance", "age"),
        ("--keep", "agee"),
        ("--allow", "age=noise"),
        ("--share", "2"),
        ("--loss", "auc"),
        ("--formula", "sex ~ age"),
        ("--family", "probit"),
    ],
)
def test_bad_options(sdckit: Runner, survey: Path, scenario: Path, option: str, value: str) -> None:
    done = sdckit("propose", survey, "--scenario", scenario, option, value)
    assert done.code == 2
    assert option.removeprefix("--") in done.err
