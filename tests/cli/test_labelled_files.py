"""SPSS and Stata through the commands: labels and codes from FILE to OUT; two files by one key."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyreadstat
import pytest

import sdckit as sdc

N = 120
CODES = {"sex": {1: "male", 2: "female", 9: "refused"}, "region": {1: "north", 2: "south", 3: "Zyxw-islands"}}
RECIPE = """
[[steps]]
method = "recode"
column = "age"
bands = [0, 30, 60, inf]

[[steps]]
method = "local_suppression"
keys = ["sex", "region"]
k = 3
"""


@pytest.fixture
def sav(tmp_path: Path) -> Path:
    frame = pl.DataFrame(
        {
            "name": [f"Zyxw-{i}" for i in range(N)],
            "sex": [9 if i % 40 == 3 else 1 + i % 2 for i in range(N)],
            "region": [3 if i == 17 else 1 + i // 60 for i in range(N)],
            "age": [18 + i % 60 for i in range(N)],
        }
    )
    (tmp_path / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    pyreadstat.write_sav(
        frame, tmp_path / "a.sav", column_labels={"sex": "Sex of person", "name": "Zyxw name", "age": "Age"},
        variable_value_labels=CODES, missing_ranges={"sex": [9]}, file_label="Zyxw file", note="Zyxw note",
    )  # fmt: skip
    return tmp_path / "a.sav"


def scenario(folder: Path) -> Path:
    path = folder / "s.toml"
    path.write_text('keys = ["sex", "region"]\nidentifiers = ["name"]\n', encoding="utf-8")
    return path


@pytest.mark.parametrize("ending", ["sav", "dta"])
@pytest.mark.parametrize("keep", [False, True])
def test_protect_keeps_labels_of_what_is_left(sdckit, sav: Path, ending: str, keep: bool) -> None:
    out = sav.parent / f"out.{ending}"
    more = ("--user-missing",) if keep else ()
    done = sdckit("protect", sav.parent / "recipe.toml", sav, "--scenario", scenario(sav.parent), "-o", out, *more)
    assert done.code == 0, done.err
    assert b"Zyxw" not in out.read_bytes()
    told = sdc.read_labels(out)
    assert told.variables == {"sex": "Sex of person", "age": "Age"}
    assert list(told.get("age").codes) == ["0-29", "30-59", "60+"]
    assert {text: told.get("sex").codes[text] for text in ("male", "female")} == {"male": 1, "female": 2}
    assert ("refused" in told.get("sex").codes) == keep
    assert (told.get("sex").missing != ()) == keep
    frame = sdc.read_file(out, user_missing=True)
    assert frame["region"].null_count() > 0  # the one of the islands is suppressed
    assert frame["sex"].null_count() >= (0 if keep else 3)
    checked = sdckit(
        "assess", sav, "--released", out, "--scenario", scenario(sav.parent), *more, "--aligned", "--seed", 1
    )
    assert checked.code == 0, checked.err


def test_labels_only_where_wanted(sdckit, sav: Path) -> None:
    folder = sav.parent
    line = ("protect", folder / "recipe.toml", sav, "--scenario", scenario(folder), "-o")
    assert sdckit(*line, folder / "a.parquet").code == 0
    assert sdc.read_labels(folder / "a.parquet").variables == {}
    assert sdckit(*line, folder / "b.parquet", "--labels").code == 0
    assert sdc.read_labels(folder / "b.parquet").variables == {"sex": "Sex of person", "age": "Age"}
    assert sdckit(*line, folder / "c.sav", "--no-labels").code == 0
    assert sdc.read_labels(folder / "c.sav").variables == {}
    refused = sdckit(*line, folder / "d.csv", "--labels")
    assert (refused.code, "CSV, which has no labels" in refused.err) == (2, True)
    assert not (folder / "d.csv").exists()


def test_files_of_one_synthesis_have_the_same_codes(sdckit, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    kinds = pl.Series([f"k{i % 17}" for i in range(60)], dtype=pl.Enum([f"k{i}" for i in range(17)]))
    pl.DataFrame({"x": kinds, "n": [i % 7 for i in range(60)]}).write_parquet(path)
    done = sdckit("synthesize", path, "-o", tmp_path / "o.sav", "--m", 3, "--seed", 3, "--n", 12)
    assert done.code == 0, done.err
    sets = [sdc.read_labels(tmp_path / f"o_{j}.sav").get("x").codes for j in (1, 2, 3)]
    assert len({frozenset(one) for one in sets}) > 1  # the test can fail
    every = [(text, code) for one in sets for text, code in one.items()]
    assert len({text for text, _ in every}) == len(set(every)) == len({code for _, code in every})


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    persons, houses = tmp_path / "persons.csv", tmp_path / "houses.csv"
    pl.DataFrame(
        {
            "hid": [i // 2 for i in range(N)],
            "sex": ["f" if i % 2 else "m" for i in range(N)],
            "age": [i % 60 for i in range(N)],
        }
    ).write_csv(persons)
    pl.DataFrame({"hid": range(N // 2), "region": ["n" if i % 3 else "s" for i in range(N // 2)]}).write_csv(houses)
    return persons, houses


@pytest.mark.parametrize("labelled", ["original", "control"])
def test_codes_beside_their_labels_are_refused_by_name(sdckit, sav: Path, labelled: str) -> None:
    """The codes of a control file mean nothing beside the labels of an original, or the other way round."""
    plain = sav.parent / "c.csv"
    codes, _ = pyreadstat.read_sav(str(sav), output_format="polars")
    codes.drop("name").cast({"sex": pl.Int64, "region": pl.Int64}).write_csv(plain)
    released = sdc.write_file(pl.read_csv(plain), sav.parent / "r.csv")
    file, control = (sav, plain) if labelled == "original" else (plain, sav)
    asked = ("--scenario", scenario(sav.parent), "--control", control)
    for done in (
        sdckit("assess", file, "--released", released, *asked), sdckit("attack", file, "--released", released, *asked),
    ):  # fmt: skip
        assert done.code == 2
        says = f"column 'sex' has value labels in {sav.name}, and {plain.name} has numbers there, the codes without"
        assert says in done.err


def test_two_files_give_what_the_joined_file_gives(sdckit, two: tuple[Path, Path], tmp_path: Path) -> None:
    joined = sdc.write_file(sdc.read_file(two[0], join=two[1], join_key="hid"), tmp_path / "joined.csv")
    by_key = ("--join", two[1], "--join-key", "hid")
    keys = ("--keys", "sex,age,region")
    (tmp_path / "s.toml").write_text('keys = ["sex", "region"]\n[thresholds]\nk = 2\n', encoding="utf-8")
    for command in (
        ("assess", keys), ("suda", keys), ("risky-cells", keys), ("assess", (*keys, "--dry-run")),
        ("check", ("--scenario", tmp_path / "s.toml")),
    ):  # fmt: skip
        name, options = command
        one, other = sdckit(name, joined, *options), sdckit(name, two[0], *by_key, *options)
        assert one.code == other.code in {0, 1}, (one.err, other.err)
        typed = (
            f"{two[0]} --scenario {tmp_path / 's.toml'} --join {two[1]} --join-key hid"  # in the command that is named
        )
        told = other.out.replace(typed, f"{joined} --scenario {tmp_path / 's.toml'}")
        assert told.replace("persons.csv", "joined.csv") == one.out
    assert sdckit("scenario", "init", two[0], *by_key, "-o", tmp_path / "made.toml").code == 0
    assert "region" in (tmp_path / "made.toml").read_text(encoding="utf-8")


def test_a_release_of_two_files_is_one_file(sdckit, two: tuple[Path, Path], tmp_path: Path) -> None:
    recipe, out = tmp_path / "r.toml", tmp_path / "out.parquet"
    recipe.write_text('[[steps]]\nmethod = "local_suppression"\nkeys = ["sex", "region"]\nk = 3\n', encoding="utf-8")
    by_key = ("--join", two[1], "--join-key", "hid")
    done = sdckit("protect", recipe, two[0], *by_key, "-o", out)
    assert done.code == 0, done.err
    assert pl.read_parquet(out).columns == ["hid", "sex", "age", "region"]
    checked = sdckit("assess", two[0], *by_key, "--released", out, "--keys", "sex,age,region", "--aligned", "--seed", 1)
    assert checked.code == 0, checked.err
    over = sdckit("protect", recipe, two[0], *by_key, "-o", two[1])
    assert (over.code, "the command reads this file" in over.err) == (2, True)
    alone = sdckit("assess", two[0], "--join", two[1], "--keys", "sex")
    assert (alone.code, len(alone.lines)) == (2, 1)


def test_columns_with_codes_that_the_file_declares_missing_are_said(sdckit, sav: Path) -> None:
    out = sav.parent / "s.toml"
    told = "Codes of sex are missing values, as a.sav declares: --user-missing keeps those with labels."
    assert told in sdckit("scenario", "init", sav, "--out", out).out
    given = ("assess", sav, "--keys", "sex,region")
    assert told in sdckit(*given).out
    assert "as a.sav declares: those with labels stay." in sdckit(*given, "--user-missing").out
    frame = sdc.read_file(sav)
    frame.write_csv(plain := sav.parent / "a.csv")
    assert "declares" not in sdckit("assess", plain, "--keys", "sex,region").out
