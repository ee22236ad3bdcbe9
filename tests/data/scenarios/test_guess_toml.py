"""The commented scenario: valid, explained, and without a value of a record."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, strategies as st

from sdckit.data.files import readers
from sdckit.data.missing_values.missing_notes import MissingNotes
from sdckit.data.scenarios.guess import guess_roles, scenario_toml
from sdckit.data.scenarios.guess_toml import write_guesses
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import FileFormatError, ScenarioError, SdcWarning

MARK = "Zyxw-4711"
N = 300


def survey():
    return pl.DataFrame(
        {
            "full name": [MARK] + [f"P{i}" for i in range(N - 1)],
            "sex": ["m", "f"] * (N // 2),
            'q "x"\ny': [f"{i % 150:04d}" for i in range(N)],
            "dob": [f"1980-{i % 12 + 1:02d}-{i % 28 + 1:02d}" for i in range(N)],
            "hh": [i // 3 for i in range(N)],
            "wgt": [1.5 + i % 4 for i in range(N)],
            "income": [1000.5 + i for i in range(N)],
            "empty": ["NA"] * N,
        }
    )


def scenario_of(text, tmp_path):
    path = tmp_path / "guessed.toml"
    path.write_bytes(text.encode())
    return Scenario.from_toml(path)


def test_is_valid_and_explains_every_column(tmp_path):
    path = tmp_path / "survey.csv"
    survey().write_csv(path)
    text = scenario_toml(path, missing=["NA", "-999"])
    scenario = scenario_of(text, tmp_path)
    assert scenario.keys == ("sex", "dob")
    assert scenario.weight == "wgt"
    assert scenario.household == "hh"
    assert scenario.sensitive == ("income",)
    assert scenario.identifiers == ("full name",)
    assert scenario.missing_codes == ("NA", "-999")
    assert scenario.thresholds.declared == {}
    scenario.check_columns(survey().columns)
    assert '# Disclosure scenario for "survey.csv".' in text
    told = " ".join(line.lstrip("# ") for line in text.splitlines())
    assert "WARNING: recode to a year" in told
    assert '"q \\"x\\"\\ny": unsure: 150 values; neither name nor label says' in told
    assert '#   "empty": sure: it holds no value' in text
    assert scenario.unconfirmed == ("wgt", "income")
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "# k = 3" in text
    assert MARK not in text
    assert "1980" not in text


def test_the_example_limits_are_valid_once_uncommented(tmp_path):
    text = scenario_toml(survey())
    wanted = ("release", "missing", "[thresholds]", "k =", "risk =", "l =")
    lines = [
        line[2:] if line.startswith("# ") and line[2:].startswith(wanted) else line
        for line in text.splitlines()
    ]
    scenario = scenario_of("\n".join(lines), tmp_path)
    assert scenario.thresholds.declared == {"k": 3, "risk": 0.1, "l": 2}
    assert scenario.release == "scientific-use"


def test_several_rows_per_person_say_what_the_line_does(tmp_path):
    text = scenario_toml(
        survey().drop("dob").with_columns(pid=pl.int_range(N) // 2, sex=pl.int_range(N) // 2 % 2)
    )
    scenario = scenario_of(text, tmp_path)
    assert (scenario.person, scenario.missing) == ("pid", "category")
    told = " ".join(line.lstrip("# ") for line in text.splitlines())
    assert "with the line below each person counts once" in told
    assert '\nperson = "pid"\n' in text
    assert "make one row per person" not in text


def test_codes_that_may_mean_missing_are_a_line_to_uncomment(tmp_path):
    path = tmp_path / "x.csv"
    pl.DataFrame({"sex": ["m", "f", "NA", "m"] * 20, "a\nb": [1, 2, 3, -999] * 20}).write_csv(path)
    with pytest.warns(SdcWarning):
        text = scenario_toml(path)
    assert scenario_of(text, tmp_path).missing_codes == ()
    assert "# Taken for missing: 'NA' in \"sex\" (20 records)." in text
    assert (
        '# "a\\nb" holds -999 in 20 records. If that means missing:\n# missing_codes = ["NA", "-999"]' in text
    )
    chosen = text.replace("# missing_codes", "missing_codes")
    assert scenario_of(chosen, tmp_path).missing_codes == ("NA", "-999")
    with pytest.warns(SdcWarning):
        text = scenario_toml(path, missing=["NA"])
    told = " ".join(line.lstrip("# ") for line in text.splitlines())
    assert 'write instead of the line above: missing_codes = ["NA", "-999"]' in told
    assert scenario_of(text, tmp_path).missing_codes == ("NA",)
    with pytest.warns(SdcWarning):
        assert scenario_of(scenario_toml(path, missing=""), tmp_path).missing_codes == ("",)


def test_without_weight_a_sampling_fraction_is_offered(tmp_path):
    text = scenario_toml(survey().drop("wgt"))
    assert "# sampling_fraction = 0.05" in text
    uncommented = text.replace("# sampling_fraction", "sampling_fraction")
    assert scenario_of(uncommented, tmp_path).sampling_fraction == 0.05


def test_a_large_file_says_that_only_a_sample_was_read(tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "_MOST", 100)
    monkeypatch.setattr(readers, "_FEWEST", 10)
    path = tmp_path / "x.parquet"
    pl.DataFrame({"sex": [1, 2] * 51}).write_parquet(path)
    assert "# Only the first 100 of 102 records were looked at." in scenario_toml(path)


def test_no_key_to_guess(tmp_path):
    """The file is written for the keys to be filled in, and is no scenario before."""
    path = tmp_path / "x.csv"
    path.write_text("v1,v2\n" + "1,2\n3,4\n" * 20)
    text = scenario_toml(path)
    assert "keys = []" in text
    with pytest.raises(ScenarioError, match="keys is empty"):
        scenario_of(text, tmp_path)
    assert scenario_of(text.replace("keys = []", 'keys = ["v1"]'), tmp_path).keys == ("v1",)


def test_questions_stand_together_and_the_names_are_those_to_delete(tmp_path):
    frame = pl.DataFrame({"sex": [1, 2] * 30, **{f"item{i}": [i % 3, 1, 2] * 20 for i in range(40)}})
    text = scenario_toml(frame)
    scenario = scenario_of(text, tmp_path)
    assert scenario.unconfirmed == tuple(f"item{i}" for i in range(40))
    assert text.count("Could a stranger know it?") == 1
    assert max(len(line) for line in text.splitlines()) <= 80
    answered = (
        text[: text.index("unconfirmed = [")] + text[text.index("]\n", text.index("unconfirmed")) + 2 :]
    )
    assert scenario_of(answered, tmp_path).unconfirmed == ()


def test_what_members_of_a_household_share_is_told():
    found = guess_roles(
        survey().with_columns(region=pl.int_range(N) // 3 % 4, sex=pl.Series([1, 1, 2] * 100))
    )
    assert found.household_variables == ("region",)
    text = write_guesses(found, name="x", looked_at="", notes=MissingNotes())
    assert 'household_variables = ["region"]' in text


def test_absent_file(tmp_path):
    with pytest.raises(FileFormatError, match="there is no file"):
        scenario_toml(tmp_path / "none.csv")


names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8) | st.sampled_from(
    ["hh", "w", "weight", "pid", "id", "income", "age", "name", "region", "weight2", "hh_id"]
)
values = st.sampled_from(
    [
        [i % 3 for i in range(60)],
        list(range(60)),
        [i // 3 for i in range(60)],
        [i + 0.5 for i in range(60)],
        ["x"] * 60,
        [None] * 60,
    ]
)


@given(st.dictionaries(names, values, max_size=6))
def test_any_file_gives_a_valid_scenario(tmp_path_factory, columns):
    frame = pl.DataFrame({"sex": [1, 2] * 30, **{name: v for name, v in columns.items() if name != "sex"}})
    scenario = scenario_of(scenario_toml(frame), tmp_path_factory.getbasetemp())
    assert "sex" in scenario.keys
    roles = {guess.column: guess.role for guess in guess_roles(frame)}
    assert {name for name, role in roles.items() if role not in ("ignore", "identifier")} == set(
        scenario.columns
    )
