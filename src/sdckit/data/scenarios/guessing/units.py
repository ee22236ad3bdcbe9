"""Households and persons: ids that repeat, and the columns that count, number and share within them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sdckit.data.scenarios.guessing.facts import Facts, numbers_of, same_values
from sdckit.data.scenarios.guessing.groups import Groups
from sdckit.data.scenarios.guessing.spoken import Spoken
from sdckit.data.scenarios.guessing.words import says_id
from sdckit.data.scenarios.scenario_toml import toml_string

if TYPE_CHECKING:
    import polars as pl


_GROUP = 15  # households and persons have at most so many records on average
_LARGEST = 60  # and no more than so many
_KNOWN = 0.99  # share of the records that must have an id
_ENOUGH = 10  # groups of several records that tell a household from a person
_ALWAYS = 0.97  # share of the groups, or of the records, that counts as "always"
_RARELY = 0.9
_SHARED = {"sex or gender": "sex", "a date of birth": "birth", "a birth": "birth"}  # one person has one
_FORM = 3  # sizes a count of rows must have, numbers a numbering must reach


@dataclass(frozen=True)
class Unit:
    """An id that says which records belong together."""

    column: str
    confidence: str  # "sure", "likely" or "unsure"
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Units:
    """What the ids of a file are, and what hangs on the household."""

    household: Unit | None = None
    person: Unit | None = None
    constant: tuple[str, ...] = ()  # the same for all members of every household
    sizes: tuple[str, ...] = ()  # count the rows of the household
    running: tuple[str, ...] = ()  # number its members
    waves: tuple[str, ...] = ()  # number the records of a person
    same: tuple[str, ...] = ()  # say the same as the household's id
    asked: Mapping[str, str] = field(default_factory=dict)  # ids that are not sure enough: a question each


@dataclass(frozen=True)
class _Candidate:
    column: str
    groups: Groups
    spoken: Spoken
    kind: str  # "household", "person" or "" as the members tell
    told: str  # by what
    sizes: tuple[str, ...]
    running: tuple[str, ...]
    repeats: bool  # a number that starts again elsewhere

    @property
    def score(self) -> int:
        family = "famil" in self.column.lower()
        seen = 2 * bool(self.sizes) + 2 * bool(self.running) + self.groups.together
        return 4 * (self.spoken.role == "household") + self.spoken.kinds + seen - family

    @property
    def evidence(self) -> tuple[str, ...]:
        groups = self.groups
        several = f"{groups.n:,} ids, {groups.n_several:,} of them in several records"
        told = [
            *self.spoken.evidence, several,
            *(["the records of an id stand together"] if groups.together else []),
            *([self.told] if self.told else []),
            *([f"{_quoted(self.sizes)} counts its records"] if self.sizes else []),
            *([f"{_quoted(self.running)} numbers them"] if self.running else []),
        ]  # fmt: skip
        return tuple(told)


def units_of(frame: pl.DataFrame, facts: Mapping[str, Facts], spoken: Mapping[str, Spoken]) -> Units:
    """Find the ids of households and persons.

    Parameters
    ----------
    frame
        The records.
    facts, spoken
        Of every column.
    """
    names = [name for name in frame.columns if _may_group(facts[name], spoken[name])]
    found = [_candidate(frame, name, facts, spoken) for name in names]
    homes = sorted((one for one in found if _is_home(one, facts)), key=lambda one: -one.score)
    home = homes[0] if homes else None
    people = sorted(
        (one for one in found if one is not home and _is_person(one, facts)), key=lambda one: -one.score
    )
    person = people[0] if people else None
    asked = {
        one.column: question for one in found if one not in (home, person) and (question := _question(one))
    }
    waves = person.running if person else ()
    if home is None:
        return Units(None, _unit(person, "person"), waves=waves, asked=asked)
    same = tuple(
        one.column for one in found
        if one not in (home, person) and one.groups.n == home.groups.n and home.groups.constant(one.groups.codes)
    )  # fmt: skip
    ids = {home.column, *same, person.column if person else ""}
    constant = tuple(
        name for name in frame.columns
        if name not in ids and facts[name].levels > 1 and home.groups.n_several >= _FORM
        and home.groups.constant(same_values(frame[name]))
    )  # fmt: skip
    asked = {name: question for name, question in asked.items() if name not in same}
    return Units(
        _unit(home, "household"),
        _unit(person, "person"),
        constant,
        home.sizes,
        home.running,
        waves,
        same,
        asked,
    )


def _may_group(facts: Facts, spoken: Spoken) -> bool:
    """Ids: known nearly everywhere, repeated in small groups; by name, or written like numbers of records."""
    repeated = 1 < facts.levels < facts.n <= facts.levels * _GROUP
    if not repeated or facts.fraction or facts.date or facts.n < _KNOWN * facts.records or spoken.within:
        return False
    if spoken.role in ("household", "person") or says_id(facts.name):
        return True
    digits = facts.text and all(any(letter.isdigit() for letter in text) for text in facts.categories)
    looks = facts.numbered or (facts.text and not facts.number and digits and facts.written is None)
    return spoken.role in ("", "time") and looks and facts.levels > 2 * _ENOUGH


def _candidate(
    frame: pl.DataFrame, name: str, facts: Mapping[str, Facts], spoken: Mapping[str, Spoken]
) -> _Candidate:
    groups = Groups.of(same_values(frame[name]))
    kind, told = _members(frame, groups, facts, spoken)
    sizes, running, repeats = [], [], False
    for other in frame.columns:
        one = facts[other]
        small = one.number and one.whole and one.minimum >= 0 and one.maximum <= groups.largest * 2
        if other == name or not small or one.levels < 2 or one.maximum > _LARGEST:
            continue
        numbers = numbers_of(frame[other])
        if numbers is None:
            continue
        if one.levels >= _FORM and groups.counted_by(numbers) >= _ALWAYS:
            sizes.append(other)
        elif one.levels >= _FORM and groups.numbered_by(numbers) >= _ALWAYS:
            running.append(other)
        elif spoken[other].within or spoken[other].name == "a person number":
            repeats = repeats or _starts_again(frame, groups, numbers, facts, spoken)
    return _Candidate(name, groups, spoken[name], kind, told, tuple(sizes), tuple(running), repeats)


def _starts_again(
    frame: pl.DataFrame, groups: Groups, numbers: np.ndarray, facts: Mapping[str, Facts],
    spoken: Mapping[str, Spoken],
) -> bool:  # fmt: skip
    """Tell whether members' numbers come twice in one wave: then ids start again in another place."""
    waves = [
        name for name in frame.columns if spoken[name].role == "time" and 1 < facts[name].levels <= _LARGEST
    ]
    keys = [numbers, *(same_values(frame[name]) for name in waves)]
    return groups.repeated(keys) > 1 - _ALWAYS


