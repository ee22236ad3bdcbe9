"""Files of every format: projection, missing codes, order, and what is refused before any work."""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sdckit as sdc
from sdckit.data.files import readers, readers as asked
from sdckit.data.files.readers import describe_file, join_frames, plan_header, read_file, scan_header
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, DataError, FileFormatError, SdcError, SdcWarning

MARK = "Zyxw-4711"
CODES = ["NA", "-999"]
FRAME = pl.DataFrame(
    {
        "name": [MARK, "b", "c"],
        "größe é": [3, -999, 1],
        "w.x": [1.5, -999.0, float("nan")],
        "region": ["north", "NA", "-999.0"],
    }
)


def saved(folder, kind, frame=FRAME):
    path = folder / f"file.{kind}"
    if kind == "parquet":
        frame.write_parquet(path)
    elif kind == "csv":
        frame.write_csv(path)
    elif kind == "ipc":
        frame.write_ipc_stream(path)
    else:
        frame.write_ipc(path, compression="zstd" if kind == "feather" else "uncompressed")
    return path


kinds = pytest.mark.parametrize("kind", ["parquet", "arrow", "feather", "ipc", "csv"])


def refused(error, match, path, **options):
    with pytest.raises(error, match=match) as caught:
        read_file(path, **options)
    assert MARK not in str(caught.value)
    assert str(Path(path).parent) not in str(caught.value)


@kinds
def test_columns_in_the_order_asked_and_rows_in_file_order(tmp_path, kind):
    path = saved(tmp_path, kind)
    with pytest.warns(SdcWarning, match="größe é holds -999 in 1 record"):
        frame = read_file(path, columns=["region", "größe é"], missing=["no such"])
    assert frame.rows() == [("north", 3), ("NA", -999), ("-999.0", 1)]
    header = scan_header(path)
    assert (header.columns, header.n_rows) == (tuple(FRAME.columns), 3)


@kinds
def test_all_columns_and_first_rows(tmp_path, kind):
    path = saved(tmp_path, kind)
    assert read_file(path, missing=CODES).columns == FRAME.columns
    assert read_file(path, rows=2, missing=CODES).height == 2


@kinds
def test_missing_codes_by_value_and_by_text(tmp_path, kind):
    frame = read_file(saved(tmp_path, kind), missing=["-999", "NA", "NaN"])
    assert frame["größe é"].to_list() == [3, None, 1]
    assert frame["w.x"].to_list() == [1.5, None, None]
    assert frame["region"].to_list() == ["north", None, None]


def test_missing_codes_in_categories_and_small_integers(tmp_path):
    frame = pl.DataFrame({"c": ["x", "NA"], "u": [1, 99], "b": [True, False]}).with_columns(
        pl.col("c").cast(pl.Enum(["x", "NA"])), pl.col("u").cast(pl.UInt8)
    )
    read = read_file(saved(tmp_path, "parquet", frame), missing=["NA", "99", "-999", "1e30"])
    assert read["c"].to_list() == ["x", None]
    assert read["u"].to_list() == [1, None]
    assert read["b"].to_list() == [True, False]


@kinds
def test_one_rule_for_the_text_of_every_format(tmp_path, kind):
    texts = ["x", "NA", "N/A", "NaN", "nan", "NULL", "null", ".", "", None, "None", "na"]
    path = saved(tmp_path, kind, pl.DataFrame({"t": texts, "n": range(12)}))
    with pytest.warns(SdcWarning, match=rf"^file.{kind}: taken for missing: .*'N/A' in t \(1 record\)") as caught:
        frame = read_file(path)
    assert frame["t"].to_list() == ["x", *[None] * 9, "None", "na"]
    assert len(caught) == 1
    given = read_file(path, missing="NULL")["t"].to_list()
    assert given == [*texts[:5], None, *texts[6:8], None, None, *texts[10:]]
    assert read_file(path, missing="")["t"].to_list() == [text or None for text in texts]


