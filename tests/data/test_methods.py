"""A protection method is one row: one that nobody knows is found wherever methods are asked for."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import sdckit as sdc
from sdckit.data.methods import METHODS, kind_of
from tree import ROOT


@pytest.mark.parametrize("kind", METHODS.values(), ids=METHODS)
def test_a_row_is_that_of_a_public_function(kind) -> None:
    assert callable(getattr(sdc, kind.name))
    assert kind.title
    assert (ROOT / "docs" / "protect" / f"{kind.name}.md").is_file()
    assert kind.plan in ("values", "cells", "records", "columns", "order")
    assert not kind.recodes or (kind.plan == "values" and kind.alike)
    assert not kind.random_with or kind.recodes


def test_a_method_of_another_version_says_nothing() -> None:
    assert kind_of("of_tomorrow").trace == ""
    assert not kind_of("of_tomorrow").recodes


TOY = """
import json, sys
from sdckit.data import methods

kind = methods.MethodKind(
    name="halve", title="Half the numbers", plan="values", by_record={"how": ("odd",)}, trace="rounded",
    random_with={"how": "odd"}, alike=True, numbers=("column",), editors=("how",),
)
methods.METHODS[kind.name] = kind

import polars as pl
import sdckit as sdc
from sdckit.app.page_context import speaker
from sdckit.app.browser_sessions import Step, Work
from sdckit.app.step_form import form, step_shown
from sdckit.cli.app import run
from sdckit.protect.change import Change, Protected
from sdckit.workflow.recipes.step_forms import form_of, forms

calls = []

def halve(data, *, column: str, base: float = 1000, how: str = "even"):
    '''Round to multiples of a base.

    Parameters
    ----------
    column : str
        A column of numbers.
    base : float
        Greater than 0.
    how : {"even", "odd"}
        So or so.
    '''
    calls.append(type(data).__name__)
    made = sdc.round_to(data, column=column, base=base)
    given = {"column": column, "base": base, "how": how}
    return Protected(made.data, Change("halve", made.change.n, made.change.changed, given, {}, {}))

sdc.halve = halve
pay = [1490, 2510, 3000, 3740, 1020, 2210] * 40
file = pl.DataFrame({"sex": ["f", "m"] * 120, "pay": pay})
told = {}
recipe = sdc.Recipe([{"method": "halve", "column": "pay", "base": 1000}])
open(sys.argv[1] + "/recipe.toml", "w").write(recipe.to_toml())
told["again"] = sdc.Recipe.from_toml(sys.argv[1] + "/recipe.toml") == recipe
for wrong in ({"column": "sex"}, {"column": "pai"}, {"column": "pay", "bass": 5}, {"column": "pay", "base": "x"}):
    try:
        sdc.Recipe([{"method": "halve", **wrong}]).check(file)
    except sdc.SdcError as error:
        told.setdefault("refused", []).append(str(error))
try:
    sdc.Recipe([{"method": "halv", "column": "pay"}])
except sdc.SdcError as error:
    told["near"] = str(error)
applied = recipe.apply(file)
told["memory"] = applied.data["pay"].to_list()[:3]
calls.clear()
told["plan"] = recipe.apply(file.lazy()).data.collect()["pay"].to_list()[:3]
told["called on"], calls[:] = list(calls), []
odd = sdc.Recipe([{"method": "halve", "column": "pay", "how": "odd"}]).apply(file.lazy())
told["by record"] = list(calls)
seen = sdc.recoverable_values(applied.data, file, keys=["sex"], log=applied.log, k=2, guess=False, seed=1)
told["kinds"] = {str(name): str(one) for name, one in vars(seen).items()}
compared = sdc.assess(file, applied.data, scenario=sdc.Scenario(keys=["sex", "pay"]), recipe=recipe, seed=1)
told["recoded"] = str(compared.to_dict())
told["form"] = [one.method for one in forms()][-1], [one.name for one in form_of("halve").entries]
say = speaker("en")
entries = [{"name": name, "kind": "value", "choices": [], "default": None, "needed": False, "about": ""}
           for name in ("base", "how")]
told["fields"] = str(form(say, {"method": "halve", "entries": entries}, {}, columns=["pay"], intruders=[]))
told["shown"] = str(step_shown(say, Work(steps=(Step("halve", {"column": "pay"}),)), 0, {}))
file.write_csv(sys.argv[1] + "/survey.csv")
line = ["protect", sys.argv[1] + "/recipe.toml", sys.argv[1] + "/survey.csv", "--out", sys.argv[1] + "/release.csv"]
told["code"] = run(line)
told["written"] = open(sys.argv[1] + "/release.csv").read()[:20]
print("TOLD" + json.dumps(told, default=str))
"""


def test_a_method_that_nobody_knows_is_found_everywhere(tmp_path) -> None:
    line = [sys.executable, "-W", "ignore", "-c", TOY, str(tmp_path)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert "TOLD" in done.stdout, done.stderr
    told = json.loads(done.stdout.partition("TOLD")[2])
    assert told["again"]
    numbers, absent, argument, value = told["refused"]
    assert "holds no numbers; halve needs some" in numbers
    assert "no column 'pai'" in absent
    assert "halve has no argument 'bass'" in argument
    assert "base takes a number" in value
    assert "did you mean 'halve'?" in told["near"]
    assert told["memory"] == told["plan"] == [1000, 3000, 3000]
    assert told["called on"] == ["Tallied"]
    assert "Tallied" not in told["by record"]
    assert "rounded" in told["kinds"]["columns"]
    assert "numbers rounded" in told["recoded"]
    assert told["form"] == ["halve", ["column", "base", "how"]]
    assert "arg_base" in told["fields"]
    assert "arg_how" not in told["fields"]
    assert "Half the numbers" in told["shown"]
    assert told["code"] == 0
    assert told["written"].startswith("sex,pay\nf,1000")
