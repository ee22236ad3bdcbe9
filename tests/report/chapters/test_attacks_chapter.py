"""Attacks as typed figures: successes like every count of people, nothing that gives them back."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import polars as pl
import pytest

import releases
import sdckit as sdc
from draw import quiet
from sdckit.errors import DataError
from sdckit.report.blocks import ChartBlock, Facts, Paragraph, TableBlock
from sdckit.report.chapters.attacks_chapter import (
    ABOUT,
    ABOUT_RESIDUAL,
    ALONE,
    REASONS,
    ROUNDED,
    attack_blocks,
    attacks_tree,
    plain_attacks,
    tried_words,
)
from sdckit.report.chapters.release_page import plain_release
from sdckit.report.conclusions import DOUBT, MORE, NO_SIGN
from sdckit.report.rates import attack_name

EVERYBODY = releases.original(160)
LINKED = "probabilistic_linkage:default"


def assessed(**options):
    original = EVERYBODY[:80]
    with quiet():
        return sdc.assess(original, releases.release(original), scenario=releases.scenario(), seed=1, **options)


@pytest.fixture(scope="module")
def found():
    return assessed(control=EVERYBODY[80:])


@pytest.fixture(scope="module")
def plain(found):
    return plain_release(found)["attacks"]


def test_rates_are_those_of_the_result_from_rounded_counts(found, plain) -> None:
    assert plain["control"] is True
    for place, one in plain["attacks"].items():
        if place == LINKED:
            continue
        result, tree = found.attacks[place], one["releases"][0]
        assert abs(tree["n_attacks"]["value"] - result.n_attacks) < 5
        value = tree["success_rate"]["value"]
        if min(result.successes, result.n_attacks - result.successes) in range(1, 5):
            assert value is None
        elif value is not None:
            assert value == pytest.approx(result.success_rate, abs=5 / result.n_attacks)


def test_no_interval_and_no_exact_figure_leaves(found, plain) -> None:
    text = json.dumps(plain)
    assert "exact" not in text
    assert "success_low" not in text
    assert '"ends"' not in text
    for result in found.attacks.values():
        assert getattr(result, "verdict", "a sentence") not in text
    internal = plain_release(found, internal=True)["attacks"]["attacks"]["membership"]["exact"]
    assert internal["verdict"] == found.attacks["membership"].verdict
    assert internal["success_low"] == found.attacks["membership"].success_low


def test_a_confidential_document_has_exact_figures_with_their_intervals(found) -> None:
    internal = plain_release(found, internal=True)["attacks"]
    for place, one in internal["attacks"].items():
        if place == LINKED:
            continue
        result, tree = found.attacks[place], one["releases"][0]
        for name in ("success", "control"):
            leaf = tree[f"{name}_rate"]
            ends = (getattr(result, f"{name}_{end}") for end in ("rate", "low", "high"))
            assert [leaf["value"], leaf["low"], leaf["high"]] == pytest.approx(list(ends), abs=1e-6)
        if result.success_rate > result.baseline_rate:
            assert tree["residual_risk"]["high"] == pytest.approx(result.risk_high, abs=1e-6)
        else:
            assert tree["residual_risk"]["text"] == "–"
    assert internal["asked"]["seed"] == 1


def test_what_was_asked_without_the_seed(found, plain) -> None:
    asked = plain["asked"]
    assert asked["columns"] == ["sex", "age", "region", "ill", "income"]
    assert (asked["n_columns"], asked["n_attacks"], asked["columns_at_once"]) == (7, 500, 3)
    assert asked["n_control"] == {"text": "80", "value": 80}
    assert asked["halves"] == {"default": [["sex", "age"], ["region"]]}
    assert asked["tolerance"]["inference:default:income"] == found.attacks["inference:default:income"].tolerance
    assert asked["seeded"] is True
    assert "seed" not in asked


def test_few_guesses_are_hidden_like_few_successes(found, plain) -> None:
    result = found.attacks["singling_out:multivariate"]
    leaf = plain["attacks"]["singling_out:multivariate"]["releases"][0]["baseline_rate"]
    assert (leaf["value"] is None) == (0 < result.baseline_rate * result.n_attacks < 5)


def test_distances_without_quantiles(found, plain) -> None:
    near = plain["distances"]["releases"][0]
    assert not [name for name in near if name.startswith(("dcr", "nndr"))]
    result = found.attacks["distance_to_closest_record"]
    assert near["share_closer_to_original"]["value"] == pytest.approx(result.share_closer_to_original, abs=0.07)


def test_without_control_and_without_attacks() -> None:
    alone = plain_release(assessed(attacks=True))
    tree = alone["attacks"]
    assert tree["skipped"] == [{"measure": "membership", "reason": "there is no control file"}]
    assert tree["distances"]["means"].startswith("without a control file")
    assert all(one["residual_risk"]["value"] is None for one in tree["attacks"].values())
    assert "attacks=True" in alone["reproduce"]["python"]
    assert alone["reproduce"]["command"].endswith("--attacks --seed SEED")
    none = assessed()
    assert none.attacks_asked is None
    assert attacks_tree(none, None) is None
    assert plain_release(none)["attacks"] is None


def test_guesses_of_members_follow_from_those_called(found, plain) -> None:
    leaf = plain["attacks"]["membership"]["releases"][0]
    assert not [name for name in leaf if name.startswith("baseline_") and name != "baseline_rate"]
    result = found.attacks["membership"]
    assert leaf["control_rate"]["value"] == pytest.approx(result.control_rate, abs=2.5 / 80)
    assert leaf["baseline_rate"]["value"] == pytest.approx(result.baseline_rate, abs=2.5 / 80)


def test_linked_records_are_counts_of_people(found, plain) -> None:
    result, tree = found.attacks[LINKED], plain["attacks"][LINKED]["releases"][0]
    assert tree["n_attacks"]["value"] == 80
    right = result.rate * 80
    if right < 5:
        assert tree["success_rate"]["value"] is None
    else:
        assert tree["success_rate"]["value"] == pytest.approx(5 * round(right / 5) / 80, rel=0.02)
    assert tree["baseline_rate"]["value"] == pytest.approx(1 / 80, rel=0.05)
    assert tree["control_rate"]["text"] == "not compared"
    exact = plain_release(found, internal=True)["attacks"]["attacks"][LINKED]["exact"]
    assert (exact["rate"], exact["precision"]) == (result.rate, none_if_nan(result.precision))
    assert exact["verdict"].startswith(f"{result.rate:.1%} of the released records are linked")
    assert (f"{result.precision:.1%} are right" in exact["verdict"]) == (result.n_links > 0)


@pytest.mark.parametrize(
    ("right", "value"), [(0, 0.0), (2, None), (4.4, None), (40, 0.2), (41, 0.2), (198, None), (200, 1.0)]
)
def test_few_linked_records_are_hidden(right: float, value: float | None) -> None:
    figures = {
        "rate": right / 200, "rate_low": 0.0, "rate_high": 1.0, "baseline": 1 / 200, "n_links": 0.0, "precision": 0.0,
    }  # fmt: skip
    scores = pl.DataFrame({"release": [], "weight": [], "pairs": []})
    result = SimpleNamespace(
        figures=tuple(figures), per_release=(figures,), verdict="", notes={}, scores=scores, **figures
    )
    plain = plain_attacks({LINKED: result}, n=200, sizes=[200], control=False)
    leaf = plain["attacks"][LINKED]["releases"][0]["success_rate"]
    assert leaf["value"] == value


def none_if_nan(value):
    return None if math.isnan(value) else value


def test_attacks_without_an_assessment(found) -> None:
    given = {"n": 80, "sizes": [80], "control": True, "skipped": [("membership", "3 records are too few")]}
    plain = plain_attacks(found.attacks, **given)
    assert (plain["schema"], plain["protected"]) == ("sdckit/attacks", True)
    assert plain["n_released"] == [{"text": "80", "value": 80}]
    near = {"distance_to_closest_record", "distance_to_closest_record:all"}
    assert set(plain["attacks"]) | near == set(found.attacks)
    assert plain["skipped"] == [{"measure": "membership", "reason": "<5 records are too few"}]
    assert "exact" not in json.dumps(plain)
    whole = plain_attacks(found.attacks, **given, internal=True)
    assert whole["confidential"]
    assert whole["attacks"]["membership"]["exact"]["success_low"] == found.attacks["membership"].success_low
    with pytest.raises(DataError, match="fewer than 50"):
        plain_attacks({}, n=40, sizes=[80], control=False)


def leaf(text):
    return {"text": text, "value": None}


def one(m=1, **more):
    release = {name: leaf(name) for name in ("n_attacks", "success_rate", "baseline_rate", "control_rate")}
    release["residual_risk"] = leaf("5 % (1–9)")
    return {"releases": [release] * m, "means": "no sign of it", "residual_risk": leaf("5 % (1–9)"), **more}


def tree(**more):
    given = {
        "control": True,
        "attacks": {"membership": one(), "inference:neighbour:income": one()},
        "distances": {
            "place": "distance_to_closest_record",
            "releases": [{"copies": leaf("0"), "hitting_rate": leaf("0.2")}],
            "means": "far away",
        },
        "distances_all": None,
        "skipped": [{"measure": "linkability:neighbour", "reason": "there is only one key"}],
    }
    return {**given, **more}


def test_everything_has_its_table():
    blocks = attack_blocks(tree(), several=False)
    assert blocks[0] == Paragraph(ABOUT)
    rates, legend, means, near, chart, words, skipped = blocks[1:]
    assert isinstance(chart, ChartBlock)
    assert chart.caption == near.caption
    assert legend == Paragraph(ABOUT_RESIDUAL + ROUNDED)
    assert rates.columns[-2:] == ("Never in it", "Residual risk")
    assert rates.rows[0] == (
        "Telling who is in the file", "n_attacks", "success_rate", "baseline_rate", "control_rate", "5 % (1–9)",
    )  # fmt: skip
    assert means.rows[1] == ("Inferring income", "No sign of it.")
    assert near.rows == (("released records equal to an original", "0"), ("originals hit by a released record", "0.2"))
    assert words == Paragraph("Far away.")
    assert skipped.rows == (("Linking two pieces of knowledge", "there is only one key"),)


def test_without_a_control_its_columns_are_left_out():
    blocks = attack_blocks(tree(control=False, distances=None, skipped=[]), several=True)
    assert blocks[0] == Paragraph(ALONE)
    assert blocks[1].columns == ("Attack", "Tries", "Succeed", "By guessing")
    assert blocks[1].rows[1][0] == "Inferring income (neighbour)"
    assert len(blocks) == 3


def test_several_releases_have_rows_of_their_own():
    _, rates, _, means, *_ = attack_blocks(tree(attacks={"membership": one(2)}), several=False)
    rows = rates.rows
    assert means.columns == ("Attack", "Meaning, of the worst release")
    assert [row[0] for row in rows] == [f"Telling who is in the file, release {j}" for j in (1, 2)]
    assert [row[-1] for row in rows] == ["5 % (1–9)"] * 2


def test_a_confidential_document_has_the_exact_verdict():
    exact = {"membership": one(exact={"verdict": "Succeeds in 12.3%."})}
    blocks = attack_blocks(tree(attacks=exact), several=False)
    assert blocks[2] == Paragraph(ABOUT_RESIDUAL)
    assert blocks[3].rows[0][1] == "Succeeds in 12.3%."


def test_nothing_made():
    assert len(attack_blocks(tree(attacks={}, distances=None, skipped=[]), several=False)) == 1


ASKED = {
    "columns": ["age", "ill"], "n_columns": 7, "n_control": {"text": "150", "value": 150}, "n_attacks": 500,
    "seeded": True, "columns_at_once": 3, "halves": {"a": [["age"], ["sex", "region"]]},
    "tolerance": {"inference:a:ill": "a guess is right where it is equal"}, "every_column": [], "n_going_out": None,
}  # fmt: skip


def test_what_was_attacked_and_how():
    not_made = [
        {"measure": "singling_out:multivariate", "reason": "too few"},
        {"measure": "linkability:a", "reason": "too few"},
    ]
    facts = attack_blocks(tree(asked=ASKED, skipped=not_made), several=False)[1]
    assert isinstance(facts, Facts)
    assert dict(facts.items) == {
        "Columns attacked": "2 of 7: age, ill",
        "People never in the file": "150 records",
        "Attempts asked for": "500 of each attack",
        "Seed": "given, and kept by the analyst: it may be that of the protection, too",
        "Singling out by several columns": "queries of 3 columns",
        "Linking two pieces of knowledge": "age | sex, region",
        "Inferring ill": "a guess is right where it is equal",
    }
    bare = {**ASKED, "n_columns": None, "n_control": None, "columns_at_once": None, "seeded": False, "halves": {}}
    told = dict(attack_blocks(tree(asked=bare), several=False)[1].items)
    assert told["Columns attacked"] == "2: age, ill"
    assert told["Seed"] == "none was given"
    assert "People never in the file" not in told
    inside = attack_blocks(tree(asked={**ASKED, "seed": 7}), several=False)[1]
    assert dict(inside.items)["Seed"] == "7"


def test_what_was_attacked_a_second_time():
    again = {**ASKED, "every_column": ["age", "ill", "pay", "job"], "n_going_out": 5}
    skipped = [{"measure": "singling_out:multivariate:all", "reason": "a reason"}]
    near = {
        "place": "distance_to_closest_record:all",
        **{name: tree()["distances"][name] for name in ("releases", "means")},
    }
    blocks = attack_blocks(tree(asked=again, skipped=skipped, distances_all=near), several=False)
    facts = dict(blocks[1].items)
    assert facts["Again, with all that goes out"] == "4 of 5: age, ill, pay, job"
    assert facts["Singling out by several columns, every column"] == "queries of 3 columns"
    captions = [block.caption for block in blocks if isinstance(block, TableBlock)]
    assert {"Records near to the other file", "Records near to the other file, every column"} <= set(captions)
    assert attack_name("membership:all") == "Telling who is in the file, every column"
    assert attack_name("linkability:all", several=True) == "Linking two pieces of knowledge (all)"


def test_what_was_tried_is_said_without_statistics():
    again = {**ASKED, "every_column": ["age", "ill", "pay"], "n_going_out": 3}

    def attack(means, risk, **more):
        release = {
            "success_rate": {"text": "75.0 %", "value": 0.75},
            "control_rate": {"text": "25.0 % (20–30)", "value": 0.25},
        }
        residual = {"text": "", "value": risk}
        return {"releases": [release | {"residual_risk": residual}], "means": means, "residual_risk": residual, **more}

    assert tried_words(None).startswith("No trial attack was made: it takes people")
    assert tried_words(tree(attacks={})) == "No trial attack could be made."
    quiet_tree = tree(asked=again, attacks={"membership": attack(NO_SIGN, 0.0)})
    start = "Trial attacks were made with 2 and with 3 of 3 columns that go out."
    assert tried_words(quiet_tree) == f"{start} None tells more about the people in the file than about others."
    assert tried_words({**quiet_tree, "control": False}).startswith(f"{start} Without people kept aside")
    mixed = {"membership": attack(MORE, 0.2, control_state="overlapping")}
    assert "not to be trusted: people of the original" in tried_words(tree(asked=again, attacks=mixed))
    loud = {
        "membership": attack(MORE, 0.2),
        "membership:all": attack(f"{DOUBT}; {MORE}", 0.7),
        "inference:a:ill": attack(NO_SIGN, 0),
    }
    assert tried_words(tree(asked=again, attacks=loud)) == (
        f"{start} 2 of 3 tell more about the people in the file than about others. Most: Telling who is in the "
        "file, every column. It succeeds in 75.0 % of the tries on people in the file, in 25.0 % on others."
    )


def test_what_is_left_out_has_its_reason_below_the_table():
    release = {**one()["releases"][0], "residual_risk": leaf("40 % (not shown)")}
    legend = attack_blocks(tree(attacks={"membership": {**one(), "releases": [release]}}), several=False)[2]
    assert legend == Paragraph(ABOUT_RESIDUAL + ROUNDED + REASONS["not shown"])
    release = {**release, "success_rate": leaf("too few"), "residual_risk": leaf("undefined")}
    legend = attack_blocks(tree(attacks={"membership": {**one(), "releases": [release]}}), several=False)[2]
    assert legend.text.endswith("fewer than 10 attempts.")
