"""A reader with the release, the recipe and this software tries seeds: nothing that was drawn comes back.

The intruder here holds more than any reader does: the original. Whoever cannot draw the release again from it by
a guessed seed cannot undo the draws from the release alone.
"""

from __future__ import annotations

import base64
import hashlib
import inspect
import json
import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import sdckit as sdc
from sdckit.cli.app import run
from sdckit.data.seeds import Mixed
from sdckit.errors import SdcWarning
from sdckit.workflow.recipes.recipe_checks import checked_step
from sdckit.workflow.recipes.recipe_log import RecipeLog
from sdckit.workflow.recipes.run_step import run_step

TRUE = 1789  # what the office gave
GUESSES = (*range(10), *range(1785, 1795), *range(2010, 2030))
FRESH = hashlib.sha256(b"drawn in the office").digest()  # stands for what is drawn, so that no run is unlucky
SECRETS = (bytes(16), b"1789" * 4, bytes(range(32)))  # what somebody may think of
N = 180
ENDS: tuple[Any, ...] = ("big", "little")
Floats = NDArray[np.float64]


def people() -> pl.DataFrame:
    """People of nobody in households of one to six; weights repeat, incomes are whole."""
    rng = np.random.default_rng(5)
    home = np.sort(rng.integers(0, N // 3, N))
    region = rng.choice(list("abc"), N // 3)
    return pl.DataFrame(
        {
            "id": np.arange(N) + 7000,
            "home": home,
            "size": np.bincount(home)[home],
            "region": region[home],
            "sex": rng.choice(["f", "m"], N),
            "age": rng.integers(18, 80, N),
            "job": rng.choice(["cook", "smith", "clerk", "nurse"], N),
            "income": rng.lognormal(8, 0.4, N).round(),
            "pay": rng.lognormal(6, 0.4, N).round(2),
            "w": rng.choice([10.0, 12.5, 15.0, 20.0], N),
        }
    ).with_columns(masked_pay=pl.col("pay") + pl.Series(rng.normal(0, 50, N)))


ORIGINAL = people()
SCENARIO = sdc.Scenario(keys=["region", "sex", "job"])
NUMBERS = ["income", "pay"]
# Every public function that draws and gives data back; a new one needs a line here, or the first test fails.
DRAWS: dict[str, list[dict[str, Any]]] = {
    "add_noise": [
        {"columns": NUMBERS, "noise": 30.0, "how": how}
        for how in ("additive", "correlated", "correlated2", "outlier", "romm")
    ],
    "canaries": [{"n": 20}],
    "coarsen_weights": [{"weight": "w", "hide": ["region"]}],
    "impute_masked": [{"masked": {"pay": "masked_pay"}, "error": {"pay": 50.0}, "m": 1, "iterations": 5}],
    "limit_households": [{"household": "home", "largest": 3, "size": "size"}],
    "mask_categorical": [{"columns": ["job"], "probability": 0.6}],
    "mask_continuous": [{"columns": NUMBERS, "reliability": 0.7}],
    "microaggregate": [{"columns": NUMBERS, "k": 4, "how": "rmd"}],
    "pram": [{"columns": ["job"], "pd": 0.5}, {"columns": ["region", "job"], "pd": 0.3, "household": "home"}],
    "random_order": [{}, {"household": "home"}],
    "rank_swap": [{"columns": NUMBERS, "p": 10.0}],
    "replace_high_risk": [
        {
            "risk": "individual_risk",
            "threshold": 0.12,
            "match": ["sex", "age"],
            "numeric": ["age"],
            "replace": NUMBERS,
            "k": 5,
        }
    ],
    "round_to": [{"column": "income", "base": 1000, "how": "random"}],
    "shuffle": [{"columns": ["income"], "given": ["age", "pay"]}],
    "swap_records": [{"hierarchy": ["region"], "keys": ["job", "sex"], "household": "home", "k": 3, "swap_rate": 0.2}],
    "synthesize": [{"columns": ["job", "income"]}, {"columns": ["income"], "models": "normal"}],
}
CASES = [
    pytest.param(method, given, id=f"{method}-{number}")
    for method, several in DRAWS.items()
    for number, given in enumerate(several)
    if method != "canaries"
]
# Draws records for a robust estimate alone, of which hardly a group depends: any seed gives nearly the release.
NOTHING_HIDDEN_BY_DRAWS = ("microaggregate",)


def gives_data(function: Any) -> bool:
    """Whether a function returns a frame, or a result with one in `.data`."""
    named = str(inspect.signature(function).return_annotation).strip("'\"")
    made = getattr(sdc, named, None)
    return named == "Any" or "data" in getattr(made, "_fields", ()) + tuple(getattr(made, "__dataclass_fields__", ()))


def test_no_public_function_that_draws_is_forgotten() -> None:
    names = [name for name in dir(sdc) if inspect.isfunction(getattr(sdc, name))]
    drawing = {name for name in names if "seed" in inspect.signature(getattr(sdc, name)).parameters}
    # It draws which values go besides, none that is told.
    assert {name for name in drawing if gives_data(getattr(sdc, name))} == set(DRAWS) | {"local_suppression"}
    assert {"propensity", "assess", "explore", "singling_out"} <= drawing - set(DRAWS)


def as_text(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.all().cast(pl.String))


ORIGINAL_TEXT = as_text(ORIGINAL)


def agreement(found: pl.DataFrame, release: pl.DataFrame) -> float:
    """Of the values that the release has changed, the share that a try gives as the release does; both as text."""
    changed = same = 0
    for name in release.columns:
        one, other, true = (frame[name] for frame in (found, release, ORIGINAL_TEXT))
        hit = other.ne_missing(true)
        changed += int(hit.sum())
        same += int((hit & one.eq_missing(other)).sum())
    assert changed > 0
    return same / changed


def tried(method: str, given: dict[str, Any], seed: int) -> pl.DataFrame:
    step = checked_step(1, {"method": method, **given})
    return run_step(1, step, ORIGINAL, scenario=SCENARIO, folder=None, mixed=_Bare(seed)).data  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secrets.token_bytes", lambda n: FRESH[:n])


class _Bare:
    """A seed as the functions take it, nothing mixed in."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def of_step(self, number: int) -> int:
        return self.seed


# What somebody may try: seeds as such, and with secrets that one may think of.
GUESSED = (*GUESSES, *(Mixed(secret, TRUE).of_step(1) for secret in SECRETS))


def tries(method: str, given: dict[str, Any], seeds: Iterable[int]) -> list[pl.DataFrame]:
    """What each seed draws, as text."""
    return [as_text(tried(method, given, seed)) for seed in seeds]


def best_of(tries: list[pl.DataFrame], release: pl.DataFrame) -> float:
    """What the best of the tries gives of the release."""
    text = as_text(release)
    return max(agreement(found, text) for found in tries)


@pytest.mark.parametrize(("method", "given"), CASES)
def test_no_guess_gives_back_what_was_drawn_and_the_log_does(
    method: str, given: dict[str, Any], tmp_path: Path
) -> None:
    recipe = sdc.Recipe([{"method": method, **given}])
    with pytest.warns(SdcWarning, match="a seed below"):
        applied = recipe.apply(ORIGINAL, scenario=SCENARIO, seed=TRUE, watch=False)
    chance = best_of(tries(method, given, (2**90 + number for number in range(20))), applied.data)
    if method in NOTHING_HIDDEN_BY_DRAWS:
        assert chance > 0.9
    else:
        assert chance < 0.95
        guesses = tries(method, given, GUESSED)
        assert best_of(guesses, applied.data) < (1 + chance) / 2
        # The same guesses do find a release made with such a seed and nothing else, or with a secret to think of.
        assert best_of(guesses, tried(method, given, TRUE)) == 1
        known = recipe.apply(ORIGINAL, scenario=SCENARIO, seed=TRUE, secret=SECRETS[0], watch=False).data
        assert best_of(guesses, known) == 1
    log = applied.log.write(tmp_path / "log.json")
    again = sdc.Recipe.replay(ORIGINAL, log, watch=False).data
    for name, data in (("a", applied.data), ("b", again)):
        data.write_csv(tmp_path / f"{name}.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


# --- the same from the release alone, as somebody did it: 13 numbers tried, 1,500 of 1,500 incomes -----------------

RAW = pl.DataFrame({"income": np.random.default_rng(8).lognormal(8, 0.5, 1500).round()})
NOISE = {"columns": ["income"], "noise": 40.0}


def noise_taken_off(release: pl.DataFrame, seeds: Iterable[int]) -> int:
    """How many incomes come back: of the seeds the one whose noise is in the release, scaled till all are whole."""
    found = release["income"].to_numpy()
    alike: list[tuple[float, Floats]] = []
    for seed in seeds:
        drawn = sdc.add_noise(release, **NOISE, seed=seed).data["income"].to_numpy() - found
        alike.append((float(np.corrcoef(drawn, found)[0, 1]), drawn))
    likely, drawn = max(alike, key=lambda one: one[0])
    if likely < 0.2:
        return 0
    # The noise is 40 % of a spread that is to be found: that which leaves numbers nearest to whole ones.
    scales = np.linspace(0.85, 1.0, 60_001)
    first = found[:12] - np.outer(scales, drawn[:12])
    few = np.abs(first - first.round()).sum(axis=1)
    guessed = (found - scales[np.argmin(few)] * drawn).round()
    return int((guessed == RAW["income"].to_numpy()).sum())


def test_noise_comes_off_by_a_guessed_seed_and_not_by_a_recipe() -> None:
    years = range(1777, 1790)
    bare = sdc.add_noise(RAW, **NOISE, seed=TRUE).data
    assert noise_taken_off(bare, years) == 1500
    with pytest.warns(SdcWarning, match="a seed below"):
        release = sdc.Recipe([{"method": "add_noise", **NOISE}]).apply(RAW, seed=TRUE, watch=False).data
    thousands = [*range(2000), *(Mixed(one, TRUE).of_step(1) for one in SECRETS)]
    assert noise_taken_off(release, thousands) == 0


# --- identifiers and planted records ------------------------------------------------------------------------


def test_no_guessed_key_links_new_identifiers() -> None:
    recipe = sdc.Recipe([{"method": "new_ids", "column": "id"}])
    applied = recipe.apply(ORIGINAL, watch=False)
    keys = [FRESH[:16], *SECRETS, *(n.to_bytes(size, end) for n in GUESSES for size in (16, 32) for end in ENDS)]
    for key in keys:
        assert not set(sdc.new_ids(ORIGINAL, column="id", key=key).data["id"]) & set(applied.data["id"])
    assert sdc.Recipe.replay(ORIGINAL, applied.log).data.equals(applied.data)


def test_no_guessed_seed_tells_the_planted_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    ORIGINAL.write_csv("raw.csv")
    call = ["canaries", "make", "raw.csv", "-o", "train.csv", "--key", "key.json", "--n", "20", "--seed", str(TRUE)]
    assert run(call) == 0
    assert "warning: a seed below" in capsys.readouterr().err
    raw, planted = pl.read_csv("raw.csv"), set(pl.read_csv("train.csv").tail(20).rows())
    for seed in [*GUESSES, *(Mixed(one, TRUE).of_step(1) for one in SECRETS)]:
        assert len(planted & set(sdc.canaries(raw, n=20, seed=seed).planted.rows())) <= 2
    kept = int(json.loads(Path("key.json").read_text())["seed"])
    assert planted == set(sdc.canaries(raw, n=20, seed=kept).planted.rows())


# --- what a reader sees ---------------------------------------------------------------------------------------

STEPS = [
    {"method": "drop_identifiers", "columns": ["home"]},
    {"method": "new_ids", "column": "id"},
    {"method": "add_noise", **NOISE},
    {"method": "pram", "columns": ["job"], "pd": 0.6},
    {"method": "random_order"},
]


def hidden(log: RecipeLog) -> list[str]:
    """Everything in a log that undoes it, as it may be written."""
    seeds = [log.seed, *(change.secret["seed"] for change in log.steps if "seed" in change.secret)]
    assert len(seeds) == 4
    raw = bytes.fromhex(log.secret)
    texts = [
        log.secret,
        log.secret.upper(),
        repr(raw),
        str(list(raw))[1:-1],
        base64.b64encode(raw).decode(),
        *log.keys.values(),
    ]
    return [*texts, *(form(seed) for seed in seeds for form in (str, hex, "{:,}".format))]


def test_no_secret_stands_in_what_others_read(tmp_path: Path) -> None:
    recipe = sdc.Recipe(STEPS)
    applied = recipe.apply(ORIGINAL, scenario=SCENARIO, seed=2**64 + 987654321)
    found = applied.assess(seed=5)
    texts = [
        repr(applied),
        repr(applied.log),
        repr(applied.what_was_done),
        str(applied.log.to_dict()),
        recipe.to_toml(),
    ]
    texts += [text for change in applied.log.steps for text in (repr(change), str(change.to_dict()))]
    texts += [repr(found), found._repr_html_(), json.dumps(found.to_dict())]
    for internal in (False, True):
        for ending in ("html", "md"):
            found.report(tmp_path / f"r.{ending}", internal=internal)
            texts.append((tmp_path / f"r.{ending}").read_text(encoding="utf-8"))
    for text in texts:
        assert not [one for one in hidden(applied.log) if one in text]
    log = applied.log.write(tmp_path / "log.json")
    assert log.stat().st_mode & 0o777 == 0o600
    kept = json.loads(log.read_text(encoding="utf-8"))
    assert (kept["secret"], kept["confidential"].split(":")[0]) == (
        applied.log.secret,
        "contains what would help to undo the protection",
    )
    seeds = [change.secret["seed"] for change in applied.log.steps if "seed" in change.secret]
    raw = [bytes.fromhex(applied.log.secret), *(seed.to_bytes(16, "little") for seed in (applied.log.seed, *seeds))]
    packed, whole = pickle.dumps(found), pickle.dumps(applied.log)
    assert not [one for one in (*raw, *(one.encode() for one in hidden(applied.log))) if one.rstrip(b"\0") in packed]
    assert raw[1].rstrip(b"\0") in whole
    data = applied.data.write_csv()
    assert not [one for one in hidden(applied.log) if one in data]