def _members(
    frame: pl.DataFrame, groups: Groups, facts: Mapping[str, Facts], spoken: Mapping[str, Spoken]
) -> tuple[str, str]:
    """Tell a household from a person by what the records of an id share."""
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


def _is_home(one: _Candidate, facts: Mapping[str, Facts]) -> bool:
    if one.kind == "person" or one.groups.largest > _LARGEST or one.repeats:
        return False
    if one.spoken.role == "household":
        return True
    seen = bool(one.sizes) or (bool(one.running) and one.kind == "household")
    return seen and one.groups.together and one.groups.n_several >= _ENOUGH and not facts[one.column].fraction


def _is_person(one: _Candidate, facts: Mapping[str, Facts]) -> bool:
    if one.kind == "household" or one.repeats:
        return False
    if one.spoken.name == "an id" and not facts[one.column].numbered and facts[one.column].number:
        return False
    if one.spoken.role == "person" or (one.spoken.role == "id" and says_id(one.column)):
        return True
    ordered = one.groups.together or bool(one.running)
    return one.kind == "person" and ordered and one.groups.n_several >= 2 * _ENOUGH


def _unit(one: _Candidate | None, role: str) -> Unit | None:
    if one is None:
        return None
    named = one.spoken.role == role or (role == "person" and one.spoken.name == "an id")
    seen = one.kind == role or bool(one.sizes) or (bool(one.running) and role == "household")
    small = one.groups.n_several < _ENOUGH
    confidence = (
        "sure" if named and seen and not one.spoken.disputed else "likely" if named or seen else "unsure"
    )
    return Unit(one.column, "likely" if small and confidence == "sure" else confidence, one.evidence)


def _question(one: _Candidate) -> str | None:
    if one.repeats and (one.spoken.role == "household" or one.groups.together):
        return (
            "its numbers start again elsewhere: put it together with the place into one id of the household"
        )
    if one.spoken.role == "person" and one.kind == "household":
        return f"whose number is it? It is called a person's, but {one.told}"
    if one.spoken.role == "household":
        return "is it the household? Another column looks more like it"
    if one.spoken.topic is None and one.groups.together and one.groups.n_several >= _ENOUGH:
        return "its values repeat in small groups of records that stand together: who are they, a household?"
    return None


def _quoted(names: tuple[str, ...]) -> str:
    return " and ".join(toml_string(name) for name in names[:2])
