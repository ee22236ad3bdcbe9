"""Published sums beside a release that shows what was summed, against every file that could have been."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import sdckit as sdc
from sdckit import PublishedTable, joint_audit

LEVELS = {"a": ["x", "y"], "b": ["u", "v", "w"]}
VALUES = [0, 1, 2, 3, 5, -4]


def brute(shown, levels, fits):
    """The levels that each hidden value takes in some file that fits."""
    places = [(i, name) for i, row in enumerate(shown) for name in levels if row[name] is None]
    found = {place: set() for place in places}
    for chosen in product(*(levels[name] for _, name in places)):
        rows = [dict(row) for row in shown]
        for (i, name), level in zip(places, chosen, strict=True):
            rows[i][name] = level
        if fits(rows):
            for place, level in zip(places, chosen, strict=True):
                found[place].add(level)
    return found


def added(rows, variables, of=None):
    found = {}
    for row in rows:
        cell = tuple(row[name] for name in variables)
        found[cell] = found.get(cell, 0) + (1 if of is None else row[of])
    return {cell: total for cell, total in found.items() if total}


@st.composite
def files(draw):
    n = draw(st.integers(3, 7))
    rows = [
        {**{name: draw(st.sampled_from(of)) for name, of in LEVELS.items()}, "y": draw(st.sampled_from(VALUES))}
        for _ in range(n)
    ]
    hidden = draw(
        st.lists(st.tuples(st.integers(0, n - 1), st.sampled_from(list(LEVELS))), min_size=1, max_size=6, unique=True)
    )
    shown = [dict(row) for row in rows]
    for i, name in hidden:
        shown[i][name] = None
    every = [one for size in (1, 2) for one in combinations(LEVELS, size)]
    sums = draw(st.lists(st.sampled_from(every), min_size=1, max_size=2, unique=True))
    counts = draw(st.lists(st.sampled_from(every), max_size=1))
    return rows, shown, sums, counts


def frame(rows):
    return pl.DataFrame(rows, schema={**dict.fromkeys(LEVELS, pl.String), "y": pl.Int64})


def left_by(result):
    rows = result.records
    return {
        (row - 1, column): left for row, column, left in zip(rows["row"], rows["column"], rows["left"], strict=True)
    }


@settings(max_examples=80)
@given(files(), st.sampled_from([None, 2, 3]), st.booleans(), st.sampled_from([1, 0.01, 1000]))
def test_every_level_left_is_one_of_a_file_that_fits(made, rounded, known, unit):
    """Exact and rounded sums alone and beside counts, with and without the original, in any unit."""
    rows, shown, sums, counts = made
    whole, safe = (frame(one).with_columns(y=pl.col("y") * unit) for one in (rows, shown))
    levels = {name: sorted(set(whole[name]) | set(safe[name].drop_nulls())) for name in LEVELS}
    base = None if rounded is None else rounded * unit

    def fits(other):
        for one in counts:
            if added(other, one) != added(rows, one):
                return False
        for one in sums:
            own, true = added(other, one, "y"), added(rows, one, "y")
            for cell in product(*(levels[name] for name in one)):
                if base is None or unit < 1:
                    if own.get(cell, 0) != true.get(cell, 0):
                        return False
                    continue
                told = rounded * ((2 * true.get(cell, 0) + rounded) // (2 * rounded))
                if abs(own.get(cell, 0) - told) >= rounded:
                    return False
        return True

    expected = brute(shown, levels, fits)
    how = {} if base is None or unit < 1 else {"rounded": base}
    if known:
        tables = [PublishedTable(variables=one, sum="y", **how) for one in sums]
        tables += [PublishedTable(variables=one) for one in counts]
    else:
        tables = [PublishedTable(counts=summed(whole, levels, one, base, how), sum="y", **how) for one in sums]
        tables += [whole.group_by(one).len(name="n") for one in counts]
    found = joint_audit(safe, whole if known else None, tables=tables)
    left = left_by(found)
    used = {name for one in (*sums, *counts) for name in one}
    asked = [place for place in expected if place[1] in used]
    assert left == {place: len(expected[place]) for place in asked}
    if known:
        assert found.right == found.certain


def summed(whole, levels, variables, base, how):
    every = pl.DataFrame(list(product(*(levels[name] for name in variables))), schema=list(variables), orient="row")
    own = whole.group_by(variables).agg(pl.col("y").sum())
    own = every.join(own, on=list(variables), how="left").with_columns(pl.col("y").fill_null(0))
    return own.with_columns(y=base * ((2 * pl.col("y") + base) // (2 * base))) if how else own


WHOLE = pl.DataFrame(
    {
        "region": ["n", "n", "n", "s", "s", "s"],
        "job": ["cook", "smith", "smith", "cook", "smith", "cook"],
        "income": [17, 30, 21, 30, 44, 25],
    }
)


def hide(*rows, column="job", whole=WHOLE):
    gone = pl.Series([i in rows for i in range(whole.height)])
    return whole.with_columns(pl.when(gone).then(None).otherwise(column).alias(column))


def sums(*variables, **how):
    return PublishedTable(variables=list(variables), sum="income", **how)


def test_one_record_hidden_follows_by_subtraction():
    found = joint_audit(hide(1), WHOLE, tables=[sums("region", "job")])
    assert (found.hidden, found.certain, found.right) == (1, 1, 1)
    assert found.undone()["job"].to_list() == WHOLE["job"].to_list()
    assert found.tables == ("Σ income: region × job",)


def test_only_one_assignment_has_the_sums_where_counts_leave_several():
    """Three hidden jobs in one region: counts leave each a cook or a smith, 17 alone is the sum of the cooks."""
    safe = hide(0, 1, 2)
    assert joint_audit(safe, WHOLE, tables=[["region", "job"]]).certain == 0
    assert joint_audit(safe, WHOLE, tables=[sums("region", "job")]).right == 3
    both = joint_audit(safe, WHOLE, tables=[["region", "job"], sums("region", "job", rounded=100)])
    assert both.certain == 0  # up to 100 off, the sums tell nothing


def test_equal_values_are_never_told_apart():
    whole = WHOLE.with_columns(income=pl.lit(9))
    assert joint_audit(hide(0, 1, whole=whole), whole, tables=[sums("region", "job")]).certain == 0


def test_values_with_decimals_and_values_too_fine_for_units():
    cents = WHOLE.with_columns(income=pl.col("income") + pl.Series([0.1, 0.02, 0.3, 0.07, 0.11, 0.13]))
    assert joint_audit(hide(0, 1, 2, whole=cents), cents, tables=[sums("region", "job")]).right == 3
    fine = WHOLE.with_columns(income=np.exp(pl.col("income") / 10))
    assert joint_audit(hide(0, 1, 2, whole=fine), fine, tables=[sums("region", "job")]).right == 3


def test_a_file_of_sums_with_totals_and_a_suppressed_cell(tmp_path):
    path = tmp_path / "sums.csv"
    path.write_text(
        "region,job,income,n\nn,cook,17,1\nn,smith,,2\ns,cook,55,2\ns,smith,44,1\nn,all,68,3\ns,all,99,3\n",
        encoding="utf-8",
    )
    table = PublishedTable(counts=path, sum="income", total="all")
    assert joint_audit(hide(0, 1, 2), tables=[table]).certain == 3  # the total less the cooks
    path.write_text("region,job,income\nn,cook,17\nn,smith,\ns,cook,\ns,smith,\n", encoding="utf-8")
    table = PublishedTable(counts=path, sum="income")
    found = joint_audit(hide(0, 3), WHOLE, tables=[table])
    assert found.certain == found.right == 1


def test_a_sum_suppressed_for_few_records_tells_nothing():
    assert joint_audit(hide(0), WHOLE, tables=[sums("region", "job", suppressed_below=3)]).certain == 0


def test_values_that_are_hidden_themselves():
    """No cell is used into which a record without a shown value may fall; a value that never was adds nothing."""
    table = sums("region", "job")
    safe = hide(4, column="income", whole=hide(0, 3))
    found = joint_audit(safe, WHOLE, tables=[table])
    records = dict(zip(found.records["row"], found.records["state"], strict=True))
    assert records == {1: "certain", 4: "certain"}  # the cooks of the south add up
    nowhere = hide(4, column="job", whole=safe)
    found = joint_audit(nowhere, WHOLE, tables=[table])
    assert dict(zip(found.records["row"], found.records["state"], strict=True)) == {1: "certain", 4: "open", 5: "open"}
    assert "not every value of income" in "".join(found.notes.values())
    never = hide(4, column="income")
    assert joint_audit(hide(0, 3, 4, whole=never), never, tables=[table]).certain == 2
    unknown = never.group_by("region", "job").agg(pl.col("income").sum())
    without = joint_audit(hide(0, 3, 4, whole=never), tables=[PublishedTable(counts=unknown, sum="income")])
    assert without.certain == 1  # nobody says that the value never was


@pytest.mark.parametrize(
    ("income", "says"),
    [
        (pl.col("income") + pl.int_range(6), "not the original's"),
        (pl.col("income").clip(upper_bound=40), "not the original's"),
        (pl.lit("20-49"), "no numbers in income"),
    ],
)
def test_values_that_were_changed_or_grouped_make_sums_useless(income, says):
    safe = hide(0).with_columns(income=income)
    found = joint_audit(safe, WHOLE, tables=[sums("region", "job")], aligned=True)
    assert found.certain == 0
    assert says in "".join(found.notes.values())
    assert joint_audit(safe, WHOLE, tables=[sums("region", "job"), ["region", "job"]], aligned=True).right == 1


def test_a_release_without_the_variable():
    found = joint_audit(hide(0).drop("income"), WHOLE, tables=[sums("region", "job")])
    assert found.certain == 0
    assert "no numbers in income" in "".join(found.notes.values())


def refused(tables, safe=None, whole=None):
    with pytest.raises(sdc.SdcError) as error:
        joint_audit(hide(0) if safe is None else safe, whole, tables=tables)
    said = str(error.value)
    assert not any(value in said for value in ("cook", "smith", "17", "30", "Zq7"))
    return said


def told(income, **how):
    frame = WHOLE.group_by("region", "job", maintain_order=True).agg(pl.col("income").sum())
    return PublishedTable(counts=frame.with_columns(income=pl.Series(income)), sum="income", **how)


def test_sums_that_contradict_are_refused():
    assert "another sum than the values of the release" in refused([told([18, 51, 55, 44])])
    assert "values that add up to other sums in 2 cells" in refused([told([17, 51, 54, 45])])
    assert "contradict" in refused([told([16, 52, 55, 44])])
    assert "counts and sums" in refused([told([51, 17, 55, 44]), ["region", "job"]], hide(0, 1, 2), WHOLE)
    two = [told([17, 51, 55, 44]), told([51, 17, 55, 44], name="T2")]
    assert "T2" in refused(two, hide(0, 1, 2))
    assert "has only totals" not in refused([told(["Zq7", "1", "2", "3"])])


def test_what_is_no_table_of_sums_is_refused():
    assert "not all numbers" in refused([told(["Zq7", "1", "2", "3"])])
    assert "infinite" in refused([told([float("inf"), 1, 2, 3])])
    assert "no column 'incom'" in refused([PublishedTable(variables=["job"], sum="incom")], whole=WHOLE)
    assert "added up in the original" in refused([sums("job")])
    assert "not all numbers" in refused([PublishedTable(variables=["job"], sum="region")], whole=WHOLE)
    with pytest.raises(sdc.ColumnError, match="as a variable of the table and as its sum"):
        sums("job", "income")


def test_remedies_beside_sums():
    """A partner has the same income: exchanging the two leaves counts and sums as they are."""
    rng = np.random.default_rng(5)
    n = 80
    whole = pl.DataFrame(
        {
            "region": rng.choice(["n", "s", "e"], n), "job": rng.choice(["cook", "smith", "nurse"], n),
            "income": rng.integers(1, 5, n) * 10,
        }
    )  # fmt: skip
    safe = whole.with_columns(job=pl.when(pl.int_range(n) % 20 == 0).then(None).otherwise("job"))
    tables = [["region", "job"], sums("region", "job")]
    found = joint_audit(safe, whole, tables=tables, remedies=True)
    assert found.right > joint_audit(safe, whole, tables=tables[:1]).right
    assert found.damage[0][1].without == joint_audit(safe, whole, tables=tables[:1]).right
    kinds = {one.kind: one for one in found.remedies[0]}
    assert "Σ income: region × job" in kinds["leave out"].tables
    assert "Σ income: region × job" not in kinds["round"].tables
    assert kinds["take out"].left == 0
    assert joint_audit(found.taken_out(), whole, tables=tables).right == 0


def test_a_suppressed_count_follows_from_the_sum():
    table = PublishedTable(variables=["region", "job"], suppressed_below=3)
    safe = hide(0, 1, 2)
    alone = joint_audit(safe, WHOLE, tables=[table]).suppressed_cells
    both = joint_audit(safe, WHOLE, tables=[table, sums("region", "job")]).suppressed_cells
    assert (alone["high"] - alone["low"]).sum() > 0
    assert (both["high"] - both["low"]).sum() == 0


def test_a_scenario_declares_sums(tmp_path):
    tables = [{"variables": ["region", "job"], "sum": "income"}]
    scenario = sdc.Scenario(keys=["region", "job"], tables=tables, aligned=True, thresholds={"joint_recoverable": 0.0})
    path = tmp_path / "scenario.toml"
    path.write_text(scenario.to_toml(), encoding="utf-8")
    again = sdc.Scenario.from_toml(path)
    assert "income" in again.columns
    result = sdc.check(WHOLE, hide(0, 1, 2), scenario=again, seed=1)
    (one,) = (verdict for verdict in result.verdicts if verdict.name == "joint_recoverable")
    assert (one.holds, one.value) == (False, 1.0)