@kinds
def test_a_declared_identifier_is_never_loaded(tmp_path, kind):
    scenario = Scenario(keys=["region", "größe é"], weight="w.x", identifiers=["name"])
    frame = read_file(saved(tmp_path, kind), columns=scenario.columns, missing=CODES)
    assert frame.columns == ["region", "größe é", "w.x"]
    assert MARK not in frame.write_csv()


def test_the_parser_is_asked_for_the_declared_columns_only(tmp_path, monkeypatch):
    asked = []
    collect = pl.LazyFrame.collect

    def spy(self, *args, **kwargs):
        asked.append(self.explain())
        return collect(self, *args, **kwargs)

    monkeypatch.setattr(pl.LazyFrame, "collect", spy)
    for kind in ("parquet", "arrow", "csv"):
        asked.clear()
        read_file(saved(tmp_path, kind), columns=["region"], missing=CODES)
        plans = [plan for plan in asked if "SCAN" in plan.upper()]
        assert plans
        assert all("PROJECT 1/4" in plan or "PROJECT 0/4" in plan for plan in plans)


@kinds
def test_absent_column(tmp_path, kind):
    path = saved(tmp_path, kind)
    refused(ColumnError, r"no column 'Region' \(did you mean 'region'\?\)", path, columns=["Region"])
    with pytest.raises(ColumnError, match="did you mean 'region'"):
        scan_header(path, columns=["Region"], missing=["NA"])


@kinds
def test_no_records(tmp_path, kind):
    refused(DataError, "no records", saved(tmp_path, kind, FRAME.clear()), columns=["region"])


@pytest.mark.parametrize("kind", ["parquet", "arrow", "feather"])
def test_truncated(tmp_path, kind):
    path = saved(tmp_path, kind)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    refused(FileFormatError, "truncated", path)


@pytest.mark.parametrize("kind", ["parquet", "arrow", "feather", "ipc"])
def test_damaged_inside(tmp_path, kind, capfd):
    path = saved(tmp_path, kind)
    whole = path.read_bytes()
    path.write_bytes(whole[:8] + b"\xff" * (len(whole) - 16) + whole[-8:])
    refused(FileFormatError, "cannot be read as", path)
    assert MARK not in capfd.readouterr().err


def test_repeated_names(tmp_path):
    table = pa.table([pa.array([MARK]), pa.array([1])], names=["a", "a"])
    path = tmp_path / "x.parquet"
    pq.write_table(table, path)
    refused(ColumnError, r"'a' \(1, 2\)", path)
    path = tmp_path / "x.arrow"
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    refused(ColumnError, r"'a' \(1, 2\)", path)


@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.sav"])
def test_absent_file(tmp_path, name):
    refused(FileFormatError, f"there is no file {name}", tmp_path / name)


@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.arrow", "x.sav", "x.dta"])
def test_empty_file(tmp_path, name):
    (tmp_path / name).touch()
    refused(FileFormatError, r"is empty \(0 bytes\)", tmp_path / name)


def test_directory(tmp_path):
    folder = tmp_path / "x.parquet"
    folder.mkdir()
    refused(FileFormatError, "is a directory; name one file, or let an engine read .*--engine duckdb", folder)
    refused(FileFormatError, r'for a command without, write_file\(scan_file\("x.parquet"\), "whole.parquet"\)', folder)
    with pytest.raises(FileFormatError, match=r"^\. is a directory"):
        read_file("")  # as an empty variable gives it


def test_an_archive(tmp_path):
    (tmp_path / "survey.zip").write_bytes(b"PK\3\4")
    refused(FileFormatError, "survey.zip: archives are not read; unpack it first", tmp_path / "survey.zip")


def test_what_is_said_of_a_directory_makes_one_file_of_it(tmp_path):
    for sex in ("f", "m"):
        (tmp_path / "parts" / f"sex={sex}").mkdir(parents=True)
        sdc.write_file(pl.DataFrame({"age": [31, 40]}), tmp_path / "parts" / f"sex={sex}" / "a.parquet")
    whole = sdc.write_file(sdc.scan_file(tmp_path / "parts"), tmp_path / "whole.parquet")
    assert sorted(read_file(whole).rows()) == [(31, "f"), (31, "m"), (40, "f"), (40, "m")]


