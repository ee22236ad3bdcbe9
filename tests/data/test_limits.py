"""A limit is one row: one that nobody knows is found wherever limits are asked for."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys

import pytest

from sdckit.data.limits import LIMITS, SCOPES, ShareAtPoints, declarable, limit_words, limits_of_type
from sdckit.data.scenarios.thresholds import VALUES, Thresholds
from sdckit.report.chapters.decision import plain_verdict
from sdckit.report.chapters.sentences import verdict_sentence
from sdckit.report.wording import say
from sdckit.workflow.verdicts import Verdict
from tree import ROOT, none_offends

QUESTIONS = {"singled", "linked", "learnt", "tried", "covered", "used"}
PLACES = {
    "beside", "limit", "limit_percent", "value", "percent", "records", "variable", "are", "have", "group", "because",
    "reason", "columns", "ends", "figure",
}  # fmt: skip
PRINTED = {"beside", "limit", "limit_percent", "value", "some", "variable", "reason", "columns", "points"}


def test_the_signature_is_that_of_the_rows() -> None:
    named = [name for name, one in inspect.signature(Thresholds).parameters.items() if one.kind is one.KEYWORD_ONLY]
    assert named == list(declarable()) == list(Thresholds.model_fields)


@pytest.mark.parametrize("kind", LIMITS.values(), ids=LIMITS)
def test_a_row_is_whole(kind) -> None:
    assert kind.values in VALUES
    assert kind.scope in SCOPES if kind.declarable else kind.scope == "columns"
    assert kind.question in QUESTIONS
    assert not kind.of or kind.of in declarable()
    assert set(kind.types) <= {"public-use", "teaching", "scientific-use", "synthetic"}
    for text in (kind.holds, kind.exceeded):
        assert set(re.findall(r"{(\w+)", text)) <= PLACES
    for texts, more in ((kind.printed, set()), (kind.plain, {"others", "values", "chance", "percent"})):
        for text in (texts,) if isinstance(texts, str) else texts:
            assert set(re.findall(r"{(\w+)", text)) <= PRINTED | more
    assert kind.option or kind.of or not kind.declarable


IN_PERCENT = [kind for kind in LIMITS.values() if "{percent}" in kind.holds]


@pytest.mark.parametrize("holds", [True, False], ids=["holds", "exceeded"])
@pytest.mark.parametrize("kind", IN_PERCENT, ids=lambda kind: kind.name)
def test_a_limit_stands_in_the_unit_of_its_figure(kind, holds: bool) -> None:
    """'12 %, not above 0.05' leaves the reader to move the point."""
    share, limit = {"text": "12 %", "value": 0.12}, ShareAtPoints(0.05)
    entry = {
        "name": kind.name, "intruder": "a", "variable": "ill", "limit": limit, "points": 2, "n_records": None,
        "holds": {"text": "", "value": holds}, "rate": None, "value": share, "reason": "",
    }  # fmt: skip
    exact = Verdict(kind.name, "a", "ill", limit, holds, None, 0.12, "").sentence
    for sentence in (exact, verdict_sentence(entry, share), plain_verdict(entry, share)):
        assert "12 %" in sentence
        assert re.search(r"(above|limit of) 5 %", sentence), sentence
        assert "0.05" not in sentence


def test_a_limit_on_a_share_tells_its_figure_in_per_cent() -> None:
    """But that on attacks, whose figure is a difference of rates, and those that count records beyond a risk."""
    shares = [kind for kind in LIMITS.values() if kind.values.startswith("share") and kind.declarable]
    others = [kind for kind in shares if kind not in IN_PERCENT]
    assert {kind.judged for kind in others} == {"attacks", "count", "undone", "linked"}
    assert all("{records}" in kind.exceeded for kind in others if kind.judged != "attacks")


def test_types_of_release_bring_limits() -> None:
    assert limits_of_type("public-use") == {
        "k": 5, "risk": 0.05, "l": 2, "household_risk": 0.05, "known_points": 0.05, "recoverable": 0.0,
        "exact_numbers": 0.0,
    }  # fmt: skip
    assert limits_of_type("enclave") == {}
    assert limits_of_type("synthetic") == {
        "replicated_uniques": 0.05, "copied_records": 0.0, "correctly_disclosed": 0.2, "residual_risk": 0.2,
    }  # fmt: skip


def test_a_page_says_what_a_limit_is() -> None:
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("**/*.md"))
    none_offends(
        (name for name in declarable() if f"`{name}`" not in pages and f"\n{name} = " not in pages),
        "a page names every limit",
    )


TOY = """
import json, sys
from dataclasses import replace
from sdckit.data import limits

