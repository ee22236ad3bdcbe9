"""No value of a marked record is told: by no result, message, warning, log or document of any public function."""

from __future__ import annotations

import inspect
import json
import logging
import pickle
import traceback
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from redteam.calls import RECIPE, measures, others
from redteam.marked import make_files, traces_in, traces_in_bytes, write
from sdckit.catalogue import rows

FUNCTIONS = sorted(name for name in sdc.__all__ if inspect.isfunction(getattr(sdc, name)))
FILES = make_files()
# A session's own data, which is all these are for.
GIVES_DATA = {"household_variables", "load_demo", "read_file", "read_hierarchy", "read_labels", "scan_file"}
# What holds the file itself, to go on working with it.
IS_DATA = {"as_cells", "canaries"}
NONSENSE = ("nowhere", ["nowhere"], -1, float("nan"), ["region"], ["income"], {"region": 3}, object())


@cache
def calls() -> dict[str, Any]:
    return measures(FILES) | others(FILES)


@pytest.fixture(autouse=True)
def at_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call runs in a folder with the marked files."""
    monkeypatch.chdir(tmp_path)
    write({"survey": FILES["survey"]}, tmp_path)
    Path("recipe.toml").write_text(RECIPE, encoding="utf-8")
    Path("hierarchy.csv").write_text("north,up\nsouth,down\n", encoding="utf-8")


def test_every_public_function_has_a_call() -> None:
    assert sorted(calls()) == FUNCTIONS


def test_every_measure_of_the_catalogue_has_a_call() -> None:
    assert {row.name for row in rows()} <= set(calls())


def shown(made: Any, name: str) -> Iterator[tuple[str, str]]:
    """Everything a result shows of itself."""
    if name in GIVES_DATA:
        return
    parts = {"change": made.change} if hasattr(made, "change") else {"result": made}
    for label, one in parts.items():
        yield f"repr of the {label}", f"{one!r}\n{one}"
        for method in ("to_dict", "summary", "_repr_html_", "to_toml"):
            if callable(getattr(one, method, None)):
                found = getattr(one, method)()
                yield f"{method} of the {label}", str(_rows(found))
        if callable(getattr(one, "plot", None)):
            try:
                yield f"plot of the {label}", json.dumps(one.plot().to_dict(), default=str)
            except sdc.SdcError as error:
                yield f"plot of the {label}", str(error)
    yield from documents(made)


def _rows(found: Any) -> Any:
    """A frame's rows, all of them: its own picture leaves most out."""
    if isinstance(found, pl.DataFrame):
        return found.to_dicts()
    return found


def documents(made: Any) -> Iterator[tuple[str, str]]:
    """What an assessment writes."""
    if not isinstance(made, sdc.Assessment):
        return
    for kind in ("html", "md"):
        for language in ("en", "de"):
            made.report(f"report.{kind}", language=language)
            yield f"report.{kind} in {language}", Path(f"report.{kind}").read_text(encoding="utf-8")
    made.to_json("figures.json")
    yield "figures.json", Path("figures.json").read_text(encoding="utf-8")


def check_pickle(made: Any, name: str) -> None:
    """A pickled result travels: it holds nobody's values, nor levels of few records."""
    if name in GIVES_DATA | IS_DATA:
        return
    one = made.change if hasattr(made, "change") else made
    assert not (found := traces_in_bytes(pickle.dumps(one))), (name, "pickle", found)


def test_a_mark_is_a_value_and_not_what_was_drawn_at_random() -> None:
    told = ("w=4817.93", "[1,4817]", "some 4,820", "4817", "region_ZQXREGION", "1893-07-13", "-774177.25")
    assert all(map(traces_in, told))
    assert not traces_in("head 0 c2e1ba33e3816c536cf5b2284820f280")
    assert not traces_in("0.4817 and 314820 and 2.71893")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_result_tells_no_value(name: str, caplog: pytest.LogCaptureFixture) -> None:
    data, arguments = calls()[name]
    caplog.set_level(logging.DEBUG)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        made = getattr(sdc, name)(*data, **arguments)
        for place, text in shown(made, name):
            assert not traces_in(text), (name, place, traces_in(text))
        check_pickle(made, name)
    for one in warned:
        assert not traces_in(str(one.message)), (name, "warning", str(one.message))
    for record in caplog.records:
        assert not traces_in(record.getMessage()), (name, "log")


def wrong_calls(name: str) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """The call with one argument wrong, and with a file that is wrong."""
    data, arguments = calls()[name]
    for argument in arguments:
        for value in NONSENSE:
            if argument not in {"seed", "n_attacks", "control", "scenario"}:
                yield data, arguments | {argument: value}
    frames = [place for place, one in enumerate(data) if isinstance(one, pl.DataFrame)]
    for place in frames[:1]:
        frame = data[place]
        texts = frame.with_columns(pl.col("income", "hours").cast(pl.String) + " ZQXTEXT")
        yield [*data[:place], texts, *data[place + 1 :]], arguments
        yield [*data[:place], frame[17:18], *data[place + 1 :]], arguments
        mixed = frame.to_pandas()
        mixed["income"] = [*mixed["income"][:-1], "ZQXMIXED"]
        mixed["region"] = [*mixed["region"][:-1], 774177.25]
        yield [*data[:place], mixed, *data[place + 1 :]], arguments


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_message_tells_no_value(name: str) -> None:
    refused = 0
    for data, arguments in wrong_calls(name):
        try:
            getattr(sdc, name)(*data, **arguments)
        except Exception as error:  # noqa: BLE001 - any message counts
            refused += 1
            text = "".join(traceback.format_exception_only(error))
            cause: BaseException | None = error
            while cause is not None:
                text += str(cause)
                cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
            assert not traces_in(text), (name, arguments.keys(), text[:500])
    assert refused or set(calls()[name][1]) <= {"seed"}
