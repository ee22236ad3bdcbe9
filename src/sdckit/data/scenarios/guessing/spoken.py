"""The topic of a column, by its name, label, categories and the codebook of well-known surveys."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sdckit.data.scenarios.guessing import topics as known_topics
from sdckit.data.scenarios.guessing.facts import Facts

# Variable names of well-known surveys; trusted only if a file has several of one survey.


_TELLING, _ENOUGH = 2, 6  # more than 2 names specific to the survey; or one, with at least 6 of its names in all

_ADDED = re.compile(r"_?(CAT|GRP|GROUP|REC|BANDS?|CLASS|CODE)\d?$")  # suffixes of derived variables
_SURVEYS = {
    survey: tuple((topic, re.compile(pattern)) for topic, pattern in rows.items())
    for survey, rows in known_topics.VOCABULARY["surveys"].items()
}


def codebook_topics(columns: Sequence[str]) -> dict[str, tuple[str, known_topics.Topic | None]]:
    """(survey, topic) of the columns that match the codebook of the best-matching survey.

    The topic is None for a number that is only unique within a group: a line number, a household's number in its
    village.

    >>> topics = codebook_topics(["db030", "rb050", "rb090", "colour"])
    >>> {column: topic.name for column, (survey, topic) in topics.items()}
    {'db030': 'a household', 'rb050': 'a sampling weight', 'rb090': 'sex or gender'}
    >>> codebook_topics(["np", "x"])
    {}
    """
    best: dict[str, tuple[str, known_topics.Topic | None]] = {}
    for survey, rows in _SURVEYS.items():
        topics = {}
        for column in columns:
            bare = _ADDED.sub("", column.strip().upper())
            named = next((topic for topic, pattern in rows if pattern.fullmatch(bare)), None)
            if named is not None:
                within = named == "a number within"
                topics[column] = (survey, None if within else known_topics.topic_named(named))
        telling = [
            column for column in topics if known_topics.topic_of(column) is None
        ]  # "sex" and "age" are in many surveys
        known = len(telling) > _TELLING or (telling and len(topics) >= _ENOUGH)
        if known and len(topics) > len(best):
            best = topics
    return best


_OF_A_QUESTION = re.compile(r"(?i)[a-z]?v\d+")  # V012 is the age in one survey, and any question in many


@lru_cache(8)
def topics_of_names(columns: tuple[str, ...]) -> Mapping[str, known_topics.Topic]:
    """The topics of the columns of a file by their names alone, or by the codebook of a survey that most are from.

    >>> {name: topic.name for name, topic in topics_of_names(("RB090", "pb150", "db040", "age", "v012")).items()}
    {'RB090': 'sex or gender', 'pb150': 'sex or gender', 'db040': 'geography', 'age': 'age'}
    """
    of_survey = codebook_topics([name for name in columns if not _OF_A_QUESTION.fullmatch(name)])
    topics = {name: known_topics.topic_of(name) or of_survey.get(name, (name, None))[1] for name in columns}
    return {name: topic for name, topic in topics.items() if topic is not None}


# Topic by the categories of a column: value labels, or the texts themselves.


_MOST = 400  # greatest number of categories considered
_DIFFERENT = 2  # least number of distinct words of a topic


_SEX_LETTERS = tuple(set(letters) for letters in known_topics.VOCABULARY["lists"]["sex_letters"].split())
_SEX = known_topics.listed("sex")
_CATEGORY_WORDS = {
    topic: known_topics.word_set(words) for topic, words in known_topics.VOCABULARY["categories"].items()
}
_COUNTRIES = known_topics.listed("countries")
_CODES = known_topics.listed("codes")
_STATES = known_topics.listed("states")
_BAND = re.compile(
    r"\D{0,14}(\d{1,3})\s*(?:-|–|—|to|bis|a|à|,|y|\.\.|and|until|through|tot|do|/)+\s*(\d{1,3})\D{0,14}"
    r"|\D{0,10}\d{1,3}\s*\+|\D{0,16}\d{1,3}\D{0,16}"
)
_TWO_ENDS = re.compile(r"\D{0,14}(\d{1,3})\s*(?:-|–|—|to|bis|a|à|,|y|\.\.|and|tot|do)+\s*(\d{1,3})")
_ICD = re.compile(r"[A-TV-Z]\d[0-9A-B](?:\.?[0-9A-Z]{1,4})?")
_FEW_CODES = 4  # least number of distinct two-letter codes of countries or states
_AGES = (10, 110)  # range of the upper end of the highest age band


def topic_of_values(texts: Sequence[str]) -> known_topics.Topic | None:
    """The topic suggested by the categories of a column, or None.

    >>> topic_of_values(["1 Männer", "2 Frauen"]).name, topic_of_values(["yes", "no"])
    ('sex or gender', None)
    """
    if not 1 < len(texts) <= _MOST:
        return None
    words = [frozenset(known_topics.words_of(text)) for text in texts]
    name = _sex(texts, words) or _by_category_words(words) or _places(texts, words) or _patterned(texts)
    return None if name is None else known_topics.topic_named(name)


def _sex(texts: Sequence[str], words: Sequence[frozenset[str]]) -> str | None:
    """At most six categories, at least two of them and half of them words for a sex."""
    if len(texts) > 6:
        return None
    bare = {text.strip().lower() for text in texts}
    if any(letters <= bare and len(bare) <= len(letters) + 2 for letters in _SEX_LETTERS):
        return "sex or gender"
    spoken = [word for word in words if word & _SEX and len(word) <= 3]
    return "sex or gender" if len(spoken) >= 2 and len(spoken) * 2 >= len(texts) else None


def _by_category_words(words: Sequence[frozenset[str]]) -> str | None:
    best, most = None, 0.0
    for name, topic_words in _CATEGORY_WORDS.items():
        hit = [word & topic_words for word in words]
        different = len(frozenset().union(*hit))
        share = sum(bool(shared) for shared in hit) / len(words)
        if different >= _DIFFERENT and share >= 0.4 and share > most:
            best, most = name, share
    return best


def _places(texts: Sequence[str], words: Sequence[frozenset[str]]) -> str | None:
    named = sum(bool(word & _COUNTRIES) for word in words)
    if named >= 3 and named * 2 >= len(texts):
        return "geography"
    bare = {text.strip().lower() for text in texts}
    if len(bare) >= _FEW_CODES and all(len(text) == 2 for text in bare):
        for codes in (_CODES, _STATES):
            if len(bare & codes) >= 0.8 * len(bare):
                return "geography"
    return None


def _patterned(texts: Sequence[str]) -> str | None:
    bare = [text.strip() for text in texts]
    if len(bare) >= 3 and sum(bool(_ICD.fullmatch(text)) for text in bare) >= 0.9 * len(bare):
        return "health"
    ends = [match.groups() for text in bare if (match := _TWO_ENDS.match(text))]
    banded = sum(bool(_BAND.fullmatch(text)) for text in bare)
    if len(bare) >= 3 and len(ends) * 2 >= len(bare) and banded >= 0.8 * len(bare):
        largest = max(int(high) for _, high in ends)
        ordered = all(int(low) <= int(high) for low, high in ends)
        if ordered and _AGES[0] < largest <= _AGES[1] and largest > 40:
            return "age"
    return None


# Compatible topics (of the categories, of the column): country names also fit a birth or a citizenship.
_FITTING = {
    ("geography", "a country of birth"), ("geography", "ethnicity or citizenship"),
    ("ethnicity or citizenship", "a country of birth"), ("age", "a birth"),
    ("ethnicity or citizenship", "geography"), ("education", "a group one belongs to"),
}  # fmt: skip


_KINDS = {"its label": "label", "its categories": "values"}  # other sources are names


@dataclass(frozen=True)
class Spoken:
    """The topic of a column, with its sources."""

    topic: known_topics.Topic | None
    evidence: tuple[str, ...]
    kinds: int  # number of kinds of evidence that agree
    disputed: bool = False  # another kind of evidence contradicts
    sampling: bool = False  # described as a sampling weight
    body: bool = False  # described as a body weight
    within: bool = False  # by its codebook, a number within a group

    @property
    def name(self) -> str:
        """Name of the topic, or ""."""
        return "" if self.topic is None else self.topic.name

    @property
    def role(self) -> str:
        """Usual role of the topic, or ""."""
        return "" if self.topic is None else self.topic.role

    @property
    def why(self) -> str:
        """The evidence in one line."""
        return "; ".join(self.evidence)


def spoken_of(facts: Sequence[Facts], labels: Mapping[str, str]) -> dict[str, Spoken]:
    """Determine the topic of every column.

    >>> from sdckit.data.scenarios.guessing.facts import Facts
    >>> column = Facts("v1", 9, 9, 2, number=False, whole=False, text=True, date=False, categories=("m", "f"))
    >>> spoken_of([column], {"v1": "Geschlecht"})["v1"].why
    'its label and its categories speak of sex or gender'
    """
    surveys = codebook_topics([fact.name for fact in facts])
    return {fact.name: _spoken(fact, labels.get(fact.name, ""), surveys.get(fact.name)) for fact in facts}


def _spoken(facts: Facts, label: str, survey: tuple[str, known_topics.Topic | None] | None) -> Spoken:
    named = known_topics.topic_of(facts.name)
    same = label.strip().lower() == facts.name.strip().lower()
    labelled = known_topics.topic_of_label(label) if label and not same else None
    valued = topic_of_values(facts.categories)
    coded = survey[1] if survey else None
    by_source = {
        "its label": labelled,
        f"its name in {survey[0]}" if survey else "": coded,
        "its name": named,
        "its categories": valued,
    }
    topic = next((other for other in by_source.values() if other is not None), None)
    if topic is not None and valued is not None and valued.name == "sex or gender" and topic.role == "person":
        topic = valued
    within = bool(survey) and coded is None and labelled is None
    sampling = (
        known_topics.says_sampling(facts.name)
        or known_topics.says_sampling(label)
        or (coded is not None and coded.role == "weight")
    )
    body = known_topics.says_body(label) or known_topics.says_body(facts.name)
    if within:
        return Spoken(None, (f"in {survey[0] if survey else ''} a number within something",), 1, within=True)
    if topic is None:
        topic = known_topics.key_topic_within(facts.name)
        hint = () if topic is None else (f"its name holds a word of {topic.name}",)
        return Spoken(topic, hint, 0, sampling=sampling, body=body)
    agreeing = [who for who, other in by_source.items() if other is not None and _fits(other, topic)]
    if "its name" in agreeing:
        agreeing = [who for who in agreeing if not who.startswith("its name in")]
    others = [other for who, other in by_source.items() if other is not None and not _fits(other, topic)]
    verb = "speaks" if len(agreeing) == 1 and agreeing[0] != "its categories" else "speak"
    evidence = (f"{_listed(agreeing)} {verb} of {topic.name}",)
    kinds = {_KINDS.get(who, "name") for who in agreeing}
    return Spoken(
        topic, evidence, len(kinds), disputed=any(other.role != topic.role for other in others),
        sampling=sampling, body=body,
    )  # fmt: skip


def _fits(other: known_topics.Topic, topic: known_topics.Topic) -> bool:
    return other.name == topic.name or (other.name, topic.name) in _FITTING


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]
