"""A step of a recipe as a sentence: every method, with every argument there may be, in every language."""

from __future__ import annotations

from itertools import chain
from string import Formatter
from typing import Any

import pytest

from sdckit.app.page_context import speaker
from sdckit.app.step_sentences import LONGEST, _measure, summary
from sdckit.data.methods import CLAUSES, METHODS
from sdckit.workflow.recipes.recipe_steps import RISK_MEASURES
from sdckit.workflow.recipes.step_forms import Entry, form_of, forms

say, german = speaker("en"), speaker("de")
LONG = "a_name_of_a_column_that_nobody_would_want_to_type_twice"
VALUES = {
    "column": ["age", LONG],
    "columns": [["age", "sex"], [f"{LONG}_{at}" for at in range(30)]],
    "flag": [True, False],
    "whole": [1, 12],
    "number": [0.05, 1e-7],
    "text": ["mdav"],
    "value": [
        7, 0.5, "text of one", True, [None, 40, 60.5, None], list(range(300)), ["one", "two"], [["a", "b"], ["c"]],
        {"some": ["cook"], "other": ["nurse"]}, {f"name {at}": at for at in range(40)}, {"x": {"y": {"z": 1}}},
    ],
}  # fmt: skip


def values(entry: Entry) -> list[Any]:
    return list(entry.choices) if entry.kind == "choice" else VALUES[entry.kind]


def steps(method: str) -> list[dict[str, Any]]:
    """Steps with each value of each argument, with few arguments and with all."""
    entries = form_of(method).entries
    first = {entry.name: values(entry)[0] for entry in entries if entry.needed}
    every = [{entry.name: values(entry)[at % len(values(entry))] for entry in entries} for at in range(11)]
    return [{}, first, *every, *({**first, entry.name: value} for entry in entries for value in values(entry))]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("language", ["en", "de"])
def test_every_step_is_a_sentence(method: str, language: str) -> None:
    said = [summary(speaker(language), method, arguments) for arguments in steps(method)]
    assert all(0 < len(text) <= LONGEST for text in said), max(said, key=len)
    plain = [text.replace("ε = ", "").replace("δ = ", "") for text in said]  # a promise is written so
    assert not [text for text in plain if any(mark in text for mark in (" = ", "[", "]", "{", "}", "inf", "None"))]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_a_sentence_of_its_own_and_names_arguments_that_it_has(method: str) -> None:
    kind = METHODS[method]
    offered = {entry.name for entry in form_of(method).entries}
    texts = [*kind.sentences, *kind.clauses.values()]
    named = {name for _, name, _, _ in chain.from_iterable(map(Formatter().parse, texts)) if name}
    assert kind.sentences
    assert named | set(kind.clauses) <= offered
    needed = {entry.name: values(entry)[0] for entry in form_of(method).entries if entry.needed}
    if method not in ("recode", "top_bottom_code"):  # which need one of several
        assert "applied to" not in summary(say, method, needed)


def test_a_clause_of_several_methods_is_one_of_several() -> None:
    taken = [entry.name for form in forms() for entry in form.entries]
    assert not [name for name in CLAUSES if taken.count(name) < 2]


def test_a_step_in_a_line_tells_no_value_of_a_group() -> None:
    groups = {"hands": ["cook"], "heads": ["clerk"], "feet": ["courier"], "eyes": ["guard"], "ears": ["tuner"]}
    told = summary(say, "recode", {"column": "job", "groups": groups})
    assert told == "job in groups: hands, heads, feet and 2 more"
    del groups["ears"]
    assert "feet and 1 more" in summary(say, "recode", {"column": "job", "groups": groups})
    rows = {"cook": ["hands"], "clerk": ["heads"]}
    up = summary(say, "recode", {"column": "job", "hierarchy": rows, "level": 1})
    assert up == "job to level 1 of its hierarchy; its hierarchy: a list of 2"
    assert "0.1" not in summary(say, "suppress_above", {"risk": [0.1, 0.2], "threshold": 0.3, "columns": ["job"]})


