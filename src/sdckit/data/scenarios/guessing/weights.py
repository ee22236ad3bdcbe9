"""The sampling weight, told from the weight of bodies, from money and from the weights of households."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from sdckit.data.scenarios.guessing.facts import Facts, numbers_of
from sdckit.data.scenarios.guessing.spoken import Spoken
from sdckit.data.scenarios.guessing.topics import word_set
from sdckit.data.scenarios.guessing.units import Units
from sdckit.data.scenarios.guessing.words import words_of
from sdckit.data.scenarios.scenario_toml import toml_string

if TYPE_CHECKING:
    import polars as pl


_MOST = 0.5  # share of the records that must have one
_REPLICATES = 8  # so many weights numbered alike are replicates
_HOME = word_set(
    "hh household haushalt haushalts menage hogar famiglia huishouden households wgtp hhwt housing db"
)
_BEST = word_set(
    "pspwght pspweight poststratification calibrated final person perwt pwgtp personal individual analysis"
)
_LESS = word_set(
    "design base longitudinal replicate selection raw proxy nonresponse jackknife trimmed bootstrap"
)
_HOMES = ("hh", "household", "haush", "menage", "hogar", "famil")
_MILLION = 1_000_000
_NEAR = 0.02  # how near a mean must be to 1, or to a million
# Bodies: kilograms or pounds of people, with one decimal at most.
_LIGHTEST, _HEAVIEST, _MEANS = 1.5, 400.0, (25.0, 200.0)
_SPREAD = (0.05, 0.5)  # deviation as a share of the mean
_LEVELS = 15
_HEIGHT = 0.15  # correlation with height that makes a body


@dataclass(frozen=True)
class Weight:
    """One column that may be a weight of the sample."""

    column: str
    confidence: str
    evidence: tuple[str, ...]
    warning: str | None = None
    score: float = 0.0


@dataclass(frozen=True)
class Weights:
    """The weight that is taken, and what is known of the others."""

    chosen: Weight | None = None
    refused: Mapping[str, str] = field(default_factory=dict)  # why another column is none
    bodies: Mapping[str, str] = field(default_factory=dict)  # weights of bodies: why
    asked: Mapping[str, str] = field(default_factory=dict)  # may be a weight: a question


def weights_of(
    frame: pl.DataFrame, facts: Mapping[str, Facts], spoken: Mapping[str, Spoken], units: Units
) -> Weights:
    """Find the sampling weight.

    Parameters
    ----------
    frame
        The records.
    facts, spoken, units
        Of every column, and of the ids.
    """
    named = [name for name in frame.columns if spoken[name].role == "weight"]
    families = Counter(_stem(name) for name in named)
    heights = [name for name in frame.columns if spoken[name].name == "body height" and facts[name].number]
    refused, bodies, found = {}, {}, []
    for name in named:
        if families[_stem(name)] >= _REPLICATES and _stem(name) != name.lower():
            refused[name] = "one of many weights that are numbered: a replicate"
        elif (no := _no_weight(facts[name], spoken[name])) is not None:
            refused[name] = no
        elif (body := _body(frame, name, facts[name], spoken[name], units, heights)) is not None:
            bodies[name] = body
        else:
            found.append(_weight(facts[name], spoken[name], units))
    found.sort(key=lambda one: -one.score)
    asked = {
        name: question for name in frame.columns
        if spoken[name].topic is None and (question := _silent(facts[name], units)) is not None
    } if not found else {}  # fmt: skip
    if not found:
        return Weights(None, refused, bodies, asked)
    best = found[0]
    if len(found) > 1 and found[1].score >= best.score - 0.25:
        best = replace(best, confidence="likely" if best.confidence == "sure" else best.confidence,
                       evidence=(*best.evidence, f"{toml_string(found[1].column)} could be it as well"))  # fmt: skip
    refused |= {one.column: f"a weight, too; {toml_string(best.column)} is taken" for one in found[1:]}
    return Weights(best, refused, bodies, asked)


def _stem(name: str) -> str:
    return re.sub(r"[\d_]+$", "", name.lower())


def _no_weight(facts: Facts, spoken: Spoken) -> str | None:
    if facts.n == 0:
        return "named like a weight, but it holds no value"
    if not facts.measurable:
        return "named like a weight, but it holds no numbers"
    if not facts.positive:
        return "named like a weight, but not a positive number everywhere"
    if facts.levels == 1 and (facts.minimum == 1 or not spoken.sampling):
        return "named like a weight, but the same in every record"
    if facts.n < _MOST * facts.records:
        return "named like a weight, but missing for many records"
    return None


def _body(
    frame: pl.DataFrame, name: str, facts: Facts, spoken: Spoken, units: Units, heights: list[str]
) -> str | None:
    """Say why a column is the weight of bodies, or None."""
    if spoken.body and not spoken.sampling:
        return "its name or label says that bodies are weighed"
    if spoken.sampling or name in units.constant or facts.levels == 1:
        return None
    spread = facts.deviation / facts.mean
    kilograms = (
        facts.minimum >= _LIGHTEST and facts.maximum <= _HEAVIEST and _MEANS[0] <= facts.mean <= _MEANS[1]
        and _SPREAD[0] <= spread <= _SPREAD[1] and facts.decimals <= 1 and facts.levels > _LEVELS
    )  # fmt: skip
    if not kilograms:
        return None
    if any(_correlation(frame, name, height) > _HEIGHT for height in heights):
        return "its numbers are those of bodies, and they go with the heights"
    return "its numbers are those of bodies in kilograms or pounds"


def _correlation(frame: pl.DataFrame, name: str, other: str) -> float:
    one, two = numbers_of(frame[name]), numbers_of(frame[other])
    if one is None or two is None:
        return 0.0
    known = ~(np.isnan(one) | np.isnan(two))
    if known.sum() < _LEVELS or np.ptp(one[known]) == 0 or np.ptp(two[known]) == 0:
        return 0.0
    return float(np.corrcoef(one[known], two[known])[0, 1])


def _weight(facts: Facts, spoken: Spoken, units: Units) -> Weight:
    words = {*words_of(facts.name), *(word for told in spoken.evidence for word in words_of(told))}
    shared = facts.name in units.constant
    kind = "positive numbers with decimals" if facts.fraction else "positive whole numbers"
    told = [*spoken.evidence, kind]
    if facts.levels == 1:
        told.append("the same for every record")
    if shared:
        told.append("the same for all members of a household")
    warning, known = _scale(facts, told)
    complete = facts.n == facts.records
    if not complete:
        warning = "it is missing for some records; measures with weights refuse them"
    at_home = bool(words & _HOME) or any(word.startswith(_HOMES) for word in words)
    home = at_home and not words & _BEST
    score = 2.0 * spoken.sampling + 0.5 * spoken.kinds + 2.0 * complete + known
    score += 0.5 * bool(words & _BEST) - 0.5 * bool(words & _LESS) - 1.0 * home
    strong = spoken.sampling or shared or spoken.kinds > 1
    fits = known > 0 and complete and not spoken.disputed
    confidence = "sure" if strong and fits and warning is None else "likely" if strong or fits else "unsure"
    return Weight(facts.name, confidence, tuple(told), warning, score)


def _scale(facts: Facts, told: list[str]) -> tuple[str | None, float]:
    """Say what the weights add up to, and what that means; half a point where it looks like a population."""
    mean = facts.mean
    normed = "they say how records count beside each other, not how many people each stands for: "
    if abs(mean - 1) <= _NEAR and facts.levels > 1:
        told.append("they add up to the number of records")
        return normed + "multiply them by population / records, or risks are overstated", 0.5
    if abs(mean / _MILLION - 1) <= 5 * _NEAR and facts.levels > 1:
        told.append("they add up to a million per record")
        return (
            normed
            + "divide them by 1,000,000 and multiply by population / records, or risks are far too low",
            0.5,
        )
    if mean < 1:
        told.append("they add up to less than the number of records")
        return "weights below 1 stand for less than one person: is it a share, or another scale?", 0.0
    total = float(f"{mean * facts.n:.1e}")
    told.append(f"they add up to about {total:,.0f}, which may be a population")
    return None, 0.5


def _silent(facts: Facts, units: Units) -> str | None:
    """Ask about numbers that nothing is said of, but that behave like weights."""
    if (
        not facts.positive
        or facts.text
        or not facts.fraction
        or facts.levels <= _LEVELS
        or facts.n < facts.records
    ):
        return None
    normed = abs(facts.mean - 1) <= _NEAR / 4 and facts.deviation > _SPREAD[0]
    if normed and facts.decimals > 1:
        return "positive decimals with a mean of 1: is it a sampling weight?"
    if facts.name in units.constant and facts.decimals > 1:
        return "positive decimals, the same for all members of a household: is it the sampling weight?"
    return None
