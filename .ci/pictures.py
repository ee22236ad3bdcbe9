"""Write every document of many runs into a folder, the same on every run: `diff -r` compares two commits.

Only the public surface is used: the package's names and the command line. What a run prints, draws and writes is
its picture; a run that fails leaves the text of its error.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import secrets
import shlex
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

os.environ.update(COLUMNS="80", LINES="25", NO_COLOR="1", TERM="dumb")

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import polars as pl
from picture_files import make_files

import sdckit as sdc
from redteam.calls import measures
from sdckit.cli.app import run

KEYS = ["region", "sex", "band", "education", "marital"]
ROLES = f"--keys {','.join(KEYS)} --sensitive ill,job"
FEW = "--keys region,sex,band"
LINK = "--missing-rule category"
PAIR = f"survey.parquet --keys region,sex,band,education --sensitive ill --numeric income,hours {LINK} --seed 7"
MODELS = "--model 'income ~ hours + sex' --model 'logistic: ill ~ income'"
SYNTHETIC = "--released made1.parquet --released made2.parquet --released made3.parquet"
TRIED = "--control control.parquet --n-attacks 40"
RECIPE = "recipe.toml survey.parquet --scenario scenario.toml"
ATTACK = "survey.parquet --identifiers id,hh,w --seed 5 --n-attacks 40 --released"

# Assessments on the command line: terminal, HTML, Markdown and JSON, for release and internal.
ASSESSED = {
    "one-file": f"survey.csv {ROLES} --weight w --k 3 --risk 0.1 --l 2 --global-risk 0.02",
    "census": f"survey.csv {FEW}",
    "fraction": f"survey.parquet {ROLES} --sampling-fraction 0.2",
    "labels": "labelled.sav --keys region,sex,band --sensitive ill",
    "household": f"survey.parquet {ROLES} --weight w --household hh --household-risk 0.3",
    "person": f"twice.parquet {FEW} --person id --k 2",
    "intruders": "survey.parquet --scenario scenario.toml",
    "wildcards": f"survey.parquet {ROLES} --weight w --missing-rule wildcard --missing-rule education=category",
    "wildcards-half": f"survey.parquet {ROLES} --alpha 0.5 --missing-rule wildcard",
    "category": f"survey.parquet {ROLES} {LINK}",
    "all-measures": f"survey.parquet {ROLES} --numeric income,hours --weight w --measures all {LINK}",
    "too-small": f"few.parquet {FEW} --k 2",
    "release": f"{PAIR} --released changed.parquet --aligned {MODELS} --match-risk 0.1 --replicated-uniques 0.05",
    "release-id": f"{PAIR} --released shuffled.parquet --id id --household hh --weight w --measures all",
    "synthetic": f"{PAIR} {SYNTHETIC} --model 'income ~ hours + sex' --correctly-disclosed 0.4 --k 2",
    "control": f"{PAIR} --released made1.parquet {TRIED} --residual-risk 0.1",
    "attacks": f"{PAIR} --released made1.parquet --attacks --n-attacks 40",
}

# Assessments in Python whose documents are written; the others show their figures, notebook and charts.
DOCUMENTED = ("demo", "duckdb", "release", "synthetic")

# Every other command; what it writes into the folder out is part of its picture.
COMMANDS = {
    "demo": "demo --report out/report.html",
    "version": "--version",
    "json-to-terminal": f"assess survey.csv {ROLES} --json -",
    "wrong-column": "assess survey.csv --keys regoin,sex",
    "wrong-measure": f"assess survey.csv {ROLES} --measures sudda",
    "quiet": f"assess survey.csv {ROLES} -q",
    "control-aligned": f"assess {PAIR} --released changed.parquet --aligned {TRIED} --report out/report.md",
    "dry-one-file": f"assess survey.csv {ROLES} --weight w --measures all --k 3 --dry-run",
    "dry-intruders": "assess survey.parquet --scenario scenario.toml --household hh --dry-run",
    "dry-release": f"assess {PAIR} --released changed.parquet --aligned {MODELS} --dry-run",
    "dry-synthetic": f"assess {PAIR} {SYNTHETIC} {TRIED} --residual-risk 0.1 --dry-run",
    "attack-all": f"attack {ATTACK} made1.parquet --control control.parquet --json out/figures.json",
    "attack-internal": f"attack {ATTACK} made1.parquet --json out/figures.json --internal",
    "attack-by": f"attack {ATTACK} made1.parquet --control control.parquet --by sex --json out/figures.json",
    "attack-id": "attack survey.parquet --seed 5 --n-attacks 40 --released shuffled.parquet --id id"
    " --known region,sex,band,income --control control.parquet",
    "attack-linkage": f"attack {ATTACK} changed.parquet --aligned --kind probabilistic-linkage"
    " --known region,sex,band,marital,income --blocking region,sex --blocking band,marital --json out/figures.json",
    "attack-linkability": f"attack {ATTACK} made1.parquet --control control.parquet --kind linkability"
    " --known region,sex --known income,marital",
    "attack-inference": f"attack {ATTACK} made1.parquet --control control.parquet --kind inference"
    " --known region,sex,band --target ill --target income --json out/figures.json",
    "attack-synthetic": f"attack {ATTACK} made1.parquet {SYNTHETIC} --control control.parquet",
    "protect": f"protect {RECIPE} -o out/release.csv --log out/log.json --report out/report.html",
    "protect-markdown": f"protect {RECIPE} -o out/release.csv --report out/report.md",
    "protect-internal": f"protect {RECIPE} -o out/release.csv --report out/report.html --internal",
    "protect-dry": f"protect {RECIPE} -o out/release.csv --dry-run",
    "explore": f"explore {RECIPE} --seed 11 --grid pram.pd=0.7,0.9 --grid local_suppression.k=2,3"
    " --out out/table.csv --plot out/map.svg",
    "explore-html": f"explore {RECIPE} --seed 11 --grid local_suppression.k=2,5 --risk sample_uniques --loss pmse"
    " --plot out/map.html",
    "check-fails": "check survey.parquet --scenario scenario.toml",
    "check-passes": "check survey.parquet --scenario mild.toml",
    "check-release": "check survey.parquet --scenario mild.toml --released made1.parquet --seed 3",
    "check-no-control": "check survey.parquet --scenario attacked.toml --released made1.parquet --seed 3",
    "check-control": "check survey.parquet --scenario attacked.toml --released made1.parquet --seed 3"
    " --control control.parquet",
    "suda": f"suda survey.parquet --keys {','.join(KEYS)} {LINK}",
    "suda-ihsn": f"suda survey.parquet --keys {','.join(KEYS)} --max-size 3 --scoring ihsn {LINK}",
    "population-risk": f"population-risk survey.parquet {FEW} --weight w --select",
    "population-risk-pairs": f"population-risk survey.parquet {FEW} --sampling-fraction 0.2 --interactions 2",
    "risky-cells": f"risky-cells survey.parquet --keys {','.join(KEYS)} --max-dim 2 --threshold 2",
    "outliers": "outliers survey.parquet --numeric income,hours --by sex --lower 0.02",
    "outliers-mad": "outliers survey.parquet --numeric income,hours --method mad",
    "k-map": f"k-map survey.parquet {FEW} --population population.parquet",
    "k-map-estimated": f"k-map survey.parquet {FEW} --weight w --k 2,5",
    "delta-presence": f"delta-presence survey.parquet {FEW} --population population.parquet --upper 0.5",
    "explain": f"explain survey.parquet --keys {','.join(KEYS)} --row 4 --internal",
    "explain-refused": f"explain survey.parquet --keys {','.join(KEYS)} --row 4",
    "canaries-make": "canaries make survey.parquet -o planted.csv --key key.json --n 20 --id id"
    " --identifiers hh,w",
    "canaries-measure": "canaries measure key.json --released planted.csv --released made1.parquet",
    "synthesize": "synthesize survey.parquet -o out/made.csv --m 2 --identifiers id,hh,w --log out/log.json"
    " --models income=normal",
    "scenario-init": "scenario init survey.csv -o -",
} | {
    f"help-{name.replace(' ', '-')}": f"{name} --help"
    for name in (
        "assess", "attack", "canaries make", "canaries measure", "check", "delta-presence", "demo", "explain",
        "explore", "k-map", "outliers", "population-risk", "protect", "risky-cells", "scenario init", "suda",
        "synthesize",
    )
}  # fmt: skip


def single_results(files: dict[str, pl.DataFrame]) -> dict[str, tuple[list[Any], dict[str, Any]]]:
    """List one call of every measure, and some on a plan: the files, and the arguments."""
    one = [files["survey"]]
    roles: dict[str, Any] = {"keys": KEYS, "missing": "category", "weight": "w"}
    told: dict[str, Any] = {"keys": KEYS, "missing": "category", "sensitive": ["ill", "job"]}
    calls = measures(files, dates=())
    calls.pop("canaries")  # its key is drawn anew every time
    return calls | {
        "key_frequencies": (one, roles),
        "key_contributions": (one, roles),
        "k_anonymity-wildcard": (one, {"keys": KEYS, "missing": "wildcard"}),
        "key_frequencies-plan": ([plan()], {"keys": KEYS, "weight": "w"}),
        "individual_risk-plan": ([plan()], {"keys": KEYS, "weight": "w"}),
        "l_diversity-plan": ([plan()], told),
    }


def plan(name: str = "survey") -> Any:
    """Open a file as a DuckDB relation; one thread, since sums of parts may differ in their last digit.

    Lazy Polars has no picture for that reason: its groups come in another order on every run.
    """
    import duckdb

    return duckdb.connect(config={"threads": 1}).sql(f"select * from '{name}.parquet'")


def assessments(files: dict[str, pl.DataFrame]) -> dict[str, Callable[[], Any]]:
    """Name the assessments made in Python: on several engines, of one file and of releases."""
    survey, several = files["survey"], [files[f"made{i}"] for i in (1, 2, 3)]
    told: dict[str, Any] = {"keys": KEYS, "sensitive": ["ill", "job"]}
    few: dict[str, Any] = {"keys": KEYS[:3], "sensitive": ["ill"]}
    scenario = sdc.Scenario.from_toml("scenario.toml")
    aligned = sdc.Scenario(**told, numeric=["income", "hours"], aligned=True, missing="category")
    recipe = sdc.Recipe.from_toml("recipe.toml")
    return {
        "demo": lambda: sdc.assess(sdc.load_demo(), scenario=sdc.demo_scenario()),
        "duckdb": lambda: sdc.assess(plan(), **few, weight="w", household="hh"),
        "duckdb-release": lambda: sdc.assess(plan(), plan("made1"), **few, seed=7),
        "pandas": lambda: sdc.assess(survey.to_pandas(), **told, household="hh", measures="all"),
        "arrow": lambda: sdc.assess(survey.to_arrow(), scenario=scenario),
        "release": lambda: sdc.assess(survey, files["changed"], scenario=aligned, seed=7, models="income ~ hours"),
        "synthetic": lambda: sdc.assess(survey, several, **told, seed=7, control=files["control"], n_attacks=40),
        "check": lambda: sdc.check(survey, scenario=scenario).assessment,
        "applied": lambda: recipe.apply(survey, scenario=scenario).assess(seed=7),
    }


class Pictures:
    """Writes pictures into a folder; dates, versions and the temporary folder become fixed words."""

    def __init__(self, folder: Path, temporary: Path) -> None:
        self.folder = folder
        self.words = {
            re.escape(str(temporary)): "TEMPORARY",
            re.escape(date.today().isoformat()): "TODAY",
            rf"(?<![\d.]){re.escape(sdc.__version__)}(?![\d.])": "VERSION",
            r"(?m)^(\s*\"(?:python|[a-z-]+)\": )\"\d+(?:\.\d+)+\"": r'\1"VERSION"',
            r" at 0x[0-9a-f]+": "",
        }

    def write(self, name: str, text: str) -> None:
        """Keep one text."""
        for pattern, word in self.words.items():
            text = re.sub(pattern, word, text)
        (self.folder / name).write_text(text, encoding="utf-8")

    def command(self, name: str, line: str) -> None:
        """Run a command line; keep what it prints and what it writes into the folder out."""
        shutil.rmtree("out", ignore_errors=True)
        Path("out").mkdir()
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(shlex.split(line))
        parts = f"$ sdckit {line}\n{out.getvalue()}\n--- standard error\n{err.getvalue()}\n--- code {code}\n"
        written = sorted(Path("out").iterdir())
        modes = "".join(f"{path.name} {path.stat().st_mode & 0o777:o}\n" for path in written)
        self.write(f"cli-{name}.txt", parts + modes)
        for path in written:
            self.write(f"cli-{name}.{path.name}", path.read_text(encoding="utf-8"))

    def assessed(self, name: str, line: str) -> None:
        """Run an assessment for every kind of document."""
        for suffix, option in (("", ""), ("-internal", " --internal")):
            both = f"assess {line}{option} --report out/report.html --json out/figures.json"
            self.command(f"{name}{suffix}", both)
            self.command(f"{name}{suffix}-markdown", f"assess {line}{option} -q --report out/report.md")

    def python(self, name: str, make: Callable[[], Any], *, documents: bool = False) -> None:
        """Keep a result or an assessment: repr, figures, notebook, charts, documents and warnings."""
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            made = _or_error(make)
            if isinstance(made, str):
                self.write(f"{name}.txt", made)
                return
            self.write(f"{name}.txt", f"{made!r}\n\n{_or_error(lambda: _rows(made))}\n")
            self.write(f"{name}.json", _or_error(lambda: _json(made.to_dict())))
            self.write(f"{name}.notebook.html", _or_error(made._repr_html_))
            for suffix, internal in (("", False), ("-internal", True)):
                drawn = _or_error(lambda internal=internal: _json(made.plot(internal=internal).to_dict()))
                self.write(f"{name}{suffix}.chart.json", drawn)
                for kind in ("html", "md", "json") if documents else ():
                    path = Path(f"{name}{suffix}.{kind}")
                    save = made.to_json if kind == "json" else made.report
                    failed = _or_error(lambda save=save, path=path, internal=internal: save(path, internal=internal))
                    text = failed or path.read_text(encoding="utf-8")
                    self.write(f"{name}{suffix}.report.{kind}", text)
        lines = "".join(f"{one.category.__name__}: {one.message}\n" for one in told)
        if lines:
            self.write(f"{name}.warnings.txt", lines)


def _measure(name: str, data: list[Any], told: dict[str, Any]) -> Any:
    return getattr(sdc, name)(*data, **told)


def _or_error(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except Exception as error:  # noqa: BLE001 - the error is the picture
        return f"{type(error).__name__}: {error}\n"


def _rows(made: Any) -> str:
    frame = made.summary()
    rows = frame.to_pylist() if hasattr(frame, "to_pylist") else pl.DataFrame(frame).to_dicts()
    return "\n".join(str(row) for row in rows)


def _json(tree: Any) -> str:
    return json.dumps(tree, indent=1, ensure_ascii=False, default=str)


def main(target: str) -> None:
    """Write all pictures into a folder that is empty or made now."""
    folder = Path(target).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        sys.exit(f"{folder} is not empty; pictures of two commits must not mix")
    began = time.perf_counter()
    os.umask(0o022)
    # What is made up is the same at every run, or no two folders could be compared.
    drawn = patch.multiple(secrets, token_bytes=lambda n: bytes(range(n)), randbits=lambda n: 3 ** (n // 2))
    with drawn, tempfile.TemporaryDirectory() as temporary, contextlib.chdir(temporary):
        files = make_files()
        pictures = Pictures(folder, Path(temporary))
        for name, line in ASSESSED.items():
            pictures.assessed(name, line)
        for name, line in COMMANDS.items():
            pictures.command(name, line)
        for name, call in single_results(files).items():
            pictures.python(f"result-{name}", partial(_measure, name.split("-")[0], *call))
        for name, make in assessments(files).items():
            pictures.python(f"assessment-{name}", make, documents=name in DOCUMENTED)
    n_files = sum(1 for _ in folder.iterdir())
    sys.stdout.write(f"{n_files} files in {time.perf_counter() - began:.0f} s\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