@pytest.mark.parametrize(
    ("method", "arguments", "english", "in_german"),
    [
        (
            "recode", {"column": "age", "bands": [None, 40, 60, None]},
            "age in bands: below 40, 40 to below 60, 60 and more",
            "age in Klassen: unter 40, 40 bis unter 60, 60 und mehr",
        ),
        (
            "recode", {"column": "age", "bands": [0, 40, None], "closed": "right"},
            "age in bands: above 0 to 40, above 40; end that belongs to a band: right",
            "age in Klassen: über 0 bis 40, über 40; Ende, das zur Klasse gehört: right",
        ),
        ("recode", {"column": "age", "bands": 5}, "age in bands: 5 cut from the data",
         "age in Klassen: 5 aus den Daten gebildet"),
        ("recode", {"column": "job", "hierarchy": "uploads/jobs.csv", "level": 2},
         "job to level 2 of its hierarchy; its hierarchy: jobs.csv",
         "job auf Ebene 2 der Hierarchie; die Hierarchie: jobs.csv"),
        ("local_suppression", {"keys": ["age", "sex"], "k": 3},
         "values taken out until every combination of age, sex has at least 3 records",
         "Werte herausgenommen, bis jede Kombination von age, sex mindestens 3 Datensätze hat"),
        ("swap_records", {"hierarchy": ["region"], "keys": ["age"], "similar": "size"},
         "households that are rare by age swapped between areas of region; partners agree in size",
         "Haushalte, die nach age selten sind, zwischen Gebieten von region vertauscht; Partner gleichen sich in size"),
        ("shuffle", {"columns": ["pay"], "given": ["age"]}, "values of pay shuffled by their relation to age",
         "Werte von pay nach ihrem Zusammenhang mit age neu verteilt"),
        ("add_noise", {"columns": ["pay"], "noise": 12.5, "keep_zeros": False},
         "noise of 12.5 % of its standard deviation added to pay; without the option keep_zeros",
         "Rauschen von 12,5 % der Standardabweichung zu pay addiert; ohne die Option keep_zeros"),
        ("drop_identifiers", {"columns": ["name_of_person", "street_and_number", "telephone", "account", "note", "ip"]},
         "name_of_person, street_and_number, telephone, account and 2 more left out of the file",
         "name_of_person, street_and_number, telephone, account und 2 weitere aus der Datei weggelassen"),
        ("drop_identifiers", {"columns": ["name_of_person", "street_and_number", "telephone", "account", "notes"]},
         "name_of_person, street_and_number, telephone, account, notes left out of the file",
         "name_of_person, street_and_number, telephone, account, notes aus der Datei weggelassen"),
        ("random_order", {}, "the records in random order", "die Datensätze in zufälliger Reihenfolge"),
    ],
)  # fmt: skip
def test_what_steps_say(method: str, arguments: dict[str, Any], english: str, in_german: str) -> None:
    assert summary(say, method, arguments) == english
    assert summary(german, method, arguments) == in_german


def test_a_method_without_a_sentence_gets_a_general_one() -> None:
    told = summary(say, "of_tomorrow", {"column": "pay", "base": 1000, "odd": True})
    assert told == "applied to pay; with the option base at 1000; with the option odd"
    assert summary(german, "of_tomorrow", {}) == "angewandt auf die Datei"


def test_names_stay_as_they_are() -> None:
    """Also where they look like a text of ours, a place or the end of a sentence."""
    for name in ("records", "{c}", "{base}", "No. 1 Is. A"):
        assert summary(german, "round_to", {"column": name, "base": 5}) == f"{name} auf Vielfache von 5 gerundet"
        assert summary(german, "drop_identifiers", {"columns": [name] * 50}).startswith(f"{name}, {name}, {name}, ")
        assert (
            summary(german, "of_tomorrow", {"odd": name}) == f"angewandt auf die Datei; mit der Option odd auf {name}"
        )


def test_a_risk_is_named_in_words() -> None:
    step = {"risk": "l_diversity", "threshold": 0, "columns": ["age"]}
    assert summary(say, "suppress_above", step) == "values of age taken out where the risk by l-diversity is above 0"
    for risk, word in (
        ("l_diversity", "l-Diversität"), ("individual_risk", "individuelles Risiko"),
    ):  # fmt: skip
        text = summary(german, "suppress_above", {**step, "risk": risk})
        assert text.endswith(f"wo das Risiko ({word}) über 0 liegt")
    for risk in RISK_MEASURES:  # each that a recipe can name has words
        assert german(_measure(risk)) != _measure(risk), risk
    # More than 0 records are lacking: what that means, where the reader is to know how they are counted.
    given_back = {**step, "risk": "recoverable_values"}
    assert summary(say, "suppress_above", given_back) == (
        "values of age taken out of records that are beyond a limit with what the release gives back"
    )
    assert summary(german, "suppress_above", given_back) == (
        "Werte von age aus Datensätzen herausgenommen, die mit dem, was die Veröffentlichung selbst zurückgibt, "
        "jenseits eines Grenzwerts liegen"
    )
    assert summary(german, "suppress_above", {**given_back, "threshold": 2}).endswith(
        "wo das Risiko (aus rekonstruierbaren Werten) über 2 liegt"
    )
    assert "by individual_share is" in summary(say, "suppress_above", {**step, "risk": "individual_share"})  # a column
