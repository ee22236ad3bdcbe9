"""A small survey, a recipe and a scenario as files, and every command that writes something."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

RECIPE = '[[steps]]\nmethod = "pram"\ncolumns = ["region"]\npd = 0.8\n'
SCENARIO = 'weight = "w"\n[intruders.a]\nkeys = ["age", "sex", "region"]\n'
# What is written, by the command that writes it: {out} is its place. Confidential ones are for the owner alone.
S = ("--scenario", "s.toml", "--quiet")
PROTECT = ("protect", "recipe.toml", "a.csv", "--seed", "1", "--quiet", "--force")
CANARIES = ("canaries", "make", "a.csv", "--n", "5", "--seed", "1", "--no-progress")
EXPLORE = ("explore", "recipe.toml", "a.csv", "--grid", "1.pd=0.7,0.9", "--force", *S)
WRITING: dict[str, tuple[str, tuple[str, ...], bool]] = {
    "report as HTML": ("o.html", ("assess", "a.csv", *S, "--report", "{out}"), False),
    "report as Markdown": ("o.md", ("assess", "a.csv", *S, "--report", "{out}"), False),
    "figures as JSON": ("o.json", ("assess", "a.csv", *S, "--json", "{out}"), False),
    "internal report": ("o.html", ("assess", "a.csv", *S, "--internal", "--report", "{out}"), True),
    "internal figures": ("o.json", ("assess", "a.csv", *S, "--internal", "--json", "{out}"), True),
    "released CSV": ("o.csv", (*PROTECT, "-o", "{out}"), False),
    "released Parquet": ("o.parquet", (*PROTECT, "-o", "{out}"), False),
    "released Arrow": ("o.arrow", (*PROTECT, "-o", "{out}"), False),
    "log": ("o.json", (*PROTECT, "-o", "other.csv", "--log", "{out}"), True),
    "key": ("o.json", (*CANARIES, "-o", "other.csv", "--key", "{out}"), True),
    "training file": ("o.csv", (*CANARIES, "-o", "{out}", "--key", "other.json"), True),
    "scenario": ("o.toml", ("scenario", "init", "a.csv", "--force", "-o", "{out}"), False),
    "table of recipes": ("o.csv", (*EXPLORE, "-o", "{out}"), True),
}  # fmt: skip


def make_folder(folder: Path) -> None:
    """The files that the commands read."""
    rng = np.random.default_rng(1)
    n = 300
    frame = pl.DataFrame(
        {
            "age": rng.integers(1, 7, n), "sex": rng.choice(["f", "m"], n), "region": rng.choice(["n", "s", "e"], n),
            "pay": rng.normal(3000, 300, n).round(1), "w": rng.integers(2, 9, n) + 0.5,
        }
    )  # fmt: skip
    frame.write_csv(folder / "a.csv")
    (folder / "recipe.toml").write_text(RECIPE)
    (folder / "s.toml").write_text(SCENARIO)


def command(kind: str) -> tuple[str, list[str]]:
    """What is written, and the command line that writes it."""
    out, arguments, _ = WRITING[kind]
    return out, [one.format(out=out) for one in arguments]
