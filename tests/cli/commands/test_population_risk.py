"""``sdckit population-risk``."""

from __future__ import annotations

from pathlib import Path

KEYS = ("--keys", "sex,age,region")


def test_the_models_stand_side_by_side(sdckit, survey: Path) -> None:
    done = sdckit("population-risk", survey, *KEYS, "--weight", "w")
    assert done.code == 0
    for words in ("tau1", "tau2", "sex, age and region", "a forward search", "Zayatz", "Pitman", "Dankar"):
        assert words in done.out
    assert "Zq7Qx" not in done.out


def test_interactions_and_the_search(sdckit, survey: Path) -> None:
    design = ("--sampling-fraction", 0.1)
    pairs = sdckit("population-risk", survey, *KEYS, *design, "--interactions", 2)
    assert pairs.code == 0
    assert "sex:age" in pairs.out
    searched = sdckit("population-risk", survey, *KEYS, *design)
    assert searched.out == sdckit("population-risk", survey, *KEYS, *design, "--select").out
    simple = sdckit("population-risk", survey, *KEYS, *design, "--interactions", 1)
    assert "forward search" not in simple.out
    assert sdckit("population-risk", survey, *KEYS, *design, "--interactions", 0).code == 2


def test_a_model_of_the_weights_and_a_linear_key(sdckit, survey: Path) -> None:
    keys = ("--keys", "sex,hh", "--linear", "hh")
    done = sdckit("population-risk", survey, *keys, "--weight", "w", "--method", "pml", "--bound", 2)
    assert done.code == 0
    assert "forward search" not in done.out
    for words in ("pseudo maximum likelihood", "Keys that enter as numbers", "per combination", "cannot be judged"):
        assert words in done.out


def test_without_a_design_it_says_what_is_needed(sdckit, survey: Path) -> None:
    done = sdckit("population-risk", survey, *KEYS)
    assert (done.code, done.out, len(done.lines)) == (2, "", 1)
    assert "--sampling-fraction" in done.err


def test_weight_and_fraction_together(sdckit, survey: Path) -> None:
    both = ("--weight", "w", "--sampling-fraction", 0.1)
    assert sdckit("population-risk", survey, *KEYS, *both).code == 2
