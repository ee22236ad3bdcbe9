"""Names, labels, categories and surveys brought together."""

from __future__ import annotations

import polars as pl

from sdckit.data.scenarios.guessing.facts import facts_of
from sdckit.data.scenarios.guessing.spoken import spoken_of


def said(label="", name="v1", values=(1, 2), value_labels=()):
    facts = facts_of(pl.Series(name, list(values)), value_labels)
    return spoken_of([facts], {name: label})[name]


def test_kinds_of_evidence_are_counted():
    assert said().topic is None
    assert said("Geschlecht").kinds == 1
    assert said("Geschlecht", name="sex").kinds == 2
    both = said("Geschlecht", name="sex", value_labels=("Mann", "Frau"))
    assert both.kinds == 3
    assert both.why == "its label, its name and its categories speak of sex or gender"


def test_a_label_that_repeats_the_name_is_no_evidence_of_its_own():
    assert said("SEX", name="sex").kinds == 1


def test_a_label_wins_over_a_name_and_the_dispute_is_told():
    found = said("Monthly income of the household", name="age")
    assert found.name == "money"
    assert found.disputed
    assert not said("Age in years", name="age").disputed


def test_a_word_within_a_name_is_a_hint():
    found = said(name="sexcode")
    assert (found.name, found.kinds) == ("sex or gender", 0)


def test_countries_fit_what_is_asked_of_them():
    found = said("Country of birth", value_labels=("Austria", "Germany", "Turkey"))
    assert (found.name, found.kinds) == ("a country of birth", 2)


def test_weights_of_samples_and_of_bodies():
    assert said("Sampling weight").sampling
    assert said("Weight in kg").body
    assert not said("Weight in kg").sampling
