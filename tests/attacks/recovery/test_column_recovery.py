"""What one column gives back, in figures and in advice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from attacks.recovery.made import KEYS, released, survey
from sdckit import recoverable_values
from sdckit.attacks.recovery.column_recovery import ColumnRecovery, _remedy, advice
from sdckit.attacks.recovery.told_values import Source

PLAIN = ColumnRecovery(
    "region", ("suppressed",), 20, 10, None, 4, 2.0, 20, 0.5, 0.25, np.nan, np.nan, np.nan,
    (Source(("weight",), "weight", 10),), ("leave the weight out",),
)  # fmt: skip


def test_what_is_right_counts_where_it_is_known():
    assert (PLAIN.counted, PLAIN.share, PLAIN.told_by) == (10, 0.5, "weight")
    known = replace(PLAIN, right=5)
    assert (known.counted, known.share) == (5, 0.25)
    wrong = replace(PLAIN, right=0)
    assert (wrong.share, wrong.told_by) == (0, "")
    assert replace(PLAIN, touched=0, restored=0).share == 0


def test_three_sources_are_named():
    many = tuple(Source((name,), name, 9) for name in "abcd")
    assert replace(PLAIN, sources=many).told_by == "a; b; c"


def test_the_most_telling_comes_first():
    other = replace(PLAIN, column="sex", restored=15, remedies=("order the rows",))
    none = replace(PLAIN, column="edu", restored=0, remedies=("never said",))
    assert advice([PLAIN, other, none]) == ("order the rows", "leave the weight out")
    assert advice([]) == ()


@pytest.mark.parametrize(
    ("columns", "words", "kind", "said"),
    [
        ((), "the order by id", "order", "random_order"),
        (("weight",), "weight", "column", "coarsen_weights"),
        (("weight", "age"), "weight with age", "column", "coarsen_weights"),
        (("home",), "the rows of a household counted (home)", "counted", "limit_households"),
        (("home",), "the place among the rows of a household (home)", "counted", "limit_households"),
        (("home",), "home (mates share it)", "column", "household_variables"),
        (("a", "b"), "a with b", "column", "a and b"),
    ],
)
def test_what_to_do_about_each(columns, words, kind, said):
    assert said in _remedy("region", Source(columns, words, 1, kind), "weight", "home")


def test_the_figures_of_a_column_belong_together():
    original = survey(500)
    found = recoverable_values(
        released(original), original, keys=KEYS, weight="weight", household="home", seed=1
    )
    for one in found.columns[0]:
        states = found.records.filter(column=one.column)["state"].to_list()
        assert len(states) == one.touched
        assert (states.count("certain"), states.count("narrowed")) == (one.restored, one.narrowed)
        assert one.counted == one.right <= one.restored <= one.touched
        told = [source.told for source in one.sources]
        assert told == sorted(told, reverse=True)
        if one.n_guessed:
            assert one.guess_beyond == pytest.approx(one.guess - one.guess_baseline)
            assert one.guess_low <= one.guess_beyond <= one.guess_high
