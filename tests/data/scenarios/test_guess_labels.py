"""Files of SPSS, Stata and SAS whose names tell nothing and whose labels tell everything, in eight languages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pyreadstat
import pytest

from sdckit.data.scenarios.guess import guess_roles, scenario_toml
from sdckit.data.scenarios.scenario import Scenario

# In this order: household, number in it, sex, age, region, marital status, education, citizenship, income,
# body weight, height, sampling weight, household size, health, religion, satisfaction, occupation, party.
LABELS = {
    "English": """Household identification number; Line number of person; Gender of respondent; Age at last birthday;
        State or territory of residence; Current marital status; Highest level of education attained;
        Country of citizenship; Total personal income last year; Weight in kilograms; Height in centimetres;
        Final person weight; Number of persons in household; Self-rated general health; Religious affiliation;
        How satisfied are you with life as a whole?; Main occupation (4 digits); Party voted for in last election""",
    "German": """Haushaltsnummer; Personennummer im Haushalt; Geschlecht der befragten Person; Alter in Jahren;
        Bundesland des Hauptwohnsitzes; Familienstand; Höchste abgeschlossene Schulbildung; Staatsangehörigkeit;
        Monatliches Nettoeinkommen; Körpergewicht in kg; Körpergröße in cm; Hochrechnungsfaktor Personen;
        Anzahl der Personen im Haushalt; Subjektiver Gesundheitszustand; Religionsbekenntnis;
        Wie zufrieden sind Sie mit Ihrem Leben?; Beruf (ISCO-08); Welche Partei haben Sie gewählt?""",
    "French": """Identifiant du ménage; Numéro d'ordre de l'individu; Sexe de l'enquêté; Âge au dernier anniversaire;
        Région de résidence; État matrimonial; Diplôme le plus élevé obtenu; Nationalité; Revenu mensuel net;
        Poids (kg); Taille (cm); Pondération individuelle; Taille du ménage; État de santé perçu; Religion;
        Satisfaction à l'égard de la vie; Profession (PCS); Vote à la dernière élection""",
    "Spanish": """Identificación del hogar; Número de orden de la persona; Sexo; Edad; Comunidad / provincia;
        Estado civil; Nivel de estudios terminados; Nacionalidad; Ingresos netos mensuales; Peso en kg;
        Estatura en cm; Factor de elevación (ponderación); Número de miembros del hogar; Estado de salud; Religión;
        Satisfacción con la vida; Ocupación; Partido político votado""",
    "Italian": """Codice della famiglia; Numero d'ordine del componente; Sesso; Età; Regione di residenza;
        Stato civile; Titolo di studio; Cittadinanza; Reddito netto mensile; Peso (chilogrammi); Altezza (cm);
        Coefficiente di riporto all'universo (peso campionario); Numero di componenti della famiglia;
        Stato di salute; Religione; Soddisfazione per la vita; Professione; Partito votato""",
    "Portuguese": """Número do agregado familiar; Número de ordem da pessoa; Sexo; Idade; Região; Estado civil;
        Nível de escolaridade; Nacionalidade; Rendimento mensal líquido; Peso em kg; Altura em cm;
        Ponderador amostral; Dimensão do agregado familiar; Estado de saúde; Religião; Satisfação com a vida;
        Profissão; Partido em que votou""",
    "Dutch": """Huishoudnummer; Persoonsnummer binnen huishouden; Geslacht; Leeftijd; Provincie; Burgerlijke staat;
        Hoogst voltooide opleiding; Nationaliteit; Netto maandinkomen; Lichaamsgewicht (kg); Lichaamslengte (cm);
        Wegingsfactor; Aantal personen in huishouden; Ervaren gezondheid; Godsdienst; Tevredenheid met het leven;
        Beroep; Stem bij laatste verkiezingen""",
    "Polish": """Numer gospodarstwa domowego; Numer osoby w gospodarstwie; Płeć; Wiek w latach; Województwo;
        Stan cywilny; Wykształcenie; Obywatelstwo; Dochód miesięczny netto; Masa ciała (kg); Wzrost (cm);
        Waga analityczna; Liczba osób w gospodarstwie domowym; Stan zdrowia; Wyznanie; Zadowolenie z życia; Zawód;
        Partia, na którą głosował""",
}
KEYS = ("V3", "V4", "V5", "V6", "V7", "V8", "V13", "V15", "V17")
SENSITIVE = ("V9", "V14", "V18")