def test_permission_denied(tmp_path, monkeypatch):
    path = saved(tmp_path, "csv")

    def deny(*args, **kwargs):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", deny)
    refused(FileFormatError, "permission denied", path)


def test_unknown_extension(tmp_path):
    path = tmp_path / "x.ods"
    path.write_bytes(b"PK\x03\x04" + MARK.encode())
    refused(FileFormatError, r"'\.ods' is not one sdckit reads \(\.csv, .*looks like zip \(Excel\)", path)
    (tmp_path / "plain").write_text("a\n1\n")
    refused(FileFormatError, r"the extension '' is not one", tmp_path / "plain")


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("x.parquet", b"a,b\n1,2\n", "is not Parquet"),
        ("x.arrow", b"a,b\n1,2\n", "is not Arrow"),
        ("x.sav", b"a,b\n1,2\n", "is not SPSS"),
        ("x.parquet", b"ARROW1\0\0", "called .parquet but its content is Arrow"),
        ("x.feather", b"FEA1", "Feather version 1"),
    ],
)
def test_content_contradicts_the_extension(tmp_path, name, content, match):
    path = tmp_path / name
    path.write_bytes(content + MARK.encode() * 3)
    refused(FileFormatError, match, path)


@pytest.mark.parametrize(("cells", "fewest", "rows"), [(1000, 1, 2), (4, 2, 2), (1000, 3, 3), (8, 1, 2)])
def test_describe_reads_fewer_records_of_wide_files(tmp_path, monkeypatch, cells, fewest, rows):
    """At most 2 here, less than 3 of 4 columns, but not less than the fewest."""
    for name, value in (("_MOST", 2), ("_CELLS", cells), ("_FEWEST", fewest)):
        monkeypatch.setattr(readers, name, value)
    with pytest.warns(SdcWarning):
        assert describe_file(saved(tmp_path, "csv")).frame.height == rows


def test_describe_gives_header_and_sample(tmp_path):
    with pytest.warns(SdcWarning) as caught:
        sample = describe_file(saved(tmp_path, "csv"), rows=2)
    assert sample.header.n_rows == 3
    assert sample.frame.height == 2
    assert [str(warning.message) for warning in caught] == sample.notes.messages("file.csv")
    assert [(one.column, one.code) for one in sample.notes.taken] == [("region", "NA")]
    assert {one.code for one in sample.notes.suspected} == {"-999"}


def test_a_whole_file_is_described_whatever_a_sample_holds(tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "_MOST", 2)
    monkeypatch.setattr(readers, "_FEWEST", 2)
    path = tmp_path / "long.csv"
    path.write_text("age\n" + "1\n" * 5, encoding="utf-8")
    assert describe_file(path).frame.height == 2
    assert describe_file(path, whole=True).frame.height == 5


# Two files by one key: persons keep their order, every one has a household, nothing differs unseen.


PERSONS = "pid,hid,age,region\n1,b,30,s\n2,a,4,n\n3,b,61,s\n"
HOUSES = "hid,rooms,region,owner\na,2,n,Ann\nb,3,s,Bob\n"


@pytest.fixture
def files(tmp_path):
    persons, houses = tmp_path / "persons.csv", tmp_path / "houses.csv"
    persons.write_text(PERSONS, encoding="utf-8")
    houses.write_text(HOUSES, encoding="utf-8")
    return persons, houses


def read(files, **options):
    return sdc.read_file(files[0], join=files[1], join_key="hid", **options)


def test_persons_keep_their_order(files):
    frame = read(files)
    assert frame.columns == ["pid", "hid", "age", "region", "rooms", "owner"]
    assert frame["pid"].to_list() == [1, 2, 3]
    assert frame["rooms"].to_list() == [3, 2, 3]


def test_columns_in_any_order_and_identifiers_of_either_file(files):
    assert read(files, columns=["rooms", "pid"]).rows() == [(3, 1), (2, 2), (3, 3)]
    assert read(files, columns=["rooms", "hid"]).columns == ["rooms", "hid"]
    assert read(files, identifiers=["owner", "hid"]).columns == ["pid", "age", "region", "rooms"]
    assert read(files, rows=1).rows() == [(1, "b", 30, "s", 3, "Bob")]
    with pytest.warns(SdcWarning, match="nowhere"):
        read(files, identifiers=["nowhere"])
    with pytest.raises(ColumnError, match="room"):
        read(files, columns=["room"])


