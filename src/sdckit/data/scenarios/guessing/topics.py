"""Topics of names and labels by keywords, in the languages of survey files."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from itertools import pairwise

from sdckit.data.packaged import packaged

VOCABULARY = packaged("data/scenarios/guessing/words.toml")
"""The keyword tables, read once."""


@dataclass(frozen=True)
class Topic:
    """Keywords of one topic of a column."""

    name: str  # as shown in explanations
    role: str  # usual role of a column of this topic
    words: frozenset[str]  # whole words
    stems: tuple[str, ...] = ()  # prefixes of words, long enough to be specific
    also_learnt: bool = False  # whether it may be what an intruder would learn as well as what one knows
    codes: bool = False  # whether its whole numbers say which one it is, and not how much


def word_set(text: str) -> frozenset[str]:
    """The words of a text.

    >>> sorted(word_set("age alter"))
    ['age', 'alter']
    """
    return frozenset(text.split())


def listed(name: str) -> frozenset[str]:
    """The words of a list in the vocabulary.

    >>> sorted(listed("housed"))
    ['housing', 'ownrent', 'rentown', 'tenure']
    """
    return word_set(VOCABULARY["lists"][name])


# The first matching topic wins.
TOPICS = tuple(
    Topic(**{"name": name, **row, "words": word_set(row["words"]), "stems": tuple(row.get("stems", "").split())})
    for name, row in VOCABULARY["topics"].items()
)

# Words that change the meaning of another word.
BODY = listed("body")
CLEARLY_WEIGHT = listed("clearly_weight")
LENGTH = listed("length")
BIRTH = listed("birth")
COUNTRY = listed("country")
YEAR = listed("year")
SIZE = listed("size")
MONEY = listed("money")
MAKE_UP = "the household's make-up"
OFFICIAL = "an official number"  # of one person: where it repeats, it says whose rows they are
NAMING = (OFFICIAL, "an insurance number")  # by which others know a person: no person number that may go out
_BY_NAME = {topic.name: topic for topic in TOPICS}


def topic_named(name: str) -> Topic:
    """Look up a topic by name.

    >>> topic_named("age").role
    'key'
    """
    return _BY_NAME[name]


# Words of names and labels, and their topic.


_MEASURED = listed("measured")


def names_codes(name: str) -> bool:
    """Whether whole numbers in a column of this name say which one it is, such as a class, and not how much.

    >>> [names_codes(name) for name in ("class_no", "ward", "school", "Gemeinde", "age", "class_size", "v17")]
    [True, True, True, True, False, False, False]
    """
    topic, words = topic_of(name), frozenset(words_of(name))
    ends = tuple(word for word in _MEASURED if len(word) >= _LONG)
    if topic is None or words & _MEASURED or any(word.endswith(ends) for word in words):
        return False
    return topic.codes or (topic.name == "education" and bool(words & _BY_NAME["a group one belongs to"].words))


_SURVEY_AGE = re.compile("|".join(own for of in VOCABULARY["surveys"].values() if "AGE" in (own := of.get("age", ""))))


def names_age(name: str) -> bool:
    """Whether whole numbers in a column of this name are ages, or numbers of age groups.

    >>> [names_age(name) for name in ("age", "Alter", "age_group", "AGEP", "usage", "v17")]
    [True, True, True, True, False, False]
    """
    topic = topic_of(name)
    return bool(_SURVEY_AGE.fullmatch(name.upper())) if topic is None else topic.name == "age"


_BESIDE = listed("beside")
_NOT_IN_LABELS = listed("not_in_labels")
_IDS = listed("ids")
_NUMBERS = listed("numbers")
_NOT_IDS = listed("not_ids")
_HAVE_MONEY = ("occupation", "education", MAKE_UP, "geography", "age", "a sampling weight")
_TALL = _BY_NAME["body height"].words
_WEIGHED = listed("weighed")
_HOUSED = listed("housed")
_SHORT_WEIGHTS = ("wt", "wgt", "wght")  # LLCPWT, PIWT22
_WHO_IS_WEIGHED = ("birth", "body", "baby", "child", "mother", "brain", "bmx")
_COMPOUND = ("key", "sensitive", "weight", "household")
_LONG = 6  # least length of a word that is searched within others
_READ = 14  # words of a label that are used; further ones are explanations
_SPELT: dict[str, str] = VOCABULARY["spelt"]
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def words_of(name: str) -> tuple[str, ...]:
    """Split a name into words at signs and capitals, without accents and digits.

    >>> words_of("HH_Size2"), words_of("dateOfBirth"), words_of("Größe é")
    (('hh', 'size'), ('date', 'of', 'birth'), ('groesse', 'e'))
    """
    spelt = "".join(_SPELT.get(letter, letter) for letter in unicodedata.normalize("NFC", name))
    bare = unicodedata.normalize("NFKD", spelt).encode("ascii", "ignore").decode()
    return tuple(part.lower() for part in _PART.findall(bare) if not part.isdigit())


def word_forms(name: str) -> frozenset[str]:
    """The words of a name, its pairs of adjacent words joined, and all joined.

    >>> sorted(word_forms("estado_civil"))
    ['civil', 'estado', 'estadocivil']
    """
    words = words_of(name)
    pairs = [first + second for first, second in pairwise(words)]
    return frozenset([*words, *pairs, "".join(words)])


def topic_of(name: str) -> Topic | None:
    """The topic of a name, or None.

    >>> topic_of("Geschlecht").name, topic_of("net_income").role, topic_of("v17")
    ('sex or gender', 'sensitive', None)
    """
    forms = word_forms(name)
    words = frozenset(words_of(name))
    for unit in ("a household", "a person number", "a group one belongs to"):
        if words & _NUMBERS and _BY_NAME[unit].words & forms and not words & SIZE - _NUMBERS:
            return _BY_NAME[unit]
    topic = _topic_of_forms(forms)
    if topic is None and any(len(word) > 3 and word.endswith(_SHORT_WEIGHTS) for word in words):
        weighed = any(word.startswith(_WHO_IS_WEIGHED) for word in words)
        return _BY_NAME["a body measure" if weighed else "a sampling weight"]
    if topic is None and any(_is_id(word) for word in words):
        return _BY_NAME["an id"]
    return topic


def topic_of_label(label: str) -> Topic | None:
    """The topic of a variable label, or None; ambiguous words are ignored.

    >>> topic_of_label("Age of the respondent at last birthday").name, topic_of_label("Lives in a nice area")
    ('age', None)
    """
    words = words_of(label)[:_READ]
    if len(words) <= 2:
        return topic_of(label)
    ids = bool(_IDS & {*words})
    for unit in ("a household", "a person number"):
        if ids and _BY_NAME[unit].words & {*words}:
            return _BY_NAME[unit]
    pairs = {first + second for first, second in pairwise(words)}
    tall = {*words} & _TALL if {*words} & (LENGTH | _BY_NAME["a household"].words) else set()
    return _topic_of_forms(frozenset({*words, *pairs} - _NOT_IN_LABELS | tall), sentence=True)


def _topic_of_forms(forms: frozenset[str], *, sentence: bool = False) -> Topic | None:
    if forms & LENGTH and forms & _TALL:
        return _BY_NAME["body height"]
    if forms & BIRTH:
        if forms & COUNTRY:
            return _BY_NAME["a country of birth"]
        if not forms & {"date", "datum", "data", "fecha", "day"} and (forms & YEAR or not sentence):
            forms = forms - {"naissance", "nacimiento", "nascita", "nascimento"} | {"birth"}
        if forms & {"date", "fecha", "datum", "data"}:
            return _BY_NAME["a date of birth"]
    if forms & _WEIGHED:
        return _BY_NAME["a body measure"]
    best = next((topic for topic in TOPICS if _has_word(topic, forms)), None)
    best = best or next((topic for topic in TOPICS if _has_ending(topic, forms)), None)
    return None if best is None else _in_context(best, forms)


def _has_word(topic: Topic, forms: frozenset[str]) -> bool:
    return bool(topic.words & forms) or any(word.startswith(topic.stems) for word in forms if topic.stems)


def _has_ending(topic: Topic, forms: frozenset[str]) -> bool:
    """Whether a word ends in a word of the topic, as in Germanic compounds: Nettoeinkommen is Einkommen."""
    ends = tuple(word for word in topic.words if len(word) >= _LONG)
    return bool(ends) and topic.role in _COMPOUND and any(word.endswith(ends) for word in forms)


def _in_context(topic: Topic, forms: frozenset[str]) -> Topic:
    """The topic given further words: a weight in kilograms is a body measure, not a sampling weight."""
    if topic.role == "weight" and forms & BODY:
        return _BY_NAME["a body measure"]
    if topic.name == "a date of birth" and forms & _BY_NAME["age"].words:
        return _BY_NAME["age"]
    at_home = topic.role == "household" or (topic.name == "body height" and forms & _BY_NAME["a household"].words)
    if at_home and forms & SIZE:
        return _BY_NAME[MAKE_UP]
    if forms & MONEY and topic.name in _HAVE_MONEY and not forms & _HOUSED:
        return _BY_NAME["money"]
    if topic.name == "a person's name":
        return _named_thing(forms) or topic
    return topic


def _named_thing(forms: frozenset[str]) -> Topic | None:
    """The topic of what has a name, if not a person: a country, a school."""
    for name in ("geography", "a group one belongs to", "occupation", "health"):
        if _BY_NAME[name].words & forms:
            return _BY_NAME[name]
    return None


def _is_id(word: str) -> bool:
    return len(word) > 3 and word.endswith("id") and word not in _NOT_IDS


def says_id(name: str) -> bool:
    """Whether a name denotes an id, not a number or code of something.

    >>> says_id("case_id"), says_id("UTILITYID"), says_id("key1"), says_id("paid")
    (True, True, False, False)
    """
    words = {*words_of(name)}
    return bool(words & (_IDS | {"uid", "caseid", "respondent"})) or any(_is_id(word) for word in words)


def says_sampling(text: str) -> bool:
    """Whether a name or label of a weight denotes a sampling weight.

    >>> says_sampling("sampling_weight"), says_sampling("weight"), says_sampling("PERWT")
    (True, False, True)
    """
    words = {*words_of(text)} | word_forms(text)
    return bool(words & CLEARLY_WEIGHT) and not words & BODY


def says_body(text: str) -> bool:
    """Whether a name or label denotes a body weight.

    >>> says_body("weight_kg"), says_body("weight")
    (True, False)
    """
    return bool({*words_of(text)} & BODY)


def key_topic_within(name: str) -> Topic | None:
    """The topic of a key whose keyword is part of a word in the name, or None.

    >>> key_topic_within("sexcode").name, key_topic_within("subregions").name, key_topic_within("usage")
    ('sex or gender', 'geography', None)
    """
    for topic in TOPICS:
        if topic.role == "key" and any(_holds(part, word) for part in words_of(name) for word in topic.words):
            return topic
    return None


def _holds(part: str, word: str) -> bool:
    if len(word) >= _LONG:
        return word in part
    beside = part.removeprefix(word) if part.startswith(word) else part.removesuffix(word)
    return len(word) > 2 and beside != part and beside in _BESIDE
