"""An error is one line and an exit code; a warning is one line, once."""

from __future__ import annotations

import errno
import warnings

import pytest
import typer

from full_disk import DISK_FULL
from sdckit.cli import errors
from sdckit.data.missing_values.missing import Found, MissingNotes
from sdckit.errors import ColumnError, DataError, SdcWarning

Capture = pytest.CaptureFixture[str]


def test_our_own_message_is_printed_as_it_is(capsys: Capture) -> None:
    assert errors.explain(ColumnError("no column 'a';\n did you mean 'b'?")) == errors.BAD_INPUT
    assert capsys.readouterr().err == "error: no column 'a';\\x0a did you mean 'b'?\n"


@pytest.mark.parametrize(
    ("text", "argument", "typed", "told"),
    [
        ("seed= takes a whole number", "seed", ["--seed", "-1"], "--seed takes a whole number"),
        ("seed= takes a whole number", None, ["--seed", "-1"], "seed= takes a whole number"),
        ("n_attacks is a count", "n_attacks", ["--n-attacks=0"], "--n-attacks is a count"),
        ("keys: no column 'a'", "keys", ["--keys", "a"], "--keys: no column 'a'"),
        ("keys: no column 'a'", "keys", ["--scenario", "s.toml"], "keys: no column 'a'"),
        ("n_columns=3 of 1 variable", "n_columns", [], "--n-columns=3 of 1 variable"),
        ("a plan has no rows: give id=", "id", [], "a plan has no rows: give --id"),
    ],
)
def test_an_argument_is_told_as_the_option_it_is(text, argument, typed, told, capsys: Capture) -> None:
    assert errors.explain(DataError(text, argument=argument), typed) == errors.BAD_INPUT
    assert capsys.readouterr().err == f"error: {told}\n"


def test_blanks_within_a_name_are_printed_as_they_are(capsys: Capture) -> None:
    errors.explain(ColumnError("no column 'visit date'\u2028 (did you mean\r\n\t'visit  date'?)\n"))
    assert (
        capsys.readouterr().err
        == "error: no column 'visit date'\\u2028 (did you mean\\x0d\\x0a\\x09'visit  date'?)\\x0a\n"
    )


def test_a_foreign_message_is_not_printed(capsys: Capture) -> None:
    assert errors.explain(TypeError("value secret-4711 is odd")) == errors.INTERNAL
    told = capsys.readouterr().err
    assert "internal error: TypeError in a library" in told
    assert "secret" not in told
    assert len(told.splitlines()) == 1


def test_the_place_is_our_own_file_and_line(capsys: Capture) -> None:
    try:
        errors.say(None)  # type: ignore[arg-type]
    except AttributeError as error:
        errors.explain(error)
    assert "in cli/errors.py line " in capsys.readouterr().err


def test_the_debugger_sees_the_traceback(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDCKIT_DEBUG", "1")
    assert errors.explain(KeyError("x")) == errors.INTERNAL
    assert "KeyError: 'x'" in capsys.readouterr().err


def test_the_system_s_errors_are_bad_input(capsys: Capture) -> None:
    error = OSError(errno.ENOSPC, "No space left on device", "/some/folder/report.html")
    assert errors.explain(error) == errors.BAD_INPUT
    assert capsys.readouterr().err == f"error: {DISK_FULL}: report.html\n"


def test_no_memory_is_bad_input(capsys: Capture) -> None:
    assert errors.explain(MemoryError()) == errors.BAD_INPUT
    assert "not enough memory" in capsys.readouterr().err


def test_an_abort_is_an_interruption() -> None:
    assert errors.explain(typer.Abort()) == errors.INTERRUPTED


def test_a_warning_is_told_once_and_others_not_at_all(capsys: Capture) -> None:
    with errors.one_line_warnings():
        for _ in range(3):
            warnings.warn("key 'a' is constant", SdcWarning, stacklevel=1)
        warnings.warn("value 4711", RuntimeWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: key 'a' is constant\n"


def test_the_debugger_sees_other_warnings_too(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDCKIT_DEBUG", "1")
    with errors.one_line_warnings():
        warnings.warn("overflow", RuntimeWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: overflow\n"


def notes(*counts: int, code: str = "NA") -> MissingNotes:
    taken = tuple(Found(f"column {i}", code, count) for i, count in enumerate(counts))
    return MissingNotes(taken=taken, suspected=(Found("age", "-999", counts[0]),))


def test_what_holds_for_several_files_is_told_once(capsys: Capture) -> None:
    with errors.one_line_warnings():
        notes(6, 1).warn("a.csv")
        notes(6, 1).warn("b.csv")
        notes(6, 1_234).warn("b c.csv")
        notes(6, 1, code="null").warn("d.csv")
        warnings.warn("a is constant", SdcWarning, stacklevel=1)
        assert capsys.readouterr().err == "warning: a is constant\n"
    taken, suspected, other, _ = capsys.readouterr().err.splitlines()
    assert taken == (
        "warning: a.csv, b.csv and b c.csv: taken for missing: 'NA' in column 0 (6 records each), column 1 "
        "(1, 1 and 1,234 records). To choose the codes yourself give --missing=NA; --missing= takes the empty "
        "field alone"
    )
    assert suspected == (
        "warning: a.csv, b.csv and b c.csv: age holds -999 in 6 records each. If that means missing give "
        "--missing=NA --missing=-999; a code holds for all columns. If not, an empty code says so: "
        "--missing= --missing=NA"
    )
    assert other.startswith("warning: d.csv: taken for missing: 'null' in column 0 (6 records), column 1 (1 record)")


def test_what_is_said_of_a_file_is_said_before_an_error_and_names_options(capsys: Capture) -> None:
    text = "x.csv: numbers with the decimal mark ','. If so give decimal=\",\" (on the command line --decimal ,)"
    with pytest.raises(ColumnError), errors.one_line_warnings():  # noqa: PT012
        warnings.warn(text, SdcWarning, stacklevel=1)
        raise ColumnError("no column")
    told = "warning: x.csv: numbers with the decimal mark ','. If so give --decimal ,\n"
    assert capsys.readouterr().err == told
