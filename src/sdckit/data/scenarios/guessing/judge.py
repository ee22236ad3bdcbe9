"""The guess for one column: role, confidence and evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from sdckit.data import methods, nearest
from sdckit.data.scenarios.guessing.facts import MEASURED, NAME, Facts
from sdckit.data.scenarios.guessing.spoken import Spoken
from sdckit.data.scenarios.guessing.topics import NAMING, listed, words_of
from sdckit.data.scenarios.guessing.units import Unit, Units, Weights
from sdckit.data.scenarios.scenario_checks import is_pattern
from sdckit.data.scenarios.scenario_toml import toml_string
from sdckit.display import EXACT, Displayed, exact_shown, table_html
from sdckit.errors import ColumnError

# Plausibility of the values for the topic of name or label.


_OLDEST = 125
_BANDS = 30
_YEARS = (1850, 2100)
# Least and greatest number of categories, by topic.
_LEVELS = {
    "sex or gender": (2, 6), "marital status": (2, 15), "religion": (2, 200),
    "education": (2, 100), "the household's make-up": (2, 60),
    "the body or a disability one can see": (2, 30),
}  # fmt: skip
_MISSING = (96, 999)  # codes for missing among numbers of people


def fits_topic(facts: Facts, topic: str) -> bool | None:
    """Whether the values are plausible for a topic; None if they cannot tell.

    >>> ages = Facts("x", 9, 9, 60, number=True, whole=True, text=False, date=False, minimum=0.0, maximum=97.0)
    >>> fits_topic(ages, "age"), fits_topic(ages, "sex or gender"), fits_topic(ages, "geography")
    (True, False, None)
    """
    if topic == "age":
        return _age(facts)
    if topic == "a birth":
        return _birth(facts)
    if topic == "a date of birth":
        return True if facts.date else None
    if topic in _LEVELS:
        low, high = _LEVELS[topic]
        return low <= facts.levels <= high and (not facts.fraction or topic == "the household's make-up")
    return None


def _age(facts: Facts) -> bool:
    if not facts.number:
        return facts.levels <= _BANDS * 5
    in_years = facts.minimum >= -10 and (facts.maximum <= _OLDEST or facts.maximum == _MISSING[1])
    return in_years or facts.levels <= _BANDS


def _birth(facts: Facts) -> bool | None:
    if not facts.number:
        return None
    months = facts.levels <= 12
    years = facts.maximum <= _YEARS[1] and facts.mean >= _YEARS[0]
    return True if months or years else None


# Guesses: role, confidence, evidence.


Role = Literal["key", "weight", "household", "person", "sensitive", "numeric", "identifier", "insensitive", "ignore"]
Confidence = Literal["sure", "likely", "unsure"]


@dataclass(frozen=True)
class Guess(Displayed):
    """The guessed role of a column.

    Attributes
    ----------
    column : str
        Its name.
    role : str
        Its role in a scenario; ``"ignore"`` where it has none.
    confidence : str
        ``"sure"``, ``"likely"`` or ``"unsure"``; see `RoleGuesses`.
    evidence : tuple of str
        Why, in words, without any value of a record.
    warning : str or None
        What to do before it is used.
    question : str or None
        What must be answered before a gate may rest on it.
    magnitude : bool
        Whether few records hold much of it, so that its large numbers tell who they are: a number, below 0
        in 5 % of the records at most, with more than 30 values, of which the largest 1 % hold five times their share.
    """

    column: str
    role: Role
    confidence: Confidence
    evidence: tuple[str, ...]
    warning: str | None = None
    question: str | None = None
    magnitude: bool = False

    def _repr_html_(self) -> str:
        return RoleGuesses((self,), 0)._repr_html_()

    @property
    def reason(self) -> str:
        """The evidence in one line."""
        return "; ".join(self.evidence)


@dataclass(frozen=True)
class RoleGuesses(Displayed):
    """A guess for every column, in column order.

    Attributes
    ----------
    guesses : tuple of Guess
        Column, role, confidence, evidence, warning and question of each.
    n_records : int
        Records looked at.
    household_variables : tuple of str
        Columns that are the same for all members of every household; empty where no household was found.

    Notes
    -----
    ``"sure"``: two kinds of evidence agree, such as a name and the values, and none contradicts.
    ``"likely"``: one kind of evidence, or one that the values cannot confirm. ``"unsure"``: weak or contradictory
    evidence. Sensitive columns are never sure: what is harmful is for people to judge.

    Examples
    --------
    >>> import polars as pl
    >>> import sdckit as sdc
    >>> data = pl.DataFrame({"sex": ["m", "f"] * 20, "v3": [1, 2, 3, 4] * 10})
    >>> found = sdc.guess_roles(data)
    >>> found["sex"].role, found["sex"].confidence, found.unconfirmed
    ('key', 'sure', ('v3',))
    """

    guesses: tuple[Guess, ...]
    n_records: int
    household_variables: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Guess]:
        return iter(self.guesses)

    def __len__(self) -> int:
        return len(self.guesses)

    def __getitem__(self, column: str) -> Guess:
        for guess in self.guesses:
            if guess.column == column:
                return guess
        names = [guess.column for guess in self.guesses]
        raise ColumnError(f"there is no column '{column}'; {nearest.did_you_mean(column, names)}")

    def _repr_html_(self) -> str:
        """Reasons are shown with exact figures only: they hold numbers of values."""
        exact = exact_shown.get()
        head = ["column", "role", "how sure", *(["why"] if exact else [])]
        rows = [
            [guess.column, guess.role, guess.confidence, *([guess.reason] if exact else [])] for guess in self.guesses
        ]
        return table_html(head, rows, title=EXACT if exact else "")

    @property
    def unconfirmed(self) -> tuple[str, ...]:
        """Columns with an open question."""
        return tuple(guess.column for guess in self.guesses if guess.question is not None)

    def of(self, role: Role) -> tuple[str, ...]:
        """Columns guessed to have a role.

        Parameters
        ----------
        role
            A role of `Guess`.
        """
        return tuple(guess.column for guess in self.guesses if guess.role == role)

    def __str__(self) -> str:
        width = max((len(guess.column) for guess in self.guesses), default=0)
        lines = [
            f"{guess.column:{width}}  {guess.role:10}  {guess.confidence:6}  {guess.reason}" for guess in self.guesses
        ]
        return "\n".join(lines)


# Coordinates: latitude and longitude identify as a pair, so they are judged as a pair.


_SOMEBODY = listed("somebody")
_ACROSS = listed("across")
_UP = listed("up")


def coordinates_of(
    facts: Mapping[str, Facts], spoken: Mapping[str, Spoken], labels: Mapping[str, str]
) -> dict[str, str]:
    """Columns that form pairs of coordinates, each with its reason.

    Parameters
    ----------
    facts, spoken, labels
        Of every column.
    """
    words = {name: {*words_of(name), *words_of(labels.get(name, ""))} for name in facts}
    ups = [name for name in facts if _may_be(facts[name], words[name] & _UP)]
    acrosses = [name for name in facts if _may_be(facts[name], words[name] & _ACROSS)]
    pairs: dict[str, str] = {}
    for up in ups:
        mates = (name for name in acrosses if name not in (up, *pairs))
        mate = next((name for name in mates if _are_pair(up, name, facts, spoken)), None)
        if mate is not None:
            pairs |= {name: f"with {toml_string(other)} a place on the map" for name, other in ((up, mate), (mate, up))}
    return pairs


def _may_be(facts: Facts, words: set[str]) -> bool:
    return facts.number and facts.levels > 1 and bool(words)


def _are_pair(up: str, across: str, facts: Mapping[str, Facts], spoken: Mapping[str, Spoken]) -> bool:
    """Whether two columns are a pair: one is named as a coordinate; ranges fit degrees, or names a metric grid."""
    if not any(spoken[name].role == "coordinate" for name in (up, across)):
        return False
    globe = (
        (facts[up].fraction or facts[across].fraction) and facts[up].minimum >= -90 and facts[up].maximum <= 90
        and facts[across].minimum >= -180 and facts[across].maximum <= 360
    )  # fmt: skip
    metric = {"northing", "easting", "xcoord", "ycoord", "geox", "geoy"} & {*words_of(up), *words_of(across)}
    return globe or bool(metric)


_FINE = 100  # keys with more levels need recoding
_MANY = 1_000  # numbers with more distinct values are measurements, not codes
_TYPES = 12  # greatest number of household types
_SPREAD = 0.1  # numbers with more distinct values than this share of the records are measurements, too
_CODES = 60  # more distinct values are not a list of answers
_NAMES = 0.3  # least ratio of distinct values to records for names
_ENOUGH = 30  # least number of records for which all-distinct values are evidence
_SEVERAL_ROWS = (
    "several rows per person: with this role each person counts once in every combination of keys; "
    "take it away only if each row is a person of its own, or risks are understated"
)
_NAMES_PERSON = f"it names the person: {methods.ADVICE['person']}; {_SEVERAL_ROWS}"
_KNOWN = "could a stranger know it? If so move it to keys"
_NAMES_SOMEBODY = "does it name somebody? Else take it out of the identifiers"
_WHEN = "does it say when the row of a person is from? Then name it as time, and where it is known, as a key, too"
_NO_ROLE = "what is it? Give it a role, or move it to insensitive where nobody knows it and it harms nobody"
_FREE_TEXT = "it may hold names and places; read it through before any of it is released"


@dataclass(frozen=True)
class Setting:
    """Findings on the whole file: ids, weights, coordinates."""

    units: Units
    weights: Weights
    coordinates: Mapping[str, str]  # column: reason
    places: int = 0  # most values that one of them has


def judge(facts: Facts, spoken: Spoken, setting: Setting) -> Guess:
    """Guess the role of a column; one that stays without, as a number does by itself, is asked about."""
    guess = _judge(facts, spoken, setting)
    asked = guess.role in ("ignore", "numeric") and guess.question is None
    large = facts.skewed and guess.role in ("numeric", "sensitive")
    return replace(guess, question=_NO_ROLE if asked else guess.question, magnitude=large)


def _judge(facts: Facts, spoken: Spoken, setting: Setting) -> Guess:
    name, units, weights = facts.name, setting.units, setting.weights
    if weights.chosen is not None and name == weights.chosen.column:
        chosen = weights.chosen
        question = None if chosen.confidence == "sure" and chosen.warning is None else (
            "does it say how many people each record stands for?"
        )  # fmt: skip
        return Guess(name, "weight", _word(chosen.confidence), chosen.evidence, chosen.warning, question)
    for unit, role in ((units.household, "household"), (units.person, "person")):
        if unit is not None and name == unit.column:
            return _unit(unit, role, naming=spoken.name in NAMING)
    if facts.n == 0:
        return Guess(name, "ignore", "sure", ("it holds no value that can be compared",))
    if facts.levels == 1 and not (spoken.role == "identifier" and facts.text):
        constant = facts.n == facts.records and not is_pattern(name)  # where it is missing, that tells records apart
        reason = ("it is the same in every record where it is known",)
        return Guess(name, "insensitive" if constant else "ignore", "sure", reason)
    return _from_context(facts, spoken, setting) or _by_topic(facts, spoken)


def _word(text: str) -> Confidence:
    return "sure" if text == "sure" else "likely" if text == "likely" else "unsure"


def _unit(unit: Unit, role: str, *, naming: bool) -> Guess:
    if role == "household":
        question = None if unit.confidence == "sure" else "do the records with one value live together?"
        return Guess(unit.column, "household", _word(unit.confidence), unit.evidence, None, question)
    question = None if unit.confidence == "sure" else "are the records with one value one person?"
    warning = _NAMES_PERSON if naming else _SEVERAL_ROWS
    return Guess(unit.column, "person", _word(unit.confidence), unit.evidence, warning, question)


def _from_context(facts: Facts, spoken: Spoken, setting: Setting) -> Guess | None:
    """Guess from findings on the whole file, or from the format of the texts; None if these say nothing."""
    name, units, weights = facts.name, setting.units, setting.weights
    if name in setting.coordinates:
        return _coordinate(facts, setting.coordinates[name], max(facts.levels, setting.places))
    if name in units.same:
        return Guess(name, "ignore", "sure", ("an id of the same households again: do not release it",))
    if name in units.questions:
        return Guess(name, "ignore", "unsure", (*spoken.evidence, facts.counted), None, units.questions[name])
    if name in weights.refused:
        return Guess(name, "ignore", "likely", (weights.refused[name],))
    if name in weights.bodies:
        question = None if spoken.body else "is it the weight of a body, as guessed, or the sample's?"
        why = (*spoken.evidence, weights.bodies[name])
        return Guess(name, "numeric", "likely" if spoken.body else "unsure", why, None, question)
    if name in weights.questions:
        return Guess(name, "numeric", "unsure", (facts.counted,), None, weights.questions[name])
    if name in units.sizes:
        why = (*spoken.evidence, "counts the records of the household")
        return Guess(name, "key", "sure" if spoken.topic else "likely", why)
    if name in units.waves and spoken.role in ("", "time"):
        why = (*spoken.evidence, "numbers the records of a person: a wave?")
        return Guess(name, "ignore", "likely", why, None, _WHEN)
    if name in units.running or spoken.within:
        reason = "numbers the members of the household" if name in units.running else spoken.why
        return Guess(name, "ignore", "sure" if name in units.running else "likely", (reason,))
    return _from_format(facts, spoken)


def _from_format(facts: Facts, spoken: Spoken) -> Guess | None:
    """Guess a direct identifier from the format of the texts."""
    written = facts.written
    if written is None:
        return None
    seen = f"its texts are written like {written}"
    if written == "free text":
        if facts.levels <= _CODES or spoken.role in ("key", "sensitive", "group"):
            return None
        return Guess(facts.name, "identifier", "likely", (*spoken.evidence, seen), _FREE_TEXT)
    if written in ("a person's name", "a street address"):
        if spoken.role not in ("", "identifier", "person", "id") or facts.levels < _NAMES * facts.n:
            return None
        agreed = spoken.role == "identifier"
        question = None if agreed else f"does it hold {written}? Else take it out of the identifiers"
        confidence: Confidence = "sure" if agreed else "unsure"
        return Guess(facts.name, "identifier", confidence, (*spoken.evidence, seen), None, question)
    agreed = spoken.role in ("identifier", "id", "person")
    return Guess(facts.name, "identifier", "sure" if agreed else "likely", (*spoken.evidence, seen))


def _coordinate(facts: Facts, why: str, places: int) -> Guess:
    if places <= _FINE and places * 10 < facts.n:
        question = "do latitude and longitude give an area, as guessed, or a house? A house is an identifier"
        return Guess(facts.name, "key", "likely", (why, facts.counted), None, question)
    return Guess(facts.name, "identifier", "sure", (why, f"{facts.counted}: places so fine identify"))


def _by_topic(facts: Facts, spoken: Spoken) -> Guess:
    judged = _BY_ROLE.get(spoken.role, _from_counts)(facts, spoken)
    if judged.role in ("key", "sensitive") and spoken.disputed:
        judged = replace(judged, confidence="unsure", evidence=(*judged.evidence, "name, label or values disagree"))
    if judged.role == "key" and judged.confidence == "unsure" and judged.question is None:
        judged = replace(judged, question="could a stranger know it, as guessed? Else take it out of the keys")
    return judged


def _key(facts: Facts, spoken: Spoken) -> Guess:
    why = (*spoken.evidence, facts.counted)
    an_id = facts.unique and facts.n >= _ENOUGH and (facts.numbered or facts.text) and not facts.date
    if an_id and spoken.name not in ("a date of birth", "a birth", "geography", "a country of birth"):
        return Guess(facts.name, "identifier", "likely", (*spoken.evidence, "but different in every record"))
    if spoken.kinds == 0 and (facts.levels > _FINE or facts.fraction):
        return _from_counts(facts, spoken)
    fits = fits_topic(facts, spoken.name)
    if fits is False:
        disagree = (*why, f"but the values are not those of {spoken.name}")
        if facts.measurable and facts.levels > _FINE:
            return Guess(facts.name, "numeric", "unsure", disagree, None, _KNOWN)
        return Guess(facts.name, "key", "unsure", disagree)
    tested = (f"the values fit {spoken.name}",) if fits else ()
    confidence: Confidence = "sure" if spoken.kinds > 1 or (spoken.kinds == 1 and fits) else "likely"
    if spoken.kinds == 0 or (spoken.evidence and spoken.evidence[0].startswith("its categories")):
        confidence = "likely" if fits or spoken.kinds else "unsure"
    question = None
    if spoken.topic is not None and spoken.topic.also_learnt:
        confidence = "likely" if confidence == "sure" else confidence
        question = "is it known to strangers, or is it what they would learn? Then move it to sensitive"
    return Guess(facts.name, "key", confidence, (*why, *tested), _too_fine(facts, spoken), question)


def _too_fine(facts: Facts, spoken: Spoken) -> str | None:
    if spoken.name == "a date of birth" or (spoken.name == "a birth" and facts.levels > _FINE):
        return "recode to a year or an age group before it is used as a key"
    if facts.levels > _FINE:
        how = "merge areas" if spoken.name == "geography" else "recode to fewer groups"
        return f"too fine ({facts.counted}): {how} before it is used as a key"
    return None


def _identifier(facts: Facts, spoken: Spoken) -> Guess:
    if (facts.number or not facts.text) and facts.levels <= 10:
        return _from_counts(facts, spoken)
    sharp = spoken.name != "a person's name" or facts.levels > _CODES
    return Guess(facts.name, "identifier", "sure" if sharp else "likely", (*spoken.evidence, "no figure reads it"))


def _household(facts: Facts, spoken: Spoken) -> Guess:
    if facts.unique and not facts.fraction:
        return Guess(facts.name, "identifier", "sure", (*spoken.evidence, "but different in every record"))
    if facts.levels <= _TYPES and not facts.fraction:
        why = (*spoken.evidence, f"but only {facts.counted}: it describes the household")
        return Guess(facts.name, "key", "unsure", why)
    if facts.number and facts.numbered and facts.minimum <= 1:
        question = "does it number households in each place anew? Then make one id of the place and this number"
        return Guess(facts.name, "ignore", "unsure", (*spoken.evidence, f"but {facts.counted} in large groups"), None,
                     question)  # fmt: skip
    return Guess(facts.name, "ignore", "unsure", (*spoken.evidence, f"but {facts.counted} in large groups"), None,
                 "is it an id of households? Then say so: household")  # fmt: skip


def _person(facts: Facts, spoken: Spoken) -> Guess:
    if facts.unique and not facts.fraction:
        return Guess(facts.name, "identifier", "sure", (*spoken.evidence, "different in every record"))
    large = f"{facts.counted} in large groups: a number within a household?"
    return Guess(facts.name, "ignore", "likely", (*spoken.evidence, large))


def _sensitive(facts: Facts, spoken: Spoken) -> Guess:
    warning = None
    if facts.number and facts.levels > _FINE:
        warning = "a number with many values: put it in bands, or diversity will look better than it is"
    question = "is it what an intruder would learn, as guessed? Known to strangers, it is a key"
    confidence: Confidence = "likely" if spoken.kinds > 0 else "unsure"
    return Guess(facts.name, "sensitive", confidence, (*spoken.evidence, facts.counted), warning, question)


def _event(facts: Facts, spoken: Spoken) -> Guess:
    warning = "recode to months or years before it is used as a key" if facts.levels > _FINE else None
    return Guess(facts.name, "key", "unsure", (*spoken.evidence, facts.counted), warning)


def _group(facts: Facts, spoken: Spoken) -> Guess:
    if facts.written == NAME and _SOMEBODY & {*words_of(facts.name)}:
        why = (*spoken.evidence, f"its texts are written like {NAME}")
        return Guess(facts.name, "identifier", "likely", why)
    if facts.unique:
        return Guess(facts.name, "identifier", "likely", (*spoken.evidence, "different in every record"))
    if facts.fraction:
        return _from_counts(facts, spoken)
    return Guess(facts.name, "key", "unsure", (*spoken.evidence, facts.counted), _too_fine(facts, spoken))


def _design(facts: Facts, spoken: Spoken) -> Guess:
    if facts.unique and not facts.fraction:
        return Guess(facts.name, "identifier", "likely", (*spoken.evidence, "different in every record"))
    why = (*spoken.evidence, "areas in disguise: do not release it as it is")
    return Guess(facts.name, "ignore", "likely", why)


def _time(facts: Facts, spoken: Spoken) -> Guess:
    if facts.date and spoken.kinds < 2:
        return _from_counts(facts, spoken)
    return Guess(facts.name, "ignore", "likely", (*spoken.evidence, facts.counted))


def _measured(facts: Facts, spoken: Spoken) -> Guess:
    if not facts.measurable:
        return _from_counts(facts, spoken)
    why = (*spoken.evidence, facts.counted)
    if facts.levels > MEASURED:
        return Guess(facts.name, "numeric", "likely", why)
    return Guess(facts.name, "ignore", "unsure", why, None, _KNOWN)


def _id(facts: Facts, spoken: Spoken) -> Guess:
    """Distinguish an id from a count: 'number of rooms' is not an id."""
    if facts.unique and not facts.fraction:
        return Guess(facts.name, "identifier", "sure", (*spoken.evidence, "different in every record"))
    question = "whose id is it? Name it as person or household, or list it as an identifier"
    if facts.levels > _CODES and not facts.fraction:
        return Guess(facts.name, "ignore", "unsure", (*spoken.evidence, facts.counted), None, question)
    return _from_counts(facts, spoken)


def _from_counts(facts: Facts, _: Spoken) -> Guess:
    """Guess from type and number of values alone."""
    unsaid = "neither name nor label says what it is"
    different = facts.unique and facts.n >= _ENOUGH and not facts.fraction and not facts.date
    if different and (facts.numbered or (facts.text and not facts.number)):
        return Guess(facts.name, "identifier", "likely", ("different in every record", unsaid))
    if facts.date:
        why = (f"days, {facts.counted}", unsaid)
        return Guess(facts.name, "ignore", "unsure", why, None, _KNOWN)
    if facts.text and facts.levels > _CODES and facts.name.lower().endswith("name"):
        why = ("its name ends in name", facts.counted)
        return Guess(facts.name, "identifier", "unsure", why, None, _NAMES_SOMEBODY)
    spread = facts.levels > _MANY or (facts.levels > _FINE and facts.levels > _SPREAD * facts.n)
    if facts.measurable and (spread or (facts.fraction and facts.levels > MEASURED)):
        return Guess(facts.name, "numeric", "likely", (f"a number with {facts.counted}", unsaid))
    question = _KNOWN if facts.levels <= _FINE else None
    return Guess(facts.name, "ignore", "unsure", (facts.counted, unsaid), None, question)


_BY_ROLE: dict[str, Callable[[Facts, Spoken], Guess]] = {
    "key": _key, "identifier": _identifier, "household": _household, "person": _person,
    "sensitive": _sensitive, "id": _id, "event": _event, "group": _group, "design": _design, "time": _time,
    "body": _measured, "coordinate": _from_counts, "weight": _from_counts,
}  # fmt: skip
