"""Seven files that a gate once let through, and their harmless twins, through the command line as an office runs it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sdckit as sdc

N = 1500
REASON = 'insensitive_because = "made up for this test"\n'


@pytest.fixture
def gate(sdckit, tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """Write files and a scenario, run `check`; its exit code, and what it printed in one line."""

    def judged(said: str, file: pl.DataFrame, released=None, *, control=None, **limits: float) -> tuple[int, str]:
        command: list[object] = ["check", tmp_path / "file.csv", "--scenario", tmp_path / "s.toml"]
        (tmp_path / "s.toml").write_text(said)
        for name, frame in {"file": file, "released": released, "control": control}.items():
            if frame is not None:
                frame.write_csv(tmp_path / f"{name}.csv")
                command += [] if name == "file" else [f"--{name}", tmp_path / f"{name}.csv"]
        command += [] if released is None else ["--seed", 1]
        command += [text for name, limit in limits.items() for text in (f"--{name.replace('_', '-')}", limit)]
        done = sdckit(*command)
        return done.code, " ".join(f"{done.out} {done.err}".split())

    return judged


# (a), (b): a synthetic file of which 46.8 % of the rows are copies, with four and with nine of eleven columns declared.


def people(seed: int) -> pl.DataFrame:
    """People of eleven columns, in which hardly two are alike."""
    rng = np.random.default_rng(seed)
    more = {f"q{i}": rng.choice(4, N, p=[0.6, 0.2, 0.15, 0.05]) for i in range(6)}
    age = rng.integers(18, 80, N) // 4 * 4
    ill = np.where(rng.random(N) < 0.1 + 0.004 * age, "yes", "no")
    regions, pay = rng.choice([*"nswe"], N), rng.geometric(0.2, N) * 100.0
    return pl.DataFrame({"age": age, "sex": rng.choice([*"fm"], N), "region": regions, "ill": ill, "pay": pay, **more})


WHOLE, ASIDE, OTHERS = people(1), people(2), people(4)
LEAKY = pl.concat([WHOLE[:702], people(3)[:798]]).sample(fraction=1, shuffle=True, seed=1)
FOUR = 'keys = ["age", "sex", "region"]\nsensitive = ["ill"]\ninsensitive = ["pay", "q*"]\n' + REASON
NINE = 'keys = ["age", "sex", "region", "q0", "q1", "q2", "q3", "q4"]\nsensitive = ["ill"]\n'
NINE += f'insensitive = ["pay", "q5"]\n{REASON}'
MADE = 'sampling_fraction = 0.01\nrelease = "synthetic"\n'


@pytest.mark.parametrize("columns", [FOUR, NINE], ids=["four columns", "nine columns"])
def test_copies_of_real_records_are_seen_whatever_is_declared(gate, columns: str) -> None:
    code, said = gate(MADE + columns, WHOLE, LEAKY, control=ASIDE)
    assert code == 1
    assert "this is no synthetic file, and is to be judged as a public-use file" in said
    assert "of 11 columns that go out is" in said.partition("exceeded the largest residual risk")[2]
    # With nine columns two people are alone alike by chance: the office writes down how many may be.
    code, said = gate(MADE + columns, WHOLE, OTHERS, control=ASIDE, replicated_uniques=0.1)
    assert code == 0, said


def test_without_people_kept_aside_nobody_knows_what_attacks_tell(gate) -> None:
    code, said = gate(MADE + FOUR, WHOLE, OTHERS)
    assert (code, "no people were kept aside" in said) == (2, True)


def test_the_page_to_decide_on_says_what_came_of_the_attacks(sdckit, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(f"sampling_fraction = 0.01\n{NINE}[thresholds]\nk = 2\n")
    said = {}
    for name, frame in {"file": WHOLE, "aside": ASIDE, "leaky": LEAKY, "others": OTHERS}.items():
        frame.write_csv(tmp_path / f"{name}.csv")
    for name in ("leaky", "others"):
        files = [tmp_path / f"{file}.csv" for file in ("file", name, "aside")]
        more = ["--scenario", tmp_path / "s.toml", "--seed", 1, "--n-attacks", 100]
        done = sdckit("assess", files[0], "--released", files[1], "--control", files[2], *more)
        said[name] = " ".join(done.out.split()).partition("Do trial attacks succeed?")[2]
    assert "tell more about the people in the file than about others. Most: Telling who is in the file" in said["leaky"]
    assert "Telling who is in the file" not in said["others"]


# (c): every turnover as it is.


def firms() -> pl.DataFrame:
    rng = np.random.default_rng(36)
    turnover = np.round(rng.lognormal(13, 1.5, 1500))
    turnover[17] = 30.9e9
    return pl.DataFrame(
        {"region": rng.integers(1, 4, 1500), "branch": rng.choice([*"abc"], 1500), "turnover": turnover}
    )


def test_a_business_survey_with_every_turnover_as_it_is(gate) -> None:
    said = 'keys = ["region", "branch"]\nsensitive = []\nhousehold = "none"\nrelease = "public-use"\naligned = true\n'
    said += "sampling_fraction = 0.05\n"
    named = f'{said}magnitudes = ["turnover"]\n'
    code, words = gate(named, firms())
    assert (code, "dominate their group with a value of turnover" in words) == (1, True)
    small = pl.col("turnover") < 1_000_000
    in_classes = firms().with_columns(turnover=pl.when(small).then(pl.lit("0-999999")).otherwise(pl.lit("1000000+")))
    code, words = gate(named, firms(), in_classes)
    assert code == 0, words
    code, words = gate(said, firms())
    assert (code, "the scenario does not say which columns are magnitudes" in words) == (2, True)


# (d): a panel of people, who are alone with what happened to them although each of their rows is like others.


def test_a_panel_is_not_judged_by_its_single_rows(gate) -> None:
    rng = np.random.default_rng(5)
    who, married = np.repeat(np.arange(200), 8), rng.choice([*"yn"], 1600)
    panel = pl.DataFrame({"who": who, "year": np.tile(np.arange(8), 200), "married": married})
    said = 'keys = ["year", "married"]\nperson = "who"\nsensitive = []\nhousehold = "none"\nsampling_fraction = 0.01\n'
    code, words = gate(f'{said}release = "scientific-use"\n', panel)
    assert (code, "people followed through their rows were not looked at" in words) == (2, True)
    code, words = gate(said, panel, k=3)  # without a type of release it is said, and stands
    assert (code, "this is said of single rows" in words) == (0, True)
    code, words = gate(f'{said}release = "scientific-use"\n', panel.filter(pl.col("year") == 0))
    assert code == 0, words


# (e): coarser weights that move the totals, as `recipe init` proposed them by itself.


def weighted(*, tied: bool) -> pl.DataFrame:
    """Firms whose weights tell the branch; `tied`: and hang on their turnover."""
    rng = np.random.default_rng(7)
    branch = rng.integers(0, 12, 1200)
    turnover = np.round(rng.lognormal(3, 0.3, 1200) * (10.0 ** (branch % 3) if tied else 1))
    weights = np.array([2, 40, 300])[branch % 3] + branch if tied else 100 + branch
    return pl.DataFrame({"branch": branch, "size": rng.integers(0, 9, 1200), "turnover": turnover, "w": weights})


@pytest.mark.parametrize("tied", [True, False])
def test_weights_are_made_coarser_by_itself_only_where_totals_hardly_move(sdckit, tmp_path: Path, tied: bool) -> None:
    weighted(tied=tied).write_csv(tmp_path / "f.csv")
    roles = 'keys = ["branch", "size"]\nweight = "w"\nnumeric = ["turnover"]\n[thresholds]\nk = 12\n'
    (tmp_path / "s.toml").write_text(roles)
    done = sdckit("recipe", "init", tmp_path / "f.csv", "--scenario", tmp_path / "s.toml", "-o", tmp_path / "r.toml")
    assert done.code == 0, done.err
    written = " ".join((tmp_path / "r.toml").read_text().replace("#", "").split())
    assert ('method = "coarsen_weights"' in written) is not tied
    assert ("No coarsen_weights: it would move weighted totals, means or counts of" in written) is tied


# (f), (g): what a release gives back by itself, and a release of which nothing was taken out.


def homes(*, told: bool) -> pl.DataFrame:
    """Households whose region was taken out of single members; `told`: the others of the household still have it."""
    n = 600
    home, rng = np.arange(n) // 3, np.random.default_rng(3)
    hidden = pl.Series(np.arange(n) % 9 == 0) if told else pl.Series(home % 9 == 0)
    data = pl.DataFrame({"home": home, "region": home % 4, "sex": rng.choice([*"fm"], n)})
    return data.with_columns(region=pl.when(~hidden).then("region"))


def test_a_release_checked_alone_is_judged_by_what_it_gives_back(gate) -> None:
    said = 'keys = ["region", "sex"]\nhousehold = "home"\nhousehold_variables = ["region"]\nsampling_fraction = 0.01\n'
    said += "[thresholds]\nk = 3\nrecoverable = 0.0\n"
    code, words = gate(said, homes(told=True))
    assert code == 1
    assert "of the changed values of region can be reconstructed" in words
    assert "the original was not there" in words
    code, words = gate(said, homes(told=False))
    assert code == 0, words
    assert "the original was not there" in words


def test_nothing_is_said_of_changed_values_where_none_was_changed(gate) -> None:
    said = 'sampling_fraction = 0.01\nkeys = ["age", "sex"]\nsensitive = ["ill"]\n[thresholds]\nrecoverable = 0.0\n'
    file, made = (people[["age", "sex", "ill"]] for people in (WHOLE, OTHERS))
    code, words = gate(said, file, made)
    assert (code, "at most 0 % of the changed values" in words) == (2, False)
    assert "threshold recoverable for intruder 'default' could not be checked: no value looks as if" in words
    hidden = file.with_columns(age=pl.when(pl.int_range(N) > 20).then("age"))
    code, words = gate(f"aligned = true\n{said}", file, hidden)
    assert (code, "at most 0 % of the changed values" in words) == (0, True), words


# A column that was made of an identifier which the release leaves out: the command line did not read that one.


@pytest.mark.parametrize("engine", [None, "polars", "duckdb"])
def test_the_end_of_a_telephone_number_keeps_the_gate_closed(sdckit, tmp_path: Path, engine: str | None) -> None:
    numbers = np.random.default_rng(9).integers(10**9, 10**10, N)
    file = WHOLE.select("sex", "ill").with_columns(tel=pl.Series(numbers), code=pl.Series(numbers % 100_000))
    said = 'keys = ["sex"]\nsensitive = ["ill"]\nidentifiers = ["tel"]\ninsensitive = ["code"]\n[thresholds]\nk = 3\n'
    (tmp_path / "s.toml").write_text(said.replace("[thresh", "release = 'scientific-use'\n[thresh"))
    other = file.with_columns(code=pl.Series(np.random.default_rng(10).integers(0, 100_000, N)))
    for name, original, made, told in (("a", file, file, True), ("b", other, other, False)):
        original.write_parquet(tmp_path / f"{name}.parquet")
        made.drop("tel").write_parquet(tmp_path / f"{name}_out.parquet")
        given = [tmp_path / f"{name}.parquet", "--scenario", tmp_path / "s.toml"]
        given += ["--released", tmp_path / f"{name}_out.parquet", *(("--engine", engine) if engine else ())]
        done = sdckit("check", *given)
        words = " ".join(f"{done.out} {done.err}".split())
        assert ("'code' was made of a direct identifier that is left out" in words) is told, words
        assert done.code == 2 if told else "could not be checked: the file may tell more" not in words
        paths, scenario = (given[0], given[4]), sdc.Scenario.from_toml(tmp_path / "s.toml")
        with pytest.raises(AssertionError) as failed:
            sdc.assert_within_limits(*paths, scenario=scenario)
        assert ("was made of a direct identifier" in str(failed.value)) is told


# (h): a file that holds more than the records that are measured.


def test_what_a_released_file_holds_beside_its_records_keeps_the_gate_closed(sdckit, tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    people = pl.DataFrame({"sex": rng.choice([*"fm"], 600), "region": rng.choice([*"NSX"], 600, p=[0.6, 0.395, 0.005])})
    hides = people.with_columns(region=pl.when(pl.col("region") != "X").then("region"))
    (tmp_path / "s.toml").write_text('keys = ["sex", "region"]\nmissing = "category"\n[thresholds]\nk = 3\n')
    people.write_csv(tmp_path / "file.csv")
    hides.cast({"region": pl.Enum([*"NSX"])}).write_parquet(tmp_path / "labelled.parquet")
    hides.write_parquet(tmp_path / "bare.parquet")
    given = [tmp_path / "file.csv", "--scenario", tmp_path / "s.toml"]
    released = ["--released", tmp_path / "labelled.parquet"]
    words = "categories that no record has (region): write_file leaves them out"
    for more in ((), ("--protected",), ("--sarif", tmp_path / "out.sarif"), ("--engine", "polars")):
        done = sdckit("check", *given, *released, *more)
        assert (done.code, words in " ".join(f"{done.out} {done.err}".split())) == (2, True)
    told = "What the file holds beside its records could not be judged: "
    assert told + words in (tmp_path / "out.sarif").read_text()
    assert sdckit("check", tmp_path / "labelled.parquet", *given[1:]).code == 2
    assert told + words in " ".join(sdckit("assess", *given, *released, "--full").out.split())
    assert sdckit("check", *given, "--released", tmp_path / "bare.parquet").code == 0
    scenario = sdc.Scenario.from_toml(tmp_path / "s.toml")
    sdc.assert_within_limits(tmp_path / "file.csv", tmp_path / "bare.parquet", scenario=scenario)
    with pytest.raises(AssertionError, match="categories that no record has"):
        sdc.assert_within_limits(tmp_path / "file.csv", [tmp_path / "labelled.parquet"], scenario=scenario)
