"""What is said of a column: by its name, its label, its categories, and the survey it comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sdckit.data.scenarios.guessing.codebooks import codebook_topics
from sdckit.data.scenarios.guessing.facts import Facts
from sdckit.data.scenarios.guessing.topics import Topic
from sdckit.data.scenarios.guessing.value_words import topic_of_values
from sdckit.data.scenarios.guessing.words import (
    key_topic_within,
    says_body,
    says_sampling,
    topic_of,
    topic_of_label,
)

# Words of a country are said of a birth and of a citizenship, too; those of work of a business.
_FITTING = {
    ("geography", "a country of birth"), ("geography", "ethnicity or citizenship"),
    ("ethnicity or citizenship", "a country of birth"), ("age", "a birth"),
    ("ethnicity or citizenship", "geography"), ("education", "a group one belongs to"),
}  # fmt: skip


_KINDS = {"its label": "label", "its categories": "values"}  # the rest is said by names


@dataclass(frozen=True)
class Spoken:
    """The topic of a column, and who says so."""

    topic: Topic | None
    evidence: tuple[str, ...]
    kinds: int  # how many kinds of evidence agree
    disputed: bool = False  # another kind says something else
    sampling: bool = False  # said to be a weight of the sample
    body: bool = False  # said to be a weight of a body
    within: bool = False  # by its survey, a number within something

    @property
    def name(self) -> str:
        """The topic's name, or nothing."""
        return "" if self.topic is None else self.topic.name

    @property
    def role(self) -> str:
        """The topic's usual role, or nothing."""
        return "" if self.topic is None else self.topic.role

    @property
    def why(self) -> str:
        """The evidence in one line."""
        return "; ".join(self.evidence)


def spoken_of(facts: Sequence[Facts], labels: Mapping[str, str]) -> dict[str, Spoken]:
    """Read what is said of every column.

    >>> from sdckit.data.scenarios.guessing.facts import Facts
    >>> column = Facts("v1", 9, 9, 2, number=False, whole=False, text=True, date=False, categories=("m", "f"))
    >>> spoken_of([column], {"v1": "Geschlecht"})["v1"].why
    'its label and its categories speak of sex or gender'
    """
    surveys = codebook_topics([one.name for one in facts])
    return {one.name: _spoken(one, labels.get(one.name, ""), surveys.get(one.name)) for one in facts}


def _spoken(facts: Facts, label: str, survey: tuple[str, Topic | None] | None) -> Spoken:
    named = topic_of(facts.name)
    same = label.strip().lower() == facts.name.strip().lower()
    labelled = topic_of_label(label) if label and not same else None
    valued = topic_of_values(facts.categories)
    coded = survey[1] if survey else None
    said = {
        "its label": labelled,
        f"its name in {survey[0]}" if survey else "": coded,
        "its name": named,
        "its categories": valued,
    }
    topic = next((one for one in said.values() if one is not None), None)
    if topic is not None and valued is not None and valued.name == "sex or gender" and topic.role == "person":
        topic = valued
    within = bool(survey) and coded is None and labelled is None
    sampling = (
        says_sampling(facts.name) or says_sampling(label) or (coded is not None and coded.role == "weight")
    )
    body = says_body(label) or says_body(facts.name)
    if within:
        return Spoken(None, (f"in {survey[0] if survey else ''} a number within something",), 1, within=True)
    if topic is None:
        topic = key_topic_within(facts.name)
        told = () if topic is None else (f"its name holds a word of {topic.name}",)
        return Spoken(topic, told, 0, sampling=sampling, body=body)
    agreeing = [who for who, one in said.items() if one is not None and _fits(one, topic)]
    if "its name" in agreeing:
        agreeing = [who for who in agreeing if not who.startswith("its name in")]
    others = [one for who, one in said.items() if one is not None and not _fits(one, topic)]
    verb = "speaks" if len(agreeing) == 1 and agreeing[0] != "its categories" else "speak"
    evidence = (f"{_listed(agreeing)} {verb} of {topic.name}",)
    kinds = {_KINDS.get(who, "name") for who in agreeing}
    return Spoken(
        topic, evidence, len(kinds), disputed=any(one.role != topic.role for one in others),
        sampling=sampling, body=body,
    )  # fmt: skip


def _fits(one: Topic, topic: Topic) -> bool:
    return one.name == topic.name or (one.name, topic.name) in _FITTING


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]
