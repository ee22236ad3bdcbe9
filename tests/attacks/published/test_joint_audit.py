"""What a release and published tables give back together, against every file that could have been."""

from __future__ import annotations

from datetime import date
from itertools import combinations, product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import sdckit as sdc
from sdckit import DataError, PublishedTable, joint_audit
from sdckit.attacks.recovery import touched_cells

LEVELS = {"a": ["x", "y"], "b": ["u", "v", "w"], "c": ["p", "q"]}


def possible_files(shown, holds):
    """Every file that the release alone leaves open, as tuples of rows."""
    choices = [[holds(name, value) for name, value in row.items()] for row in shown]
    return product(*(list(product(*one)) for one in choices))


def brute(shown, tables, fits, holds=lambda name, value: LEVELS[name] if value is None else [value]):
    """The levels that each hidden value takes in some file that fits all tables."""
    names = list(shown[0])
    found = {}
    for rows in possible_files(shown, holds):
        records = [dict(zip(names, row, strict=True)) for row in rows]
        if all(fits(records, table) for table in tables):
            for i, record in enumerate(records):
                for name in names:
                    found.setdefault((i, name), set()).add(record[name])
    return found


def counts(records, variables):
    found = {}
    for record in records:
        cell = tuple(record[name] for name in variables)
        found[cell] = found.get(cell, 0) + 1
    return found


def released(rows, hidden):
    whole = pl.DataFrame(rows, schema=list(LEVELS), orient="row")
    gone = np.array(hidden).reshape(whole.height, len(LEVELS))
    safe = whole.with_columns(
        pl.when(pl.Series(gone[:, j])).then(None).otherwise(name).alias(name) for j, name in enumerate(LEVELS)
    )
    return whole, safe


@st.composite
def files(draw):
    n = draw(st.integers(3, 6))
    rows = draw(st.lists(st.tuples(*(st.sampled_from(one) for one in LEVELS.values())), min_size=n, max_size=n))
    hidden = [False] * (3 * n)
    for place in draw(st.lists(st.integers(0, 3 * n - 1), min_size=1, max_size=5, unique=True)):
        hidden[place] = True
    tables = draw(
        st.lists(
            st.sampled_from([one for size in (1, 2, 3) for one in combinations(LEVELS, size)]),
            min_size=1, max_size=3, unique=True,
        )
    )  # fmt: skip
    return (*released(rows, hidden), tables)


def left_by(result, safe, whole):
    rows = result.records
    return {
        (row - 1, column): left for row, column, left in zip(rows["row"], rows["column"], rows["left"], strict=True)
    }