def test_headers_and_samples_are_of_both(files):
    header = scan_header(files[0], join=files[1], join_key="hid")
    assert header.columns == ("pid", "hid", "age", "region", "rooms", "owner")
    assert header.n_rows == 3
    assert describe_file(files[0], join=files[1], join_key="hid").frame.equals(read(files))


def test_labels_are_of_both(tmp_path):
    first = sdc.write_file(
        pl.DataFrame({"hid": [1], "age": [3]}), tmp_path / "a.sav", labels={"hid": "A", "age": "Age"}
    )
    second = sdc.write_file(pl.DataFrame({"hid": [1], "n": [3]}), tmp_path / "b.dta", labels={"hid": "B", "n": "N"})
    assert sdc.read_labels(first, join=second).variables == {"hid": "A", "n": "N", "age": "Age"}
    assert sdc.read_file(first, join=second, join_key="hid").rows() == [(1, 3, 3)]


def test_households_without_persons_are_told(files):
    with files[1].open("a", encoding="utf-8") as file:
        file.write("c,9,n,Cid\n,1,n,Dan\n")
    with pytest.warns(SdcWarning, match="2 of the 4 records of houses.csv belong to no record of persons.csv") as told:
        assert read(files).height == 3
    assert "Cid" not in str(told[0].message)
    assert read(files, rows=2).height == 2  # of a part nothing can be said


