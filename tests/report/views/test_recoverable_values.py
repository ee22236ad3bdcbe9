"""What a release gives back, in a document: small counts are hidden, and what told them."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from attacks.recovery.made import KEYS, released, survey
from draw import quiet
from report.attacker import Solver, opened
from sdckit import Scenario, recoverable_values
from sdckit.attacks.recovery.reconstruction_rules import Source
from sdckit.attacks.recovery.recoverable_values import ColumnRecovery
from sdckit.report.chapters.release_page import plain_release, shares_by_print
from sdckit.report.charts import to_svg
from sdckit.report.gate.figures import Document, Ledger, Told, Variable
from sdckit.report.gate.protect import _Printer, protect
from sdckit.report.gate.rounding import print_variable
from sdckit.report.notebook import result_blocks, result_document
from sdckit.report.shares import FEWEST, shown_share
from sdckit.report.views.recoverable_values import SOMEHOW, VIEW, _column, _concerned, _kinds

ORIGINAL = survey(700)


def found(hidden, whole=ORIGINAL, **given):
    roles = {"keys": KEYS, "weight": "weight", "household": "home", "seed": 1}
    return recoverable_values(hidden, whole, **roles | given)


def few(n):
    """A release in which n regions are missing, which the weight tells."""
    rows = np.random.default_rng(5).choice(ORIGINAL.height, n, replace=False)
    gone = pl.Series(np.isin(np.arange(ORIGINAL.height), rows))
    return ORIGINAL.with_columns(region=pl.when(gone).then(None).otherwise("region"))


def tree_of(result, *, internal=False):
    (tree,) = protect(result_document(result), internal=internal)["measures"].values()
    return tree


def blocks_of(result, *, internal=False):
    return result_blocks(protect(result_document(result), internal=internal))


def text_of(result, *, internal=False):
    return "\n".join(repr(block) for block in blocks_of(result, internal=internal))


@pytest.mark.parametrize("n", [1, 2, 4])
def test_fewer_than_five_values_given_back_are_never_told(n):
    result = found(few(n))
    assert result.right == n
    tree = tree_of(result)
    plain = json.dumps(tree["releases"])
    assert "weight" not in plain
    (column,) = tree["releases"][0]["columns"]
    assert column["told_by"] == ""
    assert column["back"]["text"] != str(n)
    assert column["touched"]["text"] != str(n)
    assert tree["advice"] == []
    assert "exact" not in tree
    said = text_of(result)
    assert "coarsen" not in said
    assert "mates share it" not in said


def test_inside_everything_is_told():
    result = found(few(3))
    tree = tree_of(result, internal=True)
    assert tree["releases"][0]["columns"][0]["back"]["text"] == "3"
    assert "coarsen_weights" in " ".join(tree["exact"]["advice"])
    assert "coarsen_weights" in text_of(result, internal=True)


def test_what_many_values_tell_is_printed():
    result = found(released(ORIGINAL))
    tree = tree_of(result)
    columns = {one["column"]: one for one in tree["releases"][0]["columns"]}
    assert "weight" in columns["region"]["told_by"]
    assert columns["sex"]["told_by"] == ""
    assert any("coarsen_weights" in words for words in tree["advice"])
    assert "Coarsen the weight" in text_of(result)
    assert "Values changed and reconstructed, by column" in text_of(result)


def test_every_chart_can_be_drawn():
    result = found(released(ORIGINAL))
    assert "<svg" in to_svg(result.plot())
    (rows,) = result.plot().to_dict()["datasets"].values()
    said = {str(value) for row in rows for value in row.values()}
    assert {"region, changed", "region, reconstructed", "sex, changed"} <= said


def test_nothing_changed_and_several_releases():
    nothing = found(ORIGINAL)
    assert "No value of the release was changed" in text_of(nothing)
    two = found([released(ORIGINAL), few(20)])
    captions = [getattr(block, "caption", "") for block in blocks_of(two)]
    assert "Changed values reconstructed from the release, release 1" in captions
    assert "Changed values reconstructed from the release, release 2" in captions


def test_without_keys_and_without_the_original():
    result = found(released(ORIGINAL), None, keys=None)
    tree = tree_of(result)
    assert "undone_uniques" not in tree["releases"][0]
    assert "guess" not in tree["releases"][0]["columns"][0]
    assert "–" in text_of(result)


# Apart: what the release alone gives back, and what somebody gets who knows how its columns are made.


def summed(n=600, few=0):
    """Noise on pay while total and rest stay; of `few` regions a copy tells."""
    rng = np.random.default_rng(2)
    pay, rest = rng.integers(1000, 5000, n), rng.integers(0, 400, n)
    whole = pl.DataFrame({"region": rng.choice(list("abc"), n), "pay": pay, "rest": rest, "total": pay + rest})
    whole = whole.with_columns(copy=pl.col("region").replace_strict({"a": "x", "b": "y", "c": "z"}))
    gone = pl.int_range(n) < few
    hidden = whole.with_columns(
        pay=pl.col("pay").shuffle(seed=1), region=pl.when(gone).then(None).otherwise("region")
    )  # fmt: skip
    return recoverable_values(hidden, whole, keys=["region"], guess=False)


def test_who_can_reconstruct_what_is_said_apart():
    result = summed(few=60)
    tree = tree_of(result)
    region, pay = tree["releases"][0]["columns"]
    assert (region["alone"], region["told_by"], region["known_by"]) == (region["back"], "copy", "")
    assert (pay["alone"]["value"], pay["told_by"], pay["back"]["value"]) == (0, "", pay["touched"]["value"])
    assert (pay["known_by"], pay["formulas"]) == ("total - rest", ["total - rest"])
    (table,) = (block for block in blocks_of(result) if getattr(block, "caption", "").startswith("Who can"))
    assert [row[4] for row in table.rows] == ["–", "total - rest"]
    assert 'derived = { total = "pay + rest" }' in text_of(result)
    assert VIEW.answer(protect(result_document(result))["measures"], "recoverable_values", {}) == (
        "Changed values of region can be reconstructed from the release itself: they protect nobody. Changed values "
        "of pay can be reconstructed from the release by somebody who knows how its columns are made: they protect "
        "nobody."
    )


def test_what_was_changed_is_not_claimed_where_nobody_knows():
    """A value that was never answered is missing in the original, too: that it is told there fails no protection."""
    release = pl.DataFrame({"region": ["a", None, "b", "b"] * 50, "copy": ["x", "x", "y", "y"] * 50})
    shown = protect(result_document(recoverable_values(release, keys=["region"], guess=False)))["measures"]
    assert VIEW.answer(shown, "recoverable_values", {}) == (
        "Missing values and ranges of region can be reconstructed from the release itself; which of them protect "
        "somebody was not known here."
    )


@pytest.mark.parametrize("beyond", [1, 2, 3, 4])
def test_few_values_that_only_who_knows_the_columns_gets_are_never_told(beyond):
    """Neither by the rule that tells them, nor by what to do, nor by the difference of two printed counts."""
    sources = tuple(Source((name,), name, n) for name, n in (("weight", 40), ("total", beyond)))
    one = replace(
        column(100, 40), sources=sources[:1], remedies=("hide the weight", "add up"), known=40 + beyond,
        known_sources=sources[1:], known_remedies=("add up",),
    )  # fmt: skip
    ledger = Ledger()
    released = ledger.count("n.released.1", 300, "n")
    ledger.count("n", 300, "n")
    setting = SimpleNamespace(ledger=ledger, prefix="i1", place="here")
    tree = _column(one, "i1.here.1.0.", setting, 1)
    concerned = {words: _concerned(words, SimpleNamespace(columns=[[one]]), setting) for words in one.remedies}
    told = {words: Told(words, names, "") for words, names in concerned.items()}
    ledger, prints = opened(Document({"n": released, **tree}, ledger.variables, tuple(ledger.relations), 300))
    printed = protect(Document({"n": released, **tree, "told": told}, ledger.variables, tuple(ledger.relations), 300))
    assert (printed["told_by"], printed["known_by"]) == ("weight", "")
    assert printed["told"] == {"hide the weight": "hide the weight", "add up": ""}
    low, high = Solver(ledger, prints).range("i1.here.1.0.beyond")
    assert high - low >= 1


def column(touched, right, kinds=("suppressed",), name="a"):
    return ColumnRecovery(name, kinds, touched, right, right, 0, 1.0, 0, *[float("nan")] * 5, ())


@pytest.mark.parametrize("touched", range(2, 10))
def test_the_number_of_kinds_does_not_tell_how_many_values_were_changed(touched):
    kinds = ("suppressed", "rounded", "in ranges", "top- or bottom-coded")
    for n in range(2, 5):
        ledger = Ledger()
        ledger.count("t", touched, "t")
        document = Document({"kinds": _kinds(column(touched, 0, kinds[:n]), "t")}, ledger.variables, (), 300)
        assert protect(document)["kinds"] == ([SOMEHOW] if touched < FEWEST else list(kinds[:n]))
        assert protect(document, internal=True)["kinds"] == list(kinds[:n])
    assert _kinds(column(touched, 0), "t") == ("suppressed",)


def test_what_told_values_is_said_only_where_their_number_is_printed():
    """Not from five on by the exact number: one that is printed below 10 would be told apart."""
    said = set()
    for right in (3, 7):
        printer = _Printer({"back": print_variable(Variable(right), 1)}, False, {})
        said.add(printer.plain(Told("weight", ("back",))))
    assert said == {""}
    assert _Printer({"back": print_variable(Variable(17), 1)}, False, {}).plain(Told("weight", ("back",))) == "weight"


def test_the_column_named_first_does_not_tell_which_hidden_number_is_larger():
    others = column(12, 6)

    def share(one):
        return shown_share(one.counted, one.touched)

    order = {share(column(10, right)) > share(others) for right in (1, 2, 3, 4)}
    assert len(order) == 1
    assert share(column(10, 0)) == 0


@pytest.mark.parametrize("limit", [0.0, 0.01, 0.1, 0.3, 0.5, 0.9])
def test_no_limit_tells_a_hidden_number_of_values_given_back(limit):
    """The verdict is the same for every number of values that is printed alike."""
    verdicts = set()
    for right in (1, 2, 3, 4):
        below = {"text": "<33 %", "value": None, "below": 1 / 3}
        one = {"name": "recoverable", "limit": limit, "holds": {"value": right / 12 <= limit}}
        verdicts.add((one | shares_by_print(one, [below]))["holds"]["value"])
    assert len(verdicts) == 1
    assert verdicts == {False if limit < 0.033 else None if limit < 1 / 3 else True}


@pytest.mark.parametrize("hidden", [1, 3])
def test_a_release_that_gives_few_values_back_is_judged_by_what_is_printed(hidden):
    roles = {"keys": KEYS, "weight": "weight", "household": "home"}
    said = set()
    for limit in (0.0, 0.5):
        limits = {"k": 3, "recoverable": limit}
        with quiet():
            assessed = assess(few(hidden), scenario=Scenario(**roles, thresholds=limits))
        plain = plain_release(assessed)
        (one,) = (one for one in plain["verdicts"] if one["name"] == "recoverable")
        said.add((limit, one["holds"]["value"], one["variable"]))
        exact = plain_release(assessed, internal=True)["verdicts"]
        assert [one["variable"] for one in exact if one["name"] == "recoverable"] == ["region"]
    assert said == {(0.0, False, None), (0.5, None, None)}


@pytest.mark.parametrize("aligned", [True, False])
def test_a_release_in_which_nothing_was_changed_is_not_judged(aligned):
    """Nothing was looked at: no value was changed, or rows that belong to nobody's do not say which."""
    with quiet():
        scene = Scenario(keys=KEYS, weight="weight", thresholds={"recoverable": 0.1}, aligned=aligned)
        plain = plain_release(assess(ORIGINAL, scenario=scene))
    assert [one["holds"]["value"] for one in plain["verdicts"]] == [None]


def assess(hidden, *, scenario):
    return sdc.assess(ORIGINAL, hidden, scenario=scenario, seed=1)


@pytest.mark.parametrize(("touched", "back", "narrowed"), [(6, 1, 5), (6, 2, 4), (12, 8, 4), (13, 3, 8), (60, 57, 3)])
def test_what_is_given_back_and_what_is_narrowed_exclude_each_other(touched, back, narrowed):
    """Whoever knows that sees no hidden number: by an integer programme over what is printed."""
    ledger = Ledger()
    released = ledger.count("n.released.1", 300, "n")
    ledger.count("n", 300, "n")
    one = replace(column(touched, back), narrowed=narrowed)
    tree = _column(one, "c.", SimpleNamespace(ledger=ledger), 1)
    ledger, prints = opened(Document({"n": released, **tree}, ledger.variables, tuple(ledger.relations), 300))
    names = {"c.touched": touched, "c.back": back, "c.narrowed": narrowed}
    solver = Solver(ledger, prints)
    for name in (name for name, true in names.items() if 0 < true < FEWEST):
        low, high = solver.range(name)
        assert high - low >= 1, name
    assert any(set(relation.terms) >= {("c.back", -1.0), ("c.narrowed", -1.0)} for relation in ledger.relations)