@settings(max_examples=60)
@given(files(), st.sampled_from([None, 2, 3]), st.booleans())
def test_every_level_left_is_one_of_a_file_that_fits(made, rounded, known):
    """And no level is left out that some file has: exact and rounded tables, with and without the original."""
    whole, safe, variables = made
    truth = whole.to_dicts()

    def fits(records, table):
        own, true = counts(records, table), counts(truth, table)
        if rounded is None:
            return own == true
        for cell in product(*(LEVELS[name] for name in table)):
            shown = rounded * ((2 * true.get(cell, 0) + rounded) // (2 * rounded))
            if abs(own.get(cell, 0) - shown) > rounded - 1:
                return False
        return True

    levels = {name: set(whole[name]) | set(safe[name].drop_nulls()) for name in LEVELS}
    expected = brute(
        safe.to_dicts(), variables, fits,
        lambda name, value: sorted(levels[name]) if value is None else [value],
    )  # fmt: skip
    tables = [PublishedTable(variables=list(one), rounded=rounded) for one in variables]
    if not known:
        tables = [as_counts(whole, one, rounded, levels) for one in variables]
    found = joint_audit(safe, whole if known else None, tables=tables)
    left = left_by(found, safe, whole)
    if known or rounded is None:
        mine = {place: left[place] for place in left if known or all_known(whole, variables, safe, place)}
        assert mine == {place: len(expected[place]) for place in mine}
    if known:
        assert found.right == found.certain


def all_known(whole, variables, safe, place):
    """Whether the tables or the release show every level of a variable: nobody knows of others."""
    name = place[1]
    return any(name in one for one in variables)


def as_counts(whole, variables, rounded, levels):
    frame = whole.group_by(list(variables)).len(name="n").with_columns(pl.col("n").cast(pl.Int64))
    if rounded is not None:
        every = pl.DataFrame(
            list(product(*(sorted(levels[name]) for name in variables))), schema=list(variables), orient="row"
        )
        frame = every.join(frame, on=list(variables), how="left").with_columns(pl.col("n").fill_null(0))
        frame = frame.with_columns(n=rounded * ((2 * pl.col("n") + rounded) // (2 * rounded)))
    return PublishedTable(counts=frame, rounded=rounded)


WHOLE = pl.DataFrame(
    {
        "region": ["n", "n", "n", "s", "s", "s", "s", "n"],
        "age": [31, 35, 39, 42, 44, 47, 31, 35],
        "job": ["cook", "smith", "smith", "cook", "smith", "smith", "cook", "cook"],
    }
)
KEYS = ["region", "age", "job"]


def hide(*rows, column="job", whole=WHOLE):
    gone = pl.Series([i in rows for i in range(whole.height)])
    return whole.with_columns(pl.when(gone).then(None).otherwise(column).alias(column))


def refused(tables, safe=None, whole=None, **given):
    with pytest.raises(sdc.SdcError) as error:
        joint_audit(hide(0) if safe is None else safe, whole, tables=tables, **given)
    assert not any(value in str(error.value) for value in ("cook", "smith", "Zq7"))
    return str(error.value)


def counted(*variables, n=None):
    frame = WHOLE.group_by(list(variables), maintain_order=True).len(name="n")
    return frame if n is None else frame.with_columns(n=pl.Series(n))


def test_tables_of_other_people_are_refused():
    assert "counts 7 records, the release has 8" in refused([counted("job", n=[4, 3])])
    assert "contradicts the release" in refused([counted("job", n=[6, 2])])
    assert "region × job" in refused(
        [PublishedTable(variables=["region", "job"], counts=counted("region", "job", n=[1, 3, 3, 1]))]
    )


def test_totals_that_do_not_add_are_refused():
    frame = pl.concat(
        [counted("job"), pl.DataFrame({"job": ["all"], "n": [9]}, schema={"job": pl.String, "n": pl.UInt32})]
    )
    assert "counts 9 records" in refused([PublishedTable(counts=frame, total="all")])


def test_tables_that_contradict_each_other_are_refused():
    said = refused(
        [counted("region", "job"), PublishedTable(counts=counted("region", n=[5, 3]), name="T2")],
        hide(*range(8), column="region"),
    )
    assert "T2" in said
    assert "contradict each other" in said


def test_other_codings_are_refused():
    other = counted("job").with_columns(job=pl.Series(["Zq7", "Zq8"]))
    assert "none of the values" in refused([other])
    assert "which the release has not" in refused([counted("job").rename({"job": "work"})])
    assert "tables is empty" in refused([])
    assert "say what is published" in refused(None)
    assert "has to be" not in refused([["job"]])


def test_a_table_finer_than_the_release_tells_what_a_band_hides():
    banded = WHOLE.with_columns(age=pl.when(pl.col("age") < 40).then(pl.lit("30-39")).otherwise(pl.lit("40-49")))
    found = joint_audit(banded, WHOLE, tables=[["region", "age", "job"]])
    assert found.hidden == 8
    assert found.certain == found.right == 2  # the other six are in pairs with two ages, and could be either
    assert {one.kind for one in found.columns[0]} == {"in groups"}
    records = found.records.filter(pl.col("state") != "certain")
    assert sorted(records.select("low", "high").unique().rows()) == [(31.0, 35.0), (35.0, 39.0), (44.0, 47.0)]
    alone = joint_audit(banded, tables=[counted("region", "age", "job")])
    assert (alone.certain, alone.hidden) == (2, 8)


def test_a_table_coarser_than_the_release():
    coarse = pl.DataFrame({"age": ["30-39", "40-49"], "job": ["cook", "cook"], "n": [3, 1]})
    coarse = pl.concat([coarse, pl.DataFrame({"age": ["30-39", "40-49"], "job": ["smith", "smith"], "n": [2, 2]})])
    found = joint_audit(hide(0, 3), WHOLE, tables=[coarse])
    assert (found.hidden, found.certain, found.right) == (2, 2, 2)


def test_groups_by_a_hierarchy_and_by_the_original():
    tree = {"cook": ["craft"], "smith": ["craft"]}
    safe = WHOLE.with_columns(job=pl.lit("craft"))
    tables = [["region", "age", "job"]]
    by_original = joint_audit(safe, WHOLE, tables=tables)
    by_tree = joint_audit(safe, tables=[counted(*KEYS)], hierarchies={"job": tree})
    assert by_original.certain == by_tree.certain == 6  # 35 in the north is a cook and a smith


def test_variables_with_changed_values_are_left_out():
    swapped = hide(0).with_columns(region=pl.Series(["s", "n", "n", "n", "s", "s", "s", "n"]))
    found = joint_audit(swapped, WHOLE, tables=[["region", "job"], ["region", "age", "job"]])
    assert "region" in found.notes["left_out"]
    assert found.certain == found.right == 1
    assert "contradict" in refused([counted("region", "age", "job")], swapped)


def test_nothing_is_certain_where_tables_say_nothing():
    everything = WHOLE.with_columns(region=pl.lit(None, pl.String), job=pl.lit(None, pl.String))
    found = joint_audit(
        everything,
        tables=[
            PublishedTable(
                counts=pl.DataFrame(
                    {"job": ["cook", "smith"], "n": [None, None]}, schema={"job": pl.String, "n": pl.Int64}
                )
            )
        ],
    )
    assert (found.certain, found.narrowed) == (0, 0)


def test_missing_values_of_the_original_are_not_hidden_ones():
    whole = hide(5)
    found = joint_audit(hide(0, whole=whole), whole, tables=[["region", "job"]])
    assert found.hidden == 1
    assert found.records["row"].to_list() == [1]


def test_the_file_put_back_and_several_releases():
    found = joint_audit([hide(0), hide(0, 4)], WHOLE, tables=[KEYS], keys=KEYS)
    assert found.m == 2
    assert found.undone(2)["job"].to_list() == WHOLE["job"].to_list()
    assert found.certain == 1.5
    with pytest.raises(DataError, match="from 1 to 2"):
        found.undone(3)


def test_without_a_truth_nothing_is_called_right():
    found = joint_audit(hide(0), tables=[counted(*KEYS)])
    assert np.isnan(found.right)
    assert set(found.notes) == {"right", "k_before", "joint_k", "uniques_before", "joint_uniques"}
    assert found.undone()["job"].to_list() == WHOLE["job"].to_list()


def test_a_gate_with_tables_and_one_without():
    limits = {"k": 2, "joint_recoverable": 0.0}
    scenario = sdc.Scenario(
        keys=["region", "job"], thresholds=limits, tables=[{"variables": ["region", "job"]}], aligned=True
    )
    result = sdc.check(WHOLE, hide(0), scenario=scenario, seed=1)
    (one,) = (verdict for verdict in result.verdicts if verdict.name == "joint_recoverable")
    assert (one.holds, one.value) == (False, 1.0)
    audit = result.assessment["default"]["joint_audit"]
    assert {one.kind for one in audit.remedies[0]} == {"leave out", "round", "take out"}
    assert [one.alone for one in audit.damage[0]] == [1]
    without = scenario.changed(thresholds={"k": 2})
    assert not sdc.assess(WHOLE, hide(0), scenario=without, seed=1)["default"]["joint_audit"].remedies
    with pytest.warns(sdc.SdcWarning, match="nothing in them was changed"):
        result = sdc.check(WHOLE, WHOLE, scenario=scenario, seed=1)
    (one,) = (verdict for verdict in result.verdicts if verdict.name == "joint_recoverable")
    assert (one.word, "leave this limit out once “sdckit joint-audit” has shown" in one.sentence) == (
        "not judged",
        True,
    )
    result = sdc.check(WHOLE, hide(0), scenario=scenario.changed(tables=()), seed=1)
    (one,) = (verdict for verdict in result.verdicts if verdict.name == "joint_recoverable")
    assert (one.word, "no published tables" in one.sentence) == ("not judged", True)


def test_the_empty_string_is_a_level_and_a_missing_value_is_none():
    whole = pl.DataFrame({"a": ["", "x", "", "x", "x"], "b": ["p", "q", "p", "q", "q"]})
    for row in (0, 1):
        released = whole.with_columns(a=pl.Series([None if i == row else a for i, a in enumerate(whole["a"])]))
        found = joint_audit(released, whole, tables=[["a"], ["a", "b"]], keys=["a", "b"], remedies=True)
        assert (found.hidden, found.certain, found.right) == (1, 1, 1)
        assert found.undone()["a"].cast(whole["a"].dtype).equals(whole["a"])
        taken = found.taken_out()["a"]
        assert taken.null_count() > 1
        assert all(kept in (None, value) for kept, value in zip(taken, whole["a"], strict=True))
        alone = joint_audit(released, tables=[pl.DataFrame({"a": ["", "x"], "n": [2, 3]})])
        assert alone.undone().equals(whole)
    assert joint_audit(whole, whole, tables=[["a", "b"]]).hidden == 0
    scenario = sdc.Scenario(
        keys=["b"], thresholds={"joint_recoverable": 0.0}, tables=[{"variables": ["a"]}], aligned=True
    )
    with pytest.warns(sdc.SdcWarning, match="nothing in them was changed"):
        result = sdc.check(whole, released, scenario=scenario, seed=1)
    assert next(one.value for one in result.verdicts if one.name == "joint_recoverable") == 1
    gap = pl.DataFrame({"a": ["", "x"], "n": [None, 3]})
    cells = joint_audit(released, tables=[PublishedTable(counts=gap, suppressed_below=3)]).suppressed_cells
    assert cells["cell"].to_list() == ['a = ""']


@given(st.lists(st.sampled_from(["", "x", "y"]), min_size=2, max_size=6), st.data())
@settings(max_examples=40, deadline=None)
def test_the_empty_string_tells_as_much_as_any_other_level(values, data):
    hidden = data.draw(st.sets(st.integers(0, len(values) - 1), min_size=1))
    b = data.draw(st.lists(st.sampled_from("pq"), min_size=len(values), max_size=len(values)))
    figures = []
    for name in ("", "z"):
        own = [name if value == "" else value for value in values]
        whole = pl.DataFrame({"a": own, "b": b})
        released = whole.with_columns(
            a=pl.Series([None if i in hidden else a for i, a in enumerate(own)], dtype=pl.String)
        )
        found = joint_audit(released, whole, tables=[["a"], ["a", "b"]])
        figures.append((found.hidden, found.certain, found.right, found.narrowed))
    assert figures[0] == figures[1]
    assert figures[0][0] == len(hidden)


def test_dates_and_the_moments_at_which_they_begin_are_one_type():
    days = [date(2020, 1, 1), date(2020, 1, 2), date(2020, 1, 2)]
    whole = pl.DataFrame({"day": days, "b": ["p", "q", "q"]})
    released = whole.with_columns(day=pl.Series([None, *days[1:]], dtype=pl.Date).cast(pl.Datetime("us")))
    published = whole.group_by("day").len("n")
    for found in (joint_audit(released, whole, tables=[["day"]]), joint_audit(released, tables=[published])):
        assert (found.hidden, found.certain) == (1, 1)
        assert found.undone()["day"].to_list() == list(map(str, days))
    objects = pd.DataFrame({"day": pd.Series(days, dtype=object), "b": ["p", "q", "q"]})
    assert joint_audit(released.to_pandas(), objects, tables=[["day", "b"]]).right == 1


@pytest.mark.parametrize("gone", [[0], [0, 1, 2, 3]])
def test_the_hidden_values_of_a_constant_column_count(gone):
    whole = pl.DataFrame({"a": [7] * 4, "b": list("ppqq")})
    released = whole.with_columns(a=pl.Series([None if i in gone else 7 for i in range(4)], dtype=pl.Int64))
    for tables in ([["a"]], [["a", "b"]], [["b"], ["a"]]):
        found = joint_audit(released, whole, tables=tables, remedies=True)
        assert (found.hidden, found.certain, found.right) == (len(gone), len(gone), len(gone))
        assert found.records["left"].to_list() == [1] * len(gone)
        assert found.undone()["a"].cast(whole["a"].dtype).equals(whole["a"])
    assert joint_audit(released, tables=[pl.DataFrame({"a": [7], "n": [4]})]).certain == len(gone)


def test_columns_of_periods_are_refused():
    whole = pd.DataFrame({"a": pd.period_range("2020-01", periods=4, freq="M"), "b": list("ppqq")})
    published = pd.DataFrame({"a": ["x"], "n": [4]})
    for arguments in ({"original": whole, "tables": [["a"]]}, {"tables": [published]}):
        with pytest.raises(DataError, match=r"'a' holds .*one plain value per record"):
            joint_audit(whole, **arguments)
    assert joint_audit(whole, whole, tables=[["b"]]).hidden == 0


def test_what_hides_among_changed_values_is_not_judged():
    rare = ["clerk", "judge"] * 8 + ["cook"] * 384
    whole = pl.DataFrame({"region": ["n"] * 200 + ["s"] * 150 + ["e"] * 40 + ["w"] * 10, "job": rare})
    scenario = sdc.Scenario(
        keys=["region", "job"], tables=[{"variables": ["region", "job"]}], thresholds={"joint_recoverable": 0.0}
    )
    hide = {"method": "local_suppression", "keys": ["job"], "k": 50}
    words = []
    for steps in ([hide], [{"method": "pram", "columns": ["region"]}, hide, hide | {"keys": ["region"]}]):
        applied = sdc.Recipe(steps).apply(whole, scenario=scenario, seed=1 << 64)
        (verdict,) = sdc.check(whole, applied.data, scenario=scenario, log=applied.log).verdicts
        words.append((verdict.word, "values of region were taken out" in verdict.sentence))
    assert words == [("holds", False), ("not judged", True)]


def test_rows_that_do_not_belong_together_are_no_file_without_hidden_values():
    whole = pl.DataFrame({"region": ["n", "s", "e", "w"] * 25, "job": ["cook", "cook", "smith", "clerk", "judge"] * 20})
    safe = whole.with_columns(job=pl.when(pl.int_range(100) > 3).then("job"))
    found = joint_audit(safe.sample(fraction=1, shuffle=True, seed=2), whole, tables=[["region", "job"]], aligned=True)
    assert found.unseen == ("job",)
    assert np.isnan(found.joint_recoverable)
    assert "hidden" not in found.notes
    unsaid = joint_audit(safe.sample(fraction=1, shuffle=True, seed=2), whole, tables=[["region", "job"]])
    assert (unsaid.hidden, unsaid.certain, unsaid.unseen) == (
        4.0,
        joint_audit(safe, whole, tables=[["region", "job"]]).certain,
        (),
    )
    assert unsaid.notes["right"].startswith("values are not compared: nothing says which rows")


def test_only_the_columns_that_tables_name_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of many columns is not read for the three of its tables, and another column of numbers refuses nothing."""
    asked = []
    read = touched_cells.read_columns
    monkeypatch.setattr(
        touched_cells, "read_columns", lambda frame, names: asked.append([*names]) or read(frame, names)
    )
    whole = pl.DataFrame({"other": [1e200, 2e200, 3e200], "a": ["x", "y", "x"], "b": ["u", "u", "v"], "pay": [1, 2, 3]})
    safe = whole.with_columns(b=pl.Series(["u", None, "v"]))
    tables = [["a", "b"], PublishedTable(variables=["a"], sum="pay")]
    found = joint_audit(safe, whole, tables=tables, aligned=True)
    assert asked == [["a", "b", "pay"]] * 2
    assert (found.hidden, found.certain, found.right) == (1.0, 1.0, 1.0)
    asked.clear()
    with pytest.raises(sdc.SdcError, match="which the release has not"):
        joint_audit(safe.drop("other"), whole, tables=[["a", "other"]], aligned=True)
    assert asked == [["a", "b", "pay"]] * 2  # what it has instead may be within a column