def survey(seed: int = 3) -> pl.DataFrame:
    """Households with members, a weight per household, bodies of people; names V1 to V18."""
    rng = np.random.default_rng(seed)
    sizes = rng.choice([1, 2, 3, 4, 5], 400, p=[0.3, 0.3, 0.2, 0.15, 0.05])
    home = np.repeat(np.arange(400), sizes)
    member = np.concatenate([np.arange(1, size + 1) for size in sizes])
    n = len(home)
    height = rng.normal(170, 9, n).round()
    columns = [
        home + 100_000, member, rng.integers(1, 3, n), rng.integers(0, 95, n), rng.integers(1, 10, 400)[home],
        rng.integers(1, 6, n), rng.integers(1, 8, n), rng.integers(1, 30, n), rng.lognormal(8, 1, n).round(),
        (height - 95 + rng.normal(0, 9, n)).round(), height, rng.uniform(200, 900, 400)[home].round(4),
        sizes[home], rng.integers(1, 6, n), rng.integers(1, 7, n), rng.integers(1, 11, n),
        rng.integers(1000, 9999, n), rng.integers(1, 7, n),
    ]  # fmt: skip
    return pl.DataFrame({f"V{i}": values.astype(float) for i, values in enumerate(columns, 1)})


def labels(language: str) -> list[str]:
    return [" ".join(label.split()) for label in LABELS[language].split(";")]


def write(frame: pl.DataFrame, path: Path, language: str, **options: object) -> Path:
    writer = {".sav": "write_sav", ".dta": "write_dta", ".xpt": "write_xport"}[path.suffix]
    getattr(pyreadstat, writer)(frame.to_pandas(), str(path), column_labels=labels(language), **options)
    return path


@pytest.mark.parametrize("language", LABELS)
def test_roles_by_labels(tmp_path: Path, language: str) -> None:
    found = guess_roles(write(survey(), tmp_path / "x.sav", language))
    assert found.of("household") == ("V1",)
    assert found.of("weight") == ("V12",)
    assert set(KEYS) <= set(found.of("key"))
    assert set(SENSITIVE) <= {*found.of("sensitive")}
    assert not {"V10", "V11"} & {*found.of("weight"), *found.of("key"), *found.of("identifier")}
    assert found["V2"].role == "ignore"
    assert "numbers the members" in found["V2"].reason
    assert "counts the records" in found["V13"].reason
    assert found.of("identifier") == found.of("person") == ()
    assert found.household_variables == ("V5", "V12", "V13")
    assert [found[name].confidence for name in ("V1", "V3", "V4", "V12", "V13")] == ["sure"] * 5
    assert set(SENSITIVE) <= set(found.unconfirmed)


@pytest.mark.parametrize("suffix", [".dta", ".xpt"])
def test_stata_and_sas(tmp_path: Path, suffix: str) -> None:
    found = guess_roles(write(survey(), tmp_path / f"x{suffix}", "German"))
    assert (found.of("household"), found.of("weight")) == (("V1",), ("V12",))
    assert set(KEYS) <= set(found.of("key"))


def test_value_labels_speak_where_labels_do_not(tmp_path: Path) -> None:
    frame = survey().select("V3", "V6", "V7", "V16")
    path = tmp_path / "x.sav"
    pyreadstat.write_sav(
        frame.to_pandas(), str(path),
        variable_value_labels={
            "V3": {1: "Männer", 2: "Frauen"},
            "V6": {1: "ledig", 2: "verheiratet", 3: "geschieden", 4: "verwitwet", 5: "getrennt"},
            "V7": {1: "Volksschule", 2: "Hauptschule", 3: "Lehre", 4: "Matura", 5: "Universität", 6: "Kolleg",
                   7: "keine"},
            "V16": {i: str(i) for i in range(1, 11)},
        },
    )  # fmt: skip
    found = guess_roles(path)
    assert found.of("key") == ("V3", "V6", "V7")
    assert {found[name].confidence for name in found.of("key")} == {"likely"}
    assert "its categories speak of marital status" in found["V6"].reason
    assert found["V16"].question is not None


def test_a_size_with_a_label_for_the_last_number_still_counts_rows(tmp_path: Path) -> None:
    """Labels make texts of codes: "5 or more" among "1", "2" is a number still."""
    path = write(survey(), tmp_path / "x.sav", "English", variable_value_labels={"V13": {5: "5 or more"}})
    assert "counts the records" in guess_roles(path)["V13"].reason


def test_the_file_that_is_written(tmp_path: Path) -> None:
    path = write(survey(), tmp_path / "x.sav", "French")
    text = scenario_toml(path)
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    scenario = Scenario.from_toml(tmp_path / "s.toml")
    assert (scenario.weight, scenario.household) == ("V12", "V1")
    assert set(SENSITIVE) <= set(scenario.unconfirmed)
    assert max(map(len, text.splitlines())) <= 80
    assert "Identifiant" not in text  # labels are not copied: they may quote anything
