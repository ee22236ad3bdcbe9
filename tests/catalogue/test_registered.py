"""A measure that the package has never heard of: one row, one view, and it is everywhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.catalogue import Measure, further, measure, registered
from sdckit.cells.as_cells import tabulate_given
from sdckit.cli.app import run as run_command
from sdckit.report.blocks import Block, ChartBlock, Facts, Paragraph
from sdckit.report.gate.figures import Share
from sdckit.report.setting import Setting
from sdckit.report.view import Note, View, find_view
from sdckit.result import Result

NAME = "doubles"
TITLE = "Records with one double"
CAPTION = "Records that share their key with one other"
NOTE = Note("Doubles", "Twice the number of key combinations of two records.", "this test")
QUESTION = "How many records share their key with exactly one other?"


@dataclass(frozen=True, eq=False, repr=False)
class Doubles(Result):
    """Records whose key one other record has."""

    measure: ClassVar[str] = NAME
    figures: ClassVar[tuple[str, ...]] = ("n", "n_doubles")
    cells: Any
    n: int
    n_doubles: int
    notes: dict[str, str] = field(default_factory=dict)


def doubles(data: Any, *, keys: Sequence[str] | None = None, scenario: Any = None, least: int = 1) -> Doubles:
    """Count the records that share their key with one other.

    Parameters
    ----------
    data : data frame or Cells
    keys : sequence of str
        Variables that an intruder could know.
    scenario : Scenario, optional
        Gives the keys where they are not given here.
    least : int
        Fewer doubles than this are none.
    """
    cells = data if hasattr(data, "count_cells") else tabulate_given(data, keys=keys, scenario=scenario)
    _, two, _ = cells.count_cells([1, 2, 3, 1 << 62])
    return Doubles(cells, cells.n, 2 * int(two) if 2 * int(two) >= least else 0)


def tree(result: Doubles, setting: Setting) -> Mapping[str, Any]:
    found = setting.count("doubles", result.n_doubles, "doubles")
    setting.ledger.nested("n", found.name)
    return {"n_doubles": found, "rate": Share(found.name, "n")}


def blocks(one: Mapping[str, Any], place: str) -> list[Block]:
    found = one[place]
    return [
        Paragraph("A double is a record that one other record looks like."),
        Facts(((CAPTION, f"{found['n_doubles']['text']} ({found['rate']['text']})"),)),
        ChartBlock("bars", {"rows": [{"label": "doubles", "n": found["n_doubles"]}], "unit": "records"}, CAPTION),
    ]


VIEW = View(TITLE, tree, blocks, lambda _: (NOTE,))
ROW = Measure(
    name=NAME, question=QUESTION, room="identity", files="one", needs=("keys",),
    words="counting the doubles of {intruder}",
    condition=lambda context: "one key alone has no doubles" if len(context.keys) < 2 else "",
    arguments=lambda _: {}, function=doubles,
)  # fmt: skip
ASKED = Measure(
    name=NAME, question=QUESTION, room="identity", files="one", needs=("keys",), words="counting doubles",
    arguments=lambda _: {}, function=doubles, on_request=True,
)  # fmt: skip
# Keys 0 to 39 once, 40 to 99 twice, 100 three hundred times: 120 doubles.
KEY = np.concatenate([np.arange(40), np.repeat(np.arange(40, 100), 2), np.full(300, 100)])
SURVEY = pl.DataFrame({"age": KEY % 10, "home": KEY // 10, "sex": np.where(np.arange(len(KEY)) % 2, "f", "m")})
Run = Callable[..., str]


@pytest.fixture
def known() -> Iterator[None]:
    with registered(ROW, VIEW):
        yield


@pytest.fixture
def sdckit(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*words: object) -> str:
        assert run_command([str(word) for word in words]) == 0
        return capsys.readouterr().out

    return run


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "survey.csv"
    SURVEY.write_csv(path)
    return path


@pytest.mark.usefixtures("known")
def test_assess_runs_it() -> None:
    found = sdc.assess(SURVEY, keys=["age", "home"])
    assert found["default"][NAME].n_doubles == 120
    assert (NAME, "n_doubles", 120.0) in {row[1:] for row in found.details().rows()}
    assert found.to_dict()["intruders"]["default"]["measures"][NAME]["figures"]["n_doubles"] == 120
    alone = sdc.assess(SURVEY, keys=["sex"])["default"]
    assert (alone.get(NAME), dict(alone.skipped)[NAME]) == (None, "one key alone has no doubles")


@pytest.mark.usefixtures("known")
def test_it_is_told_while_it_runs() -> None:
    told: list[str] = []
    sdc.assess(SURVEY, keys=["age", "home"], step=told.append)
    assert "counting the doubles of default" in told


@pytest.mark.usefixtures("known")
def test_the_dry_run_promises_it(sdckit: Run, file: Path) -> None:
    assert f"would run  {NAME}: {QUESTION}" in sdckit("assess", file, "--keys", "age,home", "--dry-run")
    alone = sdckit("assess", file, "--keys", "sex", "--dry-run")
    assert f"would not  {NAME}: one key alone has no doubles" in alone


@pytest.mark.usefixtures("known")
def test_it_is_in_the_report(tmp_path: Path) -> None:
    found = sdc.assess(SURVEY, keys=["age", "home"])
    found.report(tmp_path / "report.html")
    found.report(tmp_path / "report.md")
    for name in ("report.html", "report.md"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        for words in (TITLE, CAPTION, NOTE.text):
            assert words in text
    picture = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert picture.count("<svg") > _pictures_without(tmp_path)


def _pictures_without(folder: Path) -> int:
    sdc.assess(SURVEY, keys=["sex"]).report(folder / "without.html")
    return (folder / "without.html").read_text(encoding="utf-8").count("<svg")


@pytest.mark.usefixtures("known")
def test_it_is_in_the_json_and_protected(tmp_path: Path) -> None:
    found = sdc.assess(SURVEY, keys=["age", "home"])
    found.to_json(tmp_path / "report.json")
    told = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    (one,) = told["intruders"]
    assert one[NAME]["n_doubles"]["text"] == "120"
    few = SURVEY.filter((pl.col("home") < 4) | (pl.col("home") >= 10) | (pl.col("age") + pl.col("home") == 4))
    sdc.assess(few, keys=["age", "home"]).to_json(tmp_path / "few.json")
    told = json.loads((tmp_path / "few.json").read_text(encoding="utf-8"))
    assert told["intruders"][0][NAME]["n_doubles"]["text"] == "<5"


@pytest.mark.usefixtures("known")
def test_it_is_on_the_terminal(sdckit: Run, file: Path) -> None:
    told = sdckit("assess", file, "--keys", "age,home", "--full")
    assert TITLE in told
    assert "120" in next(line for line in told.splitlines() if CAPTION in line)


@pytest.mark.usefixtures("known")
def test_its_result_has_a_page_and_a_picture_of_its_own() -> None:
    result = sdc.assess(SURVEY, keys=["age", "home"])["default"][NAME]
    assert CAPTION in result._repr_html_()
    assert "doubles" in str(result.plot().to_dict())


def test_one_that_has_to_be_asked_for_is_asked_for_by_name(sdckit: Run, file: Path) -> None:
    with registered(ASKED, VIEW):
        assert NAME in further()
        assert NAME not in sdc.assess(SURVEY, keys=["age", "home"])["default"]
        assert sdc.assess(SURVEY, keys=["age", "home"], measures=NAME)["default"][NAME].n_doubles == 120
        assert TITLE in sdckit("assess", file, "--keys", "age,home", "--measures", NAME)


@pytest.mark.usefixtures("known")
def test_it_has_a_command(sdckit: Run, file: Path) -> None:
    assert f"{NAME} " in sdckit("--help")
    told = sdckit(NAME, "--help")
    for words in ("Count the records that share their key with one other.", "--keys", "--scenario"):
        assert words in told
    assert "Fewer doubles than this are none. Default 1." in " ".join(told.replace("│", " ").split())
    assert f"{CAPTION} 120 (26.1 %)" in " ".join(sdckit(NAME, file, "--keys", "age,home").split())
    assert f"{CAPTION} 0 (0 %)" in " ".join(sdckit(NAME, file, "--keys", "age,home", "--least", 121).split())


def test_it_is_gone_when_the_context_ends() -> None:
    assert run_command([NAME, "--help"]) == 2
    with registered(ROW, VIEW):
        assert measure(NAME) is ROW
        assert find_view(NAME) is VIEW
    with pytest.raises(KeyError, match=NAME):
        measure(NAME)
    assert find_view(NAME) is None
    assert NAME not in sdc.assess(SURVEY, keys=["age", "home"])["default"]
