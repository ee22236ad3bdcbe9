"""``sdckit r-functions``: the functions for R run, as on their page, and give the figures of Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from needs import needs_r
from pages import FENCED
from sdckit.workflow.recipes.recipe_log import RecipeLog
from stages import people
from tree import ROOT

PAGE = ROOT / "docs" / "from-r-stata-sas-spss.md"
KEYS = ["sex", "age", "region"]
RECIPE = [
    {"method": "recode", "column": "age", "bands": [18, 30, 45, 60, None]},
    {"method": "local_suppression", "k": 3},
]
LEFT = """
odd <- data.frame(
  code = factor(c("1.50", "2", "NA", NA), c("NA", "2", "1.50", "never")), text = c("01", "1", " a, \\"b\\"\\n", NA),
  small = c(1/3, 2e-300, NA, 2^53), whole = c(NA, 1L, -7L, 3L), size = factor(c("s", "l", "s", "l"), c("s", "l"),
  ordered = TRUE), true = c(TRUE, NA, FALSE, TRUE), day = as.Date("2024-02-29") + c(0, 1, NA, 3)
)
odd <- odd[rep(1:4, 20), ]
back <- sdc_protect(list(list(method = "recode", column = "whole", bands = c(-10, 0, 10))), odd)
same <- vapply(setdiff(names(odd), "whole"), function(name) {
  isTRUE(all.equal(as.character(odd[[name]]), as.character(back[[name]]))) &&
    class(odd[[name]])[1] == class(back[[name]])[1]
}, NA)
small <- identical(odd$small, back$small)
told <- function(call) tryCatch(call, error = conditionMessage)
wrong <- c(
  told(sdc_measure("k_anonymity", survey, keys = "nowhere")), told(sdc_assess("no.csv", keys = "sex")),
  told(sdc_measure("suda", data.frame(a = c("1.5", "1.50")), keys = "a")), told(sdc_assess(survey, "sex")),
  told(sdc_measure("suda", data.frame(a = c("", "x")), keys = "a"))
)
for (name in c("figures", "risk")) assign(name, transform(get(name), value = sprintf("%.17g", value)))
left <- list(figures = figures, risk = risk, protected = protected, verdicts = verdicts, drawn = made_up,
  passed = attr(verdicts, "passed"), levels = levels(back$code), ordered = levels(back$size),
  same = same, small = small, folders = list.files(tempdir(), "^sdckit"), wrong = wrong)
jsonlite::write_json(left, "left.json", digits = NA, na = "null")
"""


def test_it_says_where_they_stand(sdckit) -> None:
    done = sdckit("r-functions")
    text = Path(done.out.strip()).read_text(encoding="ascii")
    assert done.code == 0
    assert all(f"\n{name} <- function(" in text for name in ("sdc_assess", "sdc_check", "sdc_measure", "sdc_protect"))


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the page's session in R, and some more calls, leave."""
    program, folder = needs_r(), tmp_path_factory.mktemp("r")
    people().write_csv(folder / "survey.csv")
    said = [match[2] for match in FENCED.finditer(PAGE.read_text(encoding="utf-8")) if match[1] == "r"]
    start = f'options(sdckit.program = "{Path(sys.executable).with_name("sdckit").as_posix()}")\n'
    (folder / "session.R").write_text(start + "\n".join(said) + LEFT, encoding="utf-8")
    path = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [program, "session.R"], cwd=folder, env={**os.environ, "PYTHONPATH": path, "LC_ALL": "C.UTF-8"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    made: dict[str, Any] = json.loads((folder / "left.json").read_text(encoding="utf-8"))
    return made | {"folder": folder}


def scenario() -> sdc.Scenario:
    return sdc.Scenario(keys=KEYS, weight="w", sensitive=["income"], thresholds={"k": 3})


def rows(frame: pl.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    return frame.select(columns).rows()


def agree(told: list[dict[str, Any]], measured: list[tuple[Any, ...]], *columns: str) -> None:
    """The same names in the same order, and the same figures."""
    assert [tuple(row[name] for name in columns) for row in told] == [row[:-1] for row in measured]
    values = [float(row["value"]) for row in told]
    assert values == pytest.approx([row[-1] for row in measured], rel=1e-12, abs=1e-300, nan_ok=True)


def test_figures_are_those_of_python(left: dict[str, Any]) -> None:
    survey = people()
    names = ("intruder", "measure", "figure")
    agree(left["figures"], rows(sdc.assess(survey, scenario=scenario()).details(), *names, "value"), *names)
    agree(left["risk"], rows(sdc.individual_risk(survey, scenario=scenario()).details(), "figure", "value"), "figure")


@pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")
def test_protected_and_drawn_records_are_those_of_python(left: dict[str, Any], tmp_path: Path) -> None:
    def records(frame: pl.DataFrame) -> list[tuple[str, ...]]:
        return [tuple("" if cell is None else str(cell) for cell in row) for row in frame.rows()]

    def told(name: str) -> list[tuple[str, ...]]:
        columns = people().columns
        return [tuple("" if row.get(one) is None else str(row[one]) for one in columns) for row in left[name]]

    recipe = sdc.Recipe(RECIPE)
    protected = recipe.apply(people(), scenario=scenario()).data.with_columns(pl.col("w").cast(pl.Int64))
    assert told("protected") == records(protected)
    log = RecipeLog.read(Path(left["folder"]) / "log.json")
    again = sdc.Recipe.replay(people().with_columns(pl.col("w").cast(pl.Int64)), log).data
    assert told("drawn") == records(again)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        verdicts = sdc.check(people(), protected, scenario=scenario(), recipe=recipe)
    assert left["passed"] == [verdicts.passed]
    expected = [(one.name, one.intruder, one.word, one.sentence) for one in verdicts.verdicts]
    assert [
        (row["threshold"], row["intruder"], row["verdict"], row["sentence"]) for row in left["verdicts"]
    ] == expected


def test_columns_come_back_as_they_went(left: dict[str, Any]) -> None:
    assert left["same"] == [True] * 6
    assert left["small"] == [True]
    assert left["levels"] == ["NA", "2", "1.50"]  # without the one that nobody has
    assert left["ordered"] == ["s", "l"]
    assert left["folders"] == []


def test_what_is_wrong_is_one_error(left: dict[str, Any]) -> None:
    wanted = ("no column 'nowhere'", "path of a file", "the same number", "options are named", "empty texts")
    assert [said in one for said, one in zip(wanted, left["wrong"], strict=True)] == [True] * 5