kind = limits.LimitKind(
    name="worst_case", values="share", measure="individual_risk", figure="max_risk", judged="share",
    holds="the worst case is {value:.3g}, not above {limit:g}",
    exceeded="the worst case is {value:.3g}, above {limit:g}",
    printed=("No case is worse than {limit:g}", "Some case is worse than {limit:g}"), question="linked",
    asked="How bad it can get", plain=("it cannot get worse than {limit:g}", "it can get worse than {limit:g}"),
    words="worst case", title="", advice="Think of the worst case.", aimed=True, types={"public-use": 0.01},
    form="largest case", metavar="CASE", option="Worst case to hold.",
)
limits.LIMITS[kind.name] = kind
of_type = {"worst_home": {"public-use": 0.5}, "few": {"public-use": 2}, "given_away": {}}
for (name, types), like in zip(of_type.items(), ("household_risk", "l", "differencing")):
    limits.LIMITS[name] = replace(limits.LIMITS[like], name=name, option=name, types=types)

import polars as pl
import sdckit as sdc
from sdckit.cli.app import run
from sdckit.workflow.proposing.propose import AIMED_AT
from sdckit.app.pages.roles import limits_part
from sdckit.app.page_context import speaker
from sdckit.report.formats.write import plain_document

file = pl.DataFrame({"sex": ["f", "m"] * 300 + ["f"], "age": [20, 30, 30, 20, 40] * 120 + [90]})
stated = sdc.Scenario(keys=["sex", "age"], thresholds={"worst_case": 0.1})
told = {"toml": stated.to_toml()}
open(sys.argv[1] + "/scenario.toml", "w").write(told["toml"])
told["again"] = sdc.Scenario.from_toml(sys.argv[1] + "/scenario.toml").thresholds.declared
result = sdc.check(file, scenario=stated)
told["verdict"] = [(one.name, one.holds, one.sentence) for one in result.verdicts]
told["open"] = sdc.check(file, scenario=sdc.Scenario(keys=["sex"], thresholds={"worst_case": 0.9})).passed
for internal in (False, True):
    told[f"plain {internal}"] = plain_document(result.assessment, internal=internal)["verdicts"]
told["type"] = sdc.Scenario(keys=["sex"], release="public-use").limits.declared
told["aimed"] = "worst_case" in AIMED_AT
told["form"] = str(limits_part(speaker("en"), {"keys": ["sex"]}, 601))
try:
    sdc.Scenario(keys=["sex"], thresholds={"worst_case": 2})
except sdc.SdcError as error:
    told["refused"] = str(error)
file.write_csv(sys.argv[1] + "/survey.csv")
out = sys.argv[1] + "/report.md"
line = ["assess", sys.argv[1] + "/survey.csv", "--keys", "sex,age", "--worst-case", "0.1", "--report", out, "-q"]
told["code"] = run(line)
told["report"] = open(out, encoding="utf-8").read()
homes = file.with_columns(home=pl.int_range(601) % 301, ill=pl.Series(["y", "n", "n"] * 200 + ["y"]))
roles = {"keys": ["sex", "age"], "household": "home", "sensitive": ["ill"], "release": "public-use"}
both = sdc.assess(homes, file, scenario=sdc.Scenario(**roles, thresholds={"given_away": 0.5}, aligned=True))
told["without columns"] = {one.name: (one.variable, one.holds, one.reason) for one in both.verdicts}
told["original"] = [one.name for one in both.original.verdicts]
print("TOLD" + json.dumps(told, default=str))
"""


def test_a_limit_that_nobody_knows_is_found_everywhere(tmp_path) -> None:
    line = [sys.executable, "-W", "ignore", "-c", TOY, str(tmp_path)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert "TOLD" in done.stdout, done.stderr
    told = json.loads(done.stdout.partition("TOLD")[2])
    assert "worst_case = 0.1" in told["toml"]
    assert told["again"] == {"worst_case": 0.1}
    assert told["verdict"] == [["worst_case", False, "the worst case is 1, above 0.1"]]
    assert told["open"] is True
    lacking = "the release does not have the "
    assert told["without columns"]["worst_home"] == [None, True, f"{lacking}household column"]
    assert told["without columns"]["few"] == ["ill", True, f"{lacking}variable"]
    assert "given_away" in told["without columns"]
    assert "given_away" not in told["original"]
    for internal in (False, True):
        (verdict,) = told[f"plain {internal}"]
        assert (verdict["name"], verdict["holds"]["value"]) == ("worst_case", False)
    assert told["type"]["worst_case"] == 0.01
    assert told["aimed"]
    assert "limit_worst_case" in told["form"]
    assert "largest case" in told["form"]
    assert "worst_case" in told["refused"]
    assert told["code"] == 0
    assert "Some case is worse than 0.1" in told["report"]
    assert "It can get worse than 0.1" in told["report"]
    assert "Think of the worst case." in told["report"]


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_is_listed_in_words_and_in_german(name: str) -> None:
    words = limit_words(name)
    assert "_" not in words
    assert say(words, "de") != words
