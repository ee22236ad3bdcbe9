"""What releases give away together, in a document: small counts hidden, releases named inside only."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import sdckit as sdc
from attacks.differencing.several import people, with_gaps
from report.attacker import Solver, gives_away, opened
from sdckit.report.chapters.document import build_document
from sdckit.report.gate.choose_rounding import sound_relations
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_blocks, result_document
from sdckit.report.views import differencing
from sdckit.report.wording import wording

DATA = people(200)
HERE = {"keys": ["part", "sex", "age"], "sensitive": ["job"], "id": "id"}


def hidden(n: int) -> sdc.Differencing:
    """A release in which n ages are hidden that an earlier one shows."""
    new = DATA.with_columns(age=pl.when(pl.int_range(200) < n).then(None).otherwise("age"))
    return sdc.differencing(new, earlier={"first": DATA}, **{**HERE, "sensitive": []})  # type: ignore[arg-type]


def tree_of(result: sdc.Differencing, *, internal: bool = False) -> dict[str, object]:
    return protect(result_document(result), internal=internal)["differencing"]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_fewer_than_five_people_are_never_told(n: int) -> None:
    result = hidden(n)
    assert (result.given_back, result.people) == (n, n)
    assert json.dumps(tree_of(result)) == json.dumps(tree_of(hidden(5 - n)))
    assert tree_of(result)["figures"]["given_back"]["n"]["text"] == "<5"  # type: ignore[index]


@pytest.mark.parametrize("share", [0.01, 0.02, 0.05])
def test_no_small_count_can_be_worked_out(share: float, tmp_path: Path) -> None:
    """Of an assessment with all of its relations, each of which is true."""
    before = with_gaps(with_gaps(DATA, "sex", share, seed=4), "age", share, seed=5)
    place = {"folder": str(tmp_path / "ledger"), "key": str(tmp_path / "ledger.key")}
    keys = {"keys": ["region", "sex", "age"], "sensitive": ["job"]}
    sdc.ReleaseLedger.create(**place, survey="Survey").add(before, name="first", id="id", **keys)  # type: ignore[arg-type]
    now = with_gaps(DATA, "region", share, seed=6)
    scenario = sdc.Scenario(**keys, ledger={**place, "id": "id"}, thresholds={"k": 3, "differencing": 0.02})  # type: ignore[arg-type]
    ledger, prints = opened(build_document(sdc.assess(now, scenario=scenario)))
    counts = [name for name, one in ledger.variables.items() if one.kind == "count"]
    sound = sound_relations(ledger.variables, ledger.relations, counts)
    assert [one for one in ledger.relations if one not in sound] == []
    solver, empty = Solver(ledger, prints), Solver(ledger, {})
    watched = [name for name in counts if ".differencing." in name]
    assert len(watched) >= 5
    assert any((ledger.variables[name].true or 0) > 0 for name in watched)
    for name in watched:
        if name not in prints or prints[name].low < 5:
            assert not gives_away(solver, empty, name), (name, solver.range(name))


def test_inside_every_release_has_its_figures() -> None:
    result = hidden(7)
    text = "\n".join(map(repr, result_blocks(protect(result_document(result), internal=True))))
    for words in ("first", "the file itself compared", "Release by release", "new uniques"):
        assert words in text
    protected = "\n".join(map(repr, result_blocks(protect(result_document(result)))))
    assert "first" not in protected
    assert "Release by release" not in protected
    assert "Value hidden here, shown earlier" in protected


def test_several_releases_and_values_known_together_have_a_chart() -> None:
    files = {"a": DATA, "b": with_gaps(DATA, "sex", 0.2)}
    result = sdc.differencing(DATA, earlier=files, earlier_keys=["region", "band"], **HERE)  # type: ignore[arg-type]
    chart = result.plot().to_dict()
    assert "2 earlier releases" in json.dumps(chart)
    assert result.certain_together > 4


def test_releases_that_several_columns_link_are_told_with_how_sure_it_is() -> None:
    first = people(200).drop("id")
    second = first.sample(fraction=1.0, shuffle=True, seed=2)
    result = sdc.differencing(second, earlier={"first": first}, keys=["sex"])
    (entry,) = result.entries
    assert entry.right is not None
    inside = "\n".join(map(repr, result_blocks(protect(result_document(result), internal=True))))
    assert f"joined by {', '.join(entry.linked_by)} together; {entry.linked:,} links, of which" in inside
    protected = "\n".join(map(repr, result_blocks(protect(result_document(result)))))
    assert f"Records joined with earlier releases by: {', '.join(entry.linked_by)} together" in protected
    assert "links, of which" not in protected
    other = sdc.differencing(people(200, seed=7).drop("id"), earlier={"first": first}, keys=["sex"])
    text = "\n".join(map(repr, result_blocks(protect(result_document(other), internal=True))))
    assert "no columns of both lead from one to the other" in text


def test_an_empty_ledger_has_nothing_to_say(tmp_path: Path) -> None:
    ledger = sdc.ReleaseLedger.create(tmp_path / "ledger", key=tmp_path / "ledger.key", survey="Survey")
    result = sdc.differencing(DATA, ledger=ledger, keys=["sex"])
    assert (result.people, result.entries, result.not_intersected) == (0, (), ())
    assert "The ledger holds no release yet" in repr(result_blocks(protect(result_document(result))))


def test_no_figure_of_zero_says_nothing_is_disclosed_where_not_all_was_looked_for() -> None:
    unlinked = DATA.select("sex", "job").sample(fraction=1.0, shuffle=True, seed=2)
    for earlier, whole in ((DATA, True), (unlinked, False)):
        result = sdc.differencing(DATA, earlier={"first": earlier}, **{**HERE, "id": None})  # type: ignore[arg-type]
        assert result.people == 0
        plain = protect(result_document(result))
        answer = differencing.VIEW.answer(plain, "differencing", plain)
        assert ("discloses nothing" in answer, "not judged" in answer) == (whole, not whole)
        assert (differencing.IN_PART in repr(result_blocks(plain))) is not whole


def test_the_report_of_an_assessment_answers_the_question(tmp_path: Path) -> None:
    place = {"folder": str(tmp_path / "ledger"), "key": str(tmp_path / "ledger.key")}
    sdc.ReleaseLedger.create(**place, survey="Survey").add(
        DATA, name="secret name", keys=["region", "band"], sensitive=["job"], id="id"
    )
    scenario = sdc.Scenario(
        keys=["part", "sex", "age"], sensitive=["job"], ledger={**place, "id": "id"}, thresholds={"differencing": 0.0}
    )
    result = sdc.check(DATA, scenario=scenario)
    assert not result.passed
    sdc.assess(DATA, scenario=scenario).report(tmp_path / "report.md")
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "What do releases disclose together?" in text
    assert "Records of which something is disclosed together with earlier releases" in text
    assert "secret name" not in text


def test_overlapping_ranges_are_noted_in_german_too() -> None:
    """Of one variable and of two; as a paragraph and within what would end it."""
    data = pl.DataFrame({"id": range(80), "region": ["n", "s"] * 40, "hours": ["30-39"] * 40 + ["40-49"] * 40})
    now = data.with_columns(hours=pl.Series(["35-44", "25-34"] * 20 + ["35-44", "45-54"] * 20))
    result = sdc.differencing(now, earlier={"first": data}, keys=["region"], sensitive=["hours"], id="id")
    text = "\n".join(map(repr, result_blocks(protect(result_document(result)))))
    note = result.notes["crossed"]
    assert f"{note[0].upper()}{note[1:]}." in text
    assert "first" not in text
    for names in ("hours", "hours, pay"):
        own = note.replace("hours", names)
        for words in (f"{own[0].upper()}{own[1:]}.", own):
            untold: list[str] = []
            translated = wording("de").translate(words, {"hours", "pay"}, untold.append)
            assert (untold, "take those" in translated) == ([], False)
