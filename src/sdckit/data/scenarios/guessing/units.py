"""Ids of households and persons, columns that are constant, count or number within them; sampling weights."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sdckit.data import pl
from sdckit.data.scenarios.guessing.facts import Facts, numbers_of, same_values
from sdckit.data.scenarios.guessing.spoken import Spoken
from sdckit.data.scenarios.guessing.topics import OFFICIAL, listed, says_id, words_of
from sdckit.data.scenarios.scenario_toml import toml_string
from sdckit.numerics.array_types import Floats

# Grouping of records by id, and statistics of other columns within the groups.


_WORTH = 0.9  # least share of plausible ids for the exact test of a numbering

_Numbers = Floats


@dataclass(frozen=True)
class Groups:
    """Records grouped by id."""

    codes: _Numbers  # shape (n,); the ids in file order
    order: NDArray[np.intp]  # shape (n,); sorts the records by id
    starts: NDArray[np.intp]  # start of each id among the sorted records
    together: bool  # whether the records of each id are contiguous in the file

    @classmethod
    def of(cls, codes: _Numbers) -> Groups:
        """Group records by equal ids.

        >>> groups = Groups.of(np.array([2.0, 2.0, 1.0]))
        >>> groups.n, groups.n_several, groups.together
        (2, 1, True)
        """
        order = np.argsort(codes, kind="stable")
        by_id = codes[order]
        starts = np.flatnonzero(np.concatenate([[True], by_id[1:] != by_id[:-1]]))
        runs = 1 + int((codes[1:] != codes[:-1]).sum())
        return cls(codes, order, starts, runs == len(starts))

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """Records of each id."""
        return np.diff(np.append(self.starts, len(self.codes)))

    @property
    def n(self) -> int:
        """Number of ids."""
        return len(self.starts)

    @cached_property
    def n_several(self) -> int:
        """Number of ids with several records."""
        return int((self.sizes > 1).sum())

    @property
    def largest(self) -> int:
        """Greatest number of records of an id."""
        return int(self.sizes.max())

    def share_constant(self, values: _Numbers) -> float:
        """Share of the ids with several records whose values are constant; NaN if there are none.

        >>> Groups.of(np.array([1.0, 1, 2, 2, 3])).share_constant(np.array([5.0, 5, 6, 7, 8]))
        0.5
        """
        ordered = values[self.order]
        low, high = np.minimum.reduceat(ordered, self.starts), np.maximum.reduceat(ordered, self.starts)
        several = self.sizes > 1
        return float((low == high)[several].mean()) if several.any() else np.nan

    def constant(self, values: _Numbers) -> bool:
        """Whether values are constant within every id; False if no id has several records."""
        return self.share_constant(values) == 1

    def counted_by(self, numbers: _Numbers) -> float:
        """Share of the records whose number equals the number of records of their id.

        >>> Groups.of(np.array([1.0, 1, 2])).counted_by(np.array([2.0, 2, 1]))
        1.0
        """
        return float((numbers[self.order] == np.repeat(self.sizes, self.sizes)).mean())

    def numbered_by(self, numbers: _Numbers) -> float:
        """Share of the ids whose records are numbered from 1 (or 0) without gaps.

        >>> Groups.of(np.array([1.0, 1, 2])).numbered_by(np.array([2.0, 1, 1]))
        1.0
        """
        known = np.where(np.isnan(numbers), -1, numbers)
        by_id = known[self.order]
        low, high = np.minimum.reduceat(by_id, self.starts), np.maximum.reduceat(by_id, self.starts)
        may = ((low == 0) | (low == 1)) & (high - low == self.sizes - 1)
        if may.mean() < _WORTH:  # too few: skip the sorting
            return float(may.mean())
        ordered = known[np.lexsort((known, self.codes))]
        off = ordered - (np.arange(len(ordered)) - np.repeat(self.starts, self.sizes))
        low, high = np.minimum.reduceat(off, self.starts), np.maximum.reduceat(off, self.starts)
        return max(float(((low == first) & (high == first)).mean()) for first in (0, 1))

    def repeated(self, keys: Sequence[_Numbers]) -> float:
        """Share of the records that duplicate another of the same id in all keys.

        >>> Groups.of(np.array([1.0, 1, 2])).repeated([np.array([1.0, 1, 1])])
        0.3333333333333333
        """
        columns = [self.codes, *(np.where(np.isnan(key), -np.inf, key) for key in keys)]
        order = np.lexsort(columns)
        same = np.logical_and.reduce([column[order][1:] == column[order][:-1] for column in columns])
        return float(same.sum() / len(self.codes))


_GROUP = 15  # greatest mean number of records of a household or person
_EVENTS = 1_000  # of a person by name, of whom there are many: purchases, visits, measurements
_LARGEST = 60  # greatest number of records of one
_KNOWN = 0.99  # least share of the records with an id
_ENOUGH = 10  # least number of groups with several records to distinguish households from persons
_ALWAYS = 0.97  # share of the groups, or of the records, that counts as "always"
_RARELY = 0.9
_SHARED = {"sex or gender": "sex", "a date of birth": "birth", "a birth": "birth"}  # one person has one
_FORM = 3  # least number of distinct values of a household size or a member number


@dataclass(frozen=True)
class Unit:
    """An id of a household or person."""

    column: str
    confidence: str  # "sure", "likely" or "unsure"
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Units:
    """The ids of a file, and the columns related to them."""

    household: Unit | None = None
    person: Unit | None = None
    constant: tuple[str, ...] = ()  # constant within every household
    sizes: tuple[str, ...] = ()  # equal the number of rows of the household
    running: tuple[str, ...] = ()  # number the members of the household
    waves: tuple[str, ...] = ()  # number the records of a person
    same: tuple[str, ...] = ()  # equivalent to the id of the household
    questions: Mapping[str, str] = field(default_factory=dict)  # uncertain ids, each with a question


@dataclass(frozen=True)
class _Candidate:
    column: str
    groups: Groups
    spoken: Spoken
    kind: str  # "household", "person" or "", by comparing the members
    basis: str  # evidence for the kind
    sizes: tuple[str, ...]
    running: tuple[str, ...]
    repeats: bool  # ids start again elsewhere, so they are not unique
    waves: tuple[str, ...] = ()  # columns of time of which an id has each value once

    @property
    def score(self) -> int:
        family = "famil" in self.column.lower()
        seen = 2 * bool(self.sizes) + 2 * bool(self.running) + self.groups.together
        return 4 * (self.spoken.role == "household") + self.spoken.kinds + seen - family

    @property
    def evidence(self) -> tuple[str, ...]:
        groups = self.groups
        several = f"{groups.n:,} ids, {groups.n_several:,} of them in several records"
        evidence = [
            *self.spoken.evidence, several,
            *(["the records of an id stand together"] if groups.together else []),
            *([self.basis] if self.basis else []),
            *([f"{_quoted(self.sizes)} counts its records"] if self.sizes else []),
            *([f"{_quoted(self.running)} numbers them"] if self.running else []),
            *([f"each from another {_quoted(self.waves)}"] if self.waves else []),
        ]  # fmt: skip
        return tuple(evidence)


def units_of(frame: pl.DataFrame, facts: Mapping[str, Facts], spoken: Mapping[str, Spoken]) -> Units:
    """Find the ids of households and persons, and the columns related to them.

    Parameters
    ----------
    frame
        The records.
    facts, spoken
        Of every column.
    """
    names = [name for name in frame.columns if _may_group(facts[name], spoken[name])]
    candidates = [_candidate(frame, name, facts, spoken) for name in names]
    # "nr" alone may number anything
    units = [unit for unit in candidates if unit.waves or unit.spoken.name != "an id" or says_id(unit.column)]
    home = max((unit for unit in units if _is_home(unit, facts)), key=lambda unit: unit.score, default=None)
    others = [unit for unit in units if unit is not home]
    persons = (unit for unit in others if _is_person(unit, facts))
    person = max(persons, key=lambda unit: (unit.spoken.name != OFFICIAL, unit.score), default=None)
    questions = {unit.column: question for unit in others if unit is not person and (question := _question(unit))}
    waves = tuple(dict.fromkeys([*person.running, *person.waves])) if person else ()
    if home is None:
        return Units(None, _unit(person, "person"), waves=waves, questions=questions)
    same = tuple(
        unit.column for unit in units
        if unit not in (home, person) and unit.groups.n == home.groups.n and home.groups.constant(unit.groups.codes)
    )  # fmt: skip
    ids = {home.column, *same, person.column if person else ""}
    constant = tuple(
        name for name in frame.columns
        if name not in ids and facts[name].levels > 1 and home.groups.n_several >= _FORM
        and home.groups.constant(same_values(frame[name]))
    )  # fmt: skip
    questions = {name: question for name, question in questions.items() if name not in same}
    return Units(
        _unit(home, "household"), _unit(person, "person"), constant, home.sizes, home.running, waves, same, questions
    )


def _may_group(facts: Facts, spoken: Spoken) -> bool:
    """Whether a column may be an id: hardly missing, in small groups, and named or numbered like an id."""
    persons = facts.levels > _LARGEST and (spoken.role == "person" or spoken.name == OFFICIAL)
    repeated = 1 < facts.levels < facts.n <= facts.levels * (_EVENTS if persons else _GROUP)
    if not repeated or facts.fraction or facts.date or facts.n < _KNOWN * facts.records or spoken.within:
        return False
    if spoken.role in ("household", "person") or spoken.name in (OFFICIAL, "an id") or says_id(facts.name):
        return True
    digits = facts.text and all(any(letter.isdigit() for letter in text) for text in facts.categories)
    looks = facts.numbered or (facts.text and not facts.number and digits and facts.written is None)
    return spoken.role in ("", "time") and looks and facts.levels > 2 * _ENOUGH


def _candidate(frame: pl.DataFrame, name: str, facts: Mapping[str, Facts], spoken: Mapping[str, Spoken]) -> _Candidate:
    groups = Groups.of(same_values(frame[name]))
    kind, basis = _members(frame, groups, facts, spoken)
    sizes, running, repeats = [], [], False
    for other in frame.columns:
        column = facts[other]
        small = column.number and column.whole and column.minimum >= 0 and column.maximum <= groups.largest * 2
        if other == name or not small or column.levels < 2 or column.maximum > _LARGEST:
            continue
        numbers = numbers_of(frame[other])
        if numbers is None:
            continue
        if column.levels >= _FORM and groups.counted_by(numbers) >= _ALWAYS:
            sizes.append(other)
        elif column.levels >= _FORM and groups.numbered_by(numbers) >= _ALWAYS:
            running.append(other)
        elif spoken[other].within or spoken[other].name == "a person number":
            repeats = repeats or _starts_again(frame, groups, numbers, facts, spoken)
    waves = tuple(
        other for other in _times(frame, facts, spoken)
        if other != name and groups.n_several >= 2 * _ENOUGH
        and groups.repeated([same_values(frame[other])]) <= 1 - _ALWAYS
    )  # fmt: skip
    return _Candidate(name, groups, spoken[name], kind, basis, tuple(sizes), tuple(running), repeats, waves)


def _times(frame: pl.DataFrame, facts: Mapping[str, Facts], spoken: Mapping[str, Spoken]) -> list[str]:
    return [name for name in frame.columns if spoken[name].role == "time" and 1 < facts[name].levels <= _LARGEST]


def _starts_again(
    frame: pl.DataFrame, groups: Groups, numbers: np.ndarray, facts: Mapping[str, Facts], spoken: Mapping[str, Spoken],
) -> bool:  # fmt: skip
    """Whether member numbers repeat within an id and wave: then ids start again in another place."""
    keys = [numbers, *(same_values(frame[name]) for name in _times(frame, facts, spoken))]
    return groups.repeated(keys) > 1 - _ALWAYS


def _members(
    frame: pl.DataFrame, groups: Groups, facts: Mapping[str, Facts], spoken: Mapping[str, Spoken]
) -> tuple[str, str]:
    """Classify an id as household or person by whether sex and birth are constant within it; with the evidence."""
    if groups.n_several < _ENOUGH:
        return "", ""
    known = [
        (name, _SHARED[spoken[name].name]) for name in frame.columns
        if spoken[name].name in _SHARED and facts[name].levels > 1
        and facts[name].n > _RARELY * facts[name].records
    ]  # fmt: skip
    verdicts = [(groups.share_constant(same_values(frame[name])), what) for name, what in known]
    if not verdicts:
        return "", ""
    shares = [share for share, _ in verdicts]
    what = verdicts[0][1]
    if min(shares) >= _ALWAYS:
        return "person", f"the records of an id have one {what}"
    if min(shares) <= _RARELY:
        return "household", f"the records of an id differ in {what}"
    return "", ""


def _is_home(unit: _Candidate, facts: Mapping[str, Facts]) -> bool:
    if unit.kind == "person" or unit.spoken.name == OFFICIAL or unit.groups.largest > _LARGEST or unit.repeats:
        return False
    if unit.spoken.role == "household":
        return True
    seen = bool(unit.sizes) or (bool(unit.running) and unit.kind == "household")
    return seen and unit.groups.together and unit.groups.n_several >= _ENOUGH and not facts[unit.column].fraction


def _is_person(unit: _Candidate, facts: Mapping[str, Facts]) -> bool:
    if unit.kind == "household" or unit.repeats:
        return False
    if unit.waves and unit.spoken.name == "an id":
        return True
    if unit.spoken.name == "an id" and not facts[unit.column].numbered and facts[unit.column].number:
        return False
    if unit.spoken.role == "person" or unit.spoken.name == OFFICIAL:
        return True
    if unit.spoken.role == "id" and says_id(unit.column):
        return True
    ordered = unit.groups.together or bool(unit.running)
    return unit.kind == "person" and ordered and unit.groups.n_several >= 2 * _ENOUGH


def _unit(candidate: _Candidate | None, role: str) -> Unit | None:
    if candidate is None:
        return None
    named = candidate.spoken.role == role or (role == "person" and candidate.spoken.name == "an id")
    seen = candidate.kind == role or bool(candidate.sizes) or (bool(candidate.running) and role == "household")
    small = candidate.groups.n_several < _ENOUGH
    confidence = "sure" if named and seen and not candidate.spoken.disputed else "likely" if named or seen else "unsure"
    return Unit(candidate.column, "likely" if small and confidence == "sure" else confidence, candidate.evidence)


def _question(unit: _Candidate) -> str | None:
    if unit.repeats and (unit.spoken.role == "household" or unit.groups.together):
        return "its numbers start again elsewhere: put it together with the place into one id of the household"
    if unit.spoken.role == "person" and unit.kind == "household":
        return f"whose number is it? It is called a person's, but {unit.basis}"
    if unit.spoken.role == "household":
        return "is it the household? Another column looks more like it"
    if unit.spoken.topic is None and unit.kind == "person" and unit.groups.n_several >= 2 * _ENOUGH:
        return f"its values repeat, and {unit.basis}: are the records with one value one person?"
    if unit.spoken.topic is None and unit.groups.together and unit.groups.n_several >= _ENOUGH:
        return "its values repeat in small groups of records that stand together: who are they, a household?"
    return None


def _quoted(names: tuple[str, ...]) -> str:
    return " and ".join(toml_string(name) for name in names[:2])


# Sampling weights, distinguished from body weights, money and household weights.


_MOST = 0.5  # least share of the records with a weight
_BY_ROW = "it differs between the rows of a person, who counts once: give all rows the one of a wave, or none"
_REPLICATES = 8  # at least this many numbered weights are replicates
_HOME = listed("weights_of_households")
_BEST = listed("best_weights")
_LESS = listed("lesser_weights")
_HOMES = ("hh", "household", "haush", "menage", "hogar", "famil")
_MILLION = 1_000_000
_NEAR = 0.02  # tolerance of a mean of 1, or of a million
# Body weights: kilograms or pounds, with one decimal at most.
_LIGHTEST, _HEAVIEST, _MEANS = 1.5, 400.0, (25.0, 200.0)
_SPREAD = (0.05, 0.5)  # coefficient of variation
_LEVELS = 15
_HEIGHT = 0.15  # least correlation with height of a body weight


@dataclass(frozen=True)
class Weight:
    """A candidate for the sampling weight."""

    column: str
    confidence: str
    evidence: tuple[str, ...]
    warning: str | None = None
    score: float = 0.0


@dataclass(frozen=True)
class Weights:
    """The chosen weight, and findings on other candidates."""

    chosen: Weight | None = None
    refused: Mapping[str, str] = field(default_factory=dict)  # other columns: why they are not chosen
    bodies: Mapping[str, str] = field(default_factory=dict)  # body weights: reasons
    questions: Mapping[str, str] = field(default_factory=dict)  # possible weights: a question each


def weights_of(frame: pl.DataFrame, facts: Mapping[str, Facts], spoken: Mapping[str, Spoken], units: Units) -> Weights:
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
    refused, bodies, weights = {}, {}, []
    rows = None if units.person is None else Groups.of(same_values(frame[units.person.column]))
    for name in named:
        if families[_stem(name)] >= _REPLICATES and _stem(name) != name.lower():
            refused[name] = "one of many weights that are numbered: a replicate"
        elif (no := _no_weight(facts[name], spoken[name])) is not None:
            refused[name] = no
        elif (body := _body(frame, name, facts[name], spoken[name], units, heights)) is not None:
            bodies[name] = body
        elif rows is not None and rows.n_several >= _ENOUGH and not rows.constant(same_values(frame[name])):
            refused[name] = _BY_ROW
        else:
            weights.append(_weight(facts[name], spoken[name], units))
    weights.sort(key=lambda weight: -weight.score)
    questions = {
        name: question for name in frame.columns
        if spoken[name].topic is None and (question := _unnamed_question(facts[name], units)) is not None
    } if not weights else {}  # fmt: skip
    if not weights:
        return Weights(None, refused, bodies, questions)
    best = weights[0]
    if len(weights) > 1 and weights[1].score >= best.score - 0.25:
        best = replace(best, confidence="likely" if best.confidence == "sure" else best.confidence,
                       evidence=(*best.evidence, f"{toml_string(weights[1].column)} could be it as well"))  # fmt: skip
    refused |= {weight.column: f"a weight, too; {toml_string(best.column)} is taken" for weight in weights[1:]}
    return Weights(best, refused, bodies, questions)


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


def _body(frame: pl.DataFrame, name: str, facts: Facts, spoken: Spoken, units: Units, heights: list[str]) -> str | None:
    """Why a column is a body weight, or None."""
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
    first, second = numbers_of(frame[name]), numbers_of(frame[other])
    if first is None or second is None:
        return 0.0
    known = ~(np.isnan(first) | np.isnan(second))
    if known.sum() < _LEVELS or np.ptp(first[known]) == 0 or np.ptp(second[known]) == 0:
        return 0.0
    return float(np.corrcoef(first[known], second[known])[0, 1])


def _weight(facts: Facts, spoken: Spoken, units: Units) -> Weight:
    words = {*words_of(facts.name), *(word for text in spoken.evidence for word in words_of(text))}
    shared = facts.name in units.constant
    kind = "positive numbers with decimals" if facts.fraction else "positive whole numbers"
    evidence = [*spoken.evidence, kind]
    if facts.levels == 1:
        evidence.append("the same for every record")
    if shared:
        evidence.append("the same for all members of a household")
    warning, known = _scale(facts, evidence)
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
    return Weight(facts.name, confidence, tuple(evidence), warning, score)


def _scale(facts: Facts, evidence: list[str]) -> tuple[str | None, float]:
    """A warning on the scale of the weights and a score (0.5 if plausible); appends to `evidence`."""
    mean = facts.mean
    normed = "they say how records count beside each other, not how many people each stands for: "
    if abs(mean - 1) <= _NEAR and facts.levels > 1:
        evidence.append("they add up to the number of records")
        return normed + "multiply them by population / records, or risks are overstated", 0.5
    if abs(mean / _MILLION - 1) <= 5 * _NEAR and facts.levels > 1:
        evidence.append("they add up to a million per record")
        return (normed + "divide them by 1,000,000 and multiply by population / records, or risks are far too low", 0.5)
    if mean < 1:
        evidence.append("they add up to less than the number of records")
        return "weights below 1 stand for less than one person: is it a share, or another scale?", 0.0
    total = float(f"{mean * facts.n:.1e}")
    evidence.append(f"they add up to about {total:,.0f}, which may be a population")
    return None, 0.5


def _unnamed_question(facts: Facts, units: Units) -> str | None:
    """A question about a column without a telling name whose values behave like weights, or None."""
    if not facts.positive or facts.text or not facts.fraction or facts.levels <= _LEVELS or facts.n < facts.records:
        return None
    normed = abs(facts.mean - 1) <= _NEAR / 4 and facts.deviation > _SPREAD[0]
    if normed and facts.decimals > 1:
        return "positive decimals with a mean of 1: is it a sampling weight?"
    if facts.name in units.constant and facts.decimals > 1:
        return "positive decimals, the same for all members of a household: is it the sampling weight?"
    return None
