"""The vocabulary is well formed."""

from __future__ import annotations

import pytest

from sdckit.data.scenarios.guessing.topics import BODY, CLEARLY_WEIGHT, TOPICS, topic_named


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_every_word_is_as_names_are_cut(topic):
    for word in topic.words | set(topic.stems):
        assert word == word.lower()
        assert word.isascii()
    assert all(len(stem) >= 4 for stem in topic.stems)


def test_names_are_different():
    names = [topic.name for topic in TOPICS]
    assert len(set(names)) == len(names)
    assert [topic_named(name) for name in names] == list(TOPICS)


def test_no_word_means_a_sample_and_a_body():
    assert not BODY & CLEARLY_WEIGHT