@pytest.mark.parametrize(
    ("persons", "houses", "said"),
    [
        (PERSONS + "4,x,1,s\n5,,1,s\n", HOUSES,
         "2 of the 5 records of persons.csv have no record in houses.csv by 'hid'"),
        (PERSONS, HOUSES + "a,5,n,Eve\n", "houses.csv has the key 'hid' more than once in 1 record beyond"),
        (PERSONS, HOUSES.replace("3,s", "3,n"), "both have a column 'region', which differs in 2 records"),
        (PERSONS, "hid,rooms\n1,2\n2,3\n", "a number in houses.csv and none in persons.csv"),
        (PERSONS.replace("a", "1").replace("b", "2").replace("1ge", "age"), HOUSES, "a number in persons.csv and none"),
        (PERSONS, HOUSES.replace("hid", "house"), "houses.csv has no column 'hid'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_without_values(files, persons, houses, said):
    files[0].write_text(persons, encoding="utf-8")
    files[1].write_text(houses, encoding="utf-8")
    with pytest.raises(SdcError, match=said) as caught:
        read(files)
    assert not any(name in str(caught.value) for name in ("Ann", "Bob", "Eve"))


def test_one_argument_without_the_other(files):
    with pytest.raises(DataError, match="join_key= goes with join="):
        sdc.read_file(files[0], join_key="hid")
    with pytest.raises(DataError, match="join= needs join_key= beside it"):
        sdc.read_file(files[0], join=files[1])


def test_keys_of_different_types_and_names_like_patterns():
    key = "^h.*$"
    persons = pl.DataFrame({key: pl.Series([2, 1], dtype=pl.Int8), "*": [1, 2], "x": [1, 2]})
    houses = pl.DataFrame({key: [1.0, 2.0], "^a$": ["p", "q"], "x": [2.0, 1.0]})
    found = join_frames(persons, houses, key, names=("p", "h"))
    assert found.columns == [key, "*", "x", "^a$"]
    assert found["^a$"].to_list() == ["q", "p"]
    named = persons.with_columns(pl.Series(key, ["b", "a"], dtype=pl.Categorical))
    words = houses.with_columns(pl.Series(key, ["a", "b"], dtype=pl.Enum(["a", "b"])))
    assert join_frames(named, words, key, names=("p", "h"))["^a$"].to_list() == ["q", "p"]


def test_long_ids_of_other_widths_stay_apart() -> None:
    """As floats 2**53 and its neighbour are one number."""
    ids = [2**53, 2**53 + 1]
    persons = pl.DataFrame({"hid": pl.Series(ids, dtype=pl.UInt64), "age": [30, 40]})
    households = pl.DataFrame({"hid": pl.Series(ids, dtype=pl.Int64), "size": [1, 2]})
    found = join_frames(persons, households, "hid", names=("persons.csv", "households.csv"))
    assert found["size"].to_list() == [1, 2]


def test_nan_is_no_household_that_people_without_one_share() -> None:
    persons, households = (pl.DataFrame({"hid": [1.0, math.nan], "age": [math.nan, 4.0]}) for _ in range(2))
    with pytest.raises(DataError, match=r"1 of the 2 records of persons\.csv have no record in households\.csv"):
        join_frames(persons, households, "hid", names=("persons.csv", "households.csv"))
    gone = households.select(pl.col("hid").fill_nan(2.0), pl.col("age").fill_nan(None))
    found = join_frames(persons.with_columns(hid=gone["hid"]), gone, "hid", names=("persons.csv", "households.csv"))
    assert found.columns == ["hid", "age"]


# What a folder says of itself before any record is read.


PEOPLE = pl.DataFrame({"sex": ["f", "m", "f"], "age": [30, 40, 50]})


def folder(tmp_path: Path, kind: str) -> Path:
    for year in (2024, 2025):
        part = tmp_path / "census" / f"year={year}"
        part.mkdir(parents=True)
        file = part / f"part.{kind}"
        PEOPLE.write_parquet(file) if kind == "parquet" else PEOPLE.write_csv(file)
    return tmp_path / "census"


@pytest.mark.parametrize(("kind", "told"), [("parquet", "2 files, Parquet"), ("csv", "2 files, CSV")])
def test_a_folder_is_one_file_with_the_columns_of_its_folders(tmp_path: Path, kind: str, told: str) -> None:
    found = plan_header(folder(tmp_path, kind), engine="polars")
    assert found.columns == ("sex", "age", "year")
    assert found.format == told
    assert found.n_rows == 6


def test_a_file_says_what_it_always_says(tmp_path: Path) -> None:
    PEOPLE.write_parquet(tmp_path / "a.parquet")
    found = plan_header(tmp_path / "a.parquet", engine="duckdb")
    assert (found.columns, found.n_rows, found.format) == (("sex", "age"), 3, "Parquet")


def test_an_address_is_asked_by_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asked, "scan_file", lambda *_, **__: PEOPLE.lazy())
    found = plan_header(Path("s3://bucket/a.parquet"), engine="polars")
    assert (found.columns, found.n_rows, found.format) == (("sex", "age"), 3, "Parquet")


def test_what_no_engine_reads_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="holds neither"):
        plan_header(tmp_path, engine="polars")
    PEOPLE.write_ipc(tmp_path / "a.arrow")
    with pytest.raises(FileFormatError, match="an engine reads Parquet and CSV"):
        plan_header(tmp_path / "a.arrow", engine="polars")


def test_a_file_is_left_on_the_engine_of_another_one_where_that_reads_it(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1, 2], "b": ["x", None]})
    for name in ("a.parquet", "a.csv", "a.sav"):
        sdc.write_file(frame, tmp_path / name)
    plan = sdc.scan_file(tmp_path / "a.parquet", engine="duckdb", memory="600MB")
    for beside, kind in ((plan, type(plan)), (frame.lazy(), pl.LazyFrame), (frame, pl.DataFrame)):
        for name in ("a.parquet", "a.csv"):
            opened = readers.open_beside(tmp_path / name, beside, columns=["a"])
            assert isinstance(opened, kind)
            assert list(opened.collect_schema() if kind is pl.LazyFrame else opened.columns) == ["a"]
        assert isinstance(readers.open_beside(tmp_path / "a.sav", beside), pl.DataFrame)
    assert [readers.is_read_by("spark", tmp_path / name) for name in ("a.parquet", "a.csv")] == [True, False]
    left = readers.open_beside(tmp_path / "a.csv", plan)
    assert left.query("x", "select current_setting('memory_limit')").fetchall() == [("95.3 MiB",)]  # of one connection
