"""Whatever a column is called: the same figures, or one sentence that says what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import sdckit as sdc
from engines.names import FEW, ODD, ON_PLANS, ROLES, N, figures, renamed, survey
from plans import ENGINES
from sdckit.data.files.readers import read_file, scan_header
from sdckit.data.files.write_file import write_file

pytestmark = pytest.mark.filterwarnings("ignore::sdckit.SdcWarning")


def check_role(role: str, engine: str, make: Any, odd: tuple[str, ...], expected: Any) -> None:
    for name in odd:
        try:
            assert figures(make(renamed(role, name)), {role: name}) == expected, name
        except sdc.SdcError as error:
            assert engine in ON_PLANS.get(name, "").split(), name
            assert "rename it" in error.args[0] or name == ""  # noqa: PT017 (only some names are refused)
        else:
            assert engine not in ON_PLANS.get(name, "").split(), name


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("role", ROLES)
def test_a_role_by_any_other_name(role: str, engine: str) -> None:
    odd = FEW if engine in {"polars-lazy", "duckdb"} else ODD
    check_role(role, engine, ENGINES[engine], odd, figures(ENGINES[engine](survey()), {}))


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_on_spark(spark: Any) -> None:
    """Few names: each is a plan of its own."""

    def make(frame: pl.DataFrame) -> Any:
        return spark.createDataFrame(frame.to_arrow())

    expected = figures(make(survey()), {})
    for role, odd in {"key": ("*", "a.b"), "sensitive": ("it's",)}.items():
        check_role(role, "spark", make, odd, expected)


def test_names_of_our_own_columns_are_refused_on_plans_only() -> None:
    frame = renamed("key", "sdckit__pattern")
    assert figures(frame, {"key": "sdckit__pattern"}) == figures(survey(), {})
    with pytest.raises(sdc.ColumnError, match="kept for sdckit; rename it"):
        figures(frame.lazy(), {"key": "sdckit__pattern"})


@pytest.mark.parametrize("engine", ["polars", "pandas", "pyarrow"])
def test_what_is_left_out_is_the_column_named(engine: str) -> None:
    """A pattern in its name let the identifier stay and took others."""
    for name in ODD:
        frame = renamed("household", name)
        safe, change = sdc.drop_identifiers(ENGINES[engine](frame), columns=[name])
        left = [one for one in frame.columns if one != name]
        assert list(safe.column_names if isinstance(safe, pa.Table) else safe.columns) == left
        assert change.changed == {name: N}


@pytest.mark.parametrize("engine", ["polars", "pandas", "pyarrow"])
def test_protection_changes_the_columns_named(engine: str) -> None:
    def done(key: str, learnt: str, home: str) -> list[list[Any]]:
        frame = survey().rename({"age": key, "learnt": learnt, "home": home})
        data = ENGINES[engine](frame)
        steps = [
            lambda data: sdc.recode(data, column=learnt, groups={"other": ["a", "b"]}, outside="keep"),
            lambda data: sdc.local_suppression(data, keys=[key, "sex"], k=3),
            lambda data: sdc.pram(data, columns=[learnt, key], pd=0.8, seed=3),
            lambda data: sdc.drop_identifiers(data, columns=[home]),
        ]
        for step in steps:
            data = step(data).data
        found = data if isinstance(data, pl.DataFrame) else pl.DataFrame(
            dict(zip(data.column_names, map(pl.from_arrow, data.columns), strict=True))
        ) if isinstance(data, pa.Table) else (
            pl.DataFrame({name: pl.Series(data[name].tolist(), strict=False) for name in data.columns})
        )  # fmt: skip
        assert found.columns == [name for name in frame.columns if name != home]
        return [["" if value is None else str(value) for value in column.to_list()] for column in found.get_columns()]

    expected = done("age", "learnt", "home")
    for names in [("*", "^age.*$", "count"), ("^age.*$", "", "*"), ("count", "*", "^age.*$"), ("", "len", "a.b")]:
        assert done(*names) == expected, names


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow"])
def test_files_with_such_names_are_read_as_they_are(ending: str, tmp_path: Path) -> None:
    names = [name for name in ODD if ending != ".csv" or (name.strip() == name and name not in {"", "0", "$1"})]
    values: list[list[Any]] = [["a", "=b", "NA"], [1, 2, -999], [0.5, None, 1.5]]
    frame = pl.DataFrame({name: values[i % 3] for i, name in enumerate(names)})
    path = write_file(frame, tmp_path / f"a{ending}")
    assert scan_header(path).columns == tuple(names)
    found = read_file(path)
    assert_frame_equal(found, frame.with_columns(pl.col(pl.String).replace("NA", None)))
    for name in ("*", "^age.*$", "count"):
        assert_frame_equal(read_file(path, columns=[name]), found.select(pl.selectors.by_name(name)))
    left = [name for name in names if name not in {"*", "^age.*$"}]
    assert read_file(path, identifiers=["*", "^age.*$"]).columns == left
    coded = read_file(path, missing=["a", "-999"])
    assert [coded[name].null_count() for name in names] == [1 for _ in names]


def test_roles_are_guessed_whatever_the_names() -> None:
    for name in ODD:
        assert name in {one.column for one in sdc.guess_roles(renamed("weight", name)).guesses}


def test_formulas_are_guarded_in_the_column_that_holds_them(tmp_path: Path) -> None:
    frame = pl.DataFrame({"^a.*$": ["=1+1"], "ab": ["x"], "*": ["+2"], "count": ["y"]})
    write_file(frame, tmp_path / "a.csv", excel_safe=True)
    assert (tmp_path / "a.csv").read_text().splitlines() == ["^a.*$,ab,*,count", "'=1+1,x,'+2,y"]
