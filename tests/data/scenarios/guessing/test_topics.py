"""The vocabulary is well formed."""

from __future__ import annotations

import pytest

from sdckit.data.scenarios.guessing.topics import (
    BODY,
    CLEARLY_WEIGHT,
    TOPICS,
    key_topic_within,
    names_codes,
    topic_named,
    topic_of,
    topic_of_label,
    words_of,
)


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_every_word_is_as_names_are_cut(topic):
    for word in topic.words | set(topic.stems):
        assert word == word.lower()
        assert word.isascii()
    assert all(len(stem) >= 4 for stem in topic.stems)


def test_names_are_different():
    names = [topic.name for topic in TOPICS]
    assert len(set(names)) == len(names)
    assert [topic_named(name) for name in names] == list(TOPICS)


@pytest.mark.parametrize(
    "name", ["class_no", "Schulklasse", "school", "Schule_Nr", "ward", "district", "Gemeinde", "plz"]
)
def test_numbers_of_places_and_groups_say_which_one(name):
    assert names_codes(name)


@pytest.mark.parametrize(
    "name", ["age", "length_of_stay", "class_size", "years_of_school", "ward_count", "Gemeindegroesse", "density",
             "hours", "children", "number_of_visits", "education", "v17"],
)  # fmt: skip
def test_numbers_of_other_columns_may_say_how_much(name):
    assert not names_codes(name)


def test_no_word_means_a_sample_and_a_body():
    assert not BODY & CLEARLY_WEIGHT


# Words of column names.


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("HH_Size2", ("hh", "size")),
        ("dateOfBirth", ("date", "of", "birth")),
        ("HHID", ("hhid",)),
        ("a.b c-d", ("a", "b", "c", "d")),
        ("Größe", ("groesse",)),
        ("éducation", ("education",)),
        ("v17", ("v",)),
        ("日本", ()),
        ("", ()),
    ],
)
def test_words(name, words):
    assert words_of(name) == words


def test_what_is_said_of_a_household_wins_over_the_household():
    assert topic_of("hh_income").role == "sensitive"
    assert topic_of("hh_weight").role == "weight"
    assert topic_of("hh_size").role == "key"
    assert topic_of("hh_id").role == "household"


@pytest.mark.parametrize("name", ["v17", "", "日本", "x", "satisfaction"])
def test_no_topic(name):
    assert topic_of(name) is None


def test_every_word_is_as_names_are_cut_of_words():
    for topic in TOPICS:
        for word in topic.words | set(topic.stems):
            assert word == word.lower()
            assert word.isalnum()


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("sexcode", "sex or gender"),
        ("p_agegrp5", "age"),
        ("occlabel", "occupation"),
        ("usage", None),
        ("sex", None),  # the whole word is for topic_of
        ("incomeband", None),  # no key
    ],
)
def test_words_within_words(name, found):
    topic = key_topic_within(name)
    assert (topic and topic.name) == found


@pytest.mark.parametrize(
    ("name", "topic"),
    [
        ("hhweight", "a sampling weight"), ("_LLCPWT", "a sampling weight"), ("PIWT22", "a sampling weight"),
        ("birthwt", "a body measure"), ("BMXWT", "a body measure"), ("weight_kg", "a body measure"),
        ("Nettoeinkommen", "money"), ("gestation", None), ("country_name", "geography"), ("gebjahr", "a birth"),
        ("geb_datum", "a date of birth"),
        ("student_id", "a person number"), ("school_id", "a group one belongs to"), ("labor_costs", "money"),
        ("insurance_no", "an insurance number"), ("Versichertennummer", "an insurance number"),
        ("health insurance number", "an insurance number"), ("insurance", "health"),
        ("own_rent", "the household's make-up"), ("family_id", "a household"),
        ("family_type", "the household's make-up"), ("longitudinal_weight", "a sampling weight"),
    ],
)  # fmt: skip
def test_names_of_several_words(name, topic):
    found = topic_of(name)
    assert (found and found.name) == topic


# As survey platforms, censuses, hospitals, schools, payrolls and registers name their columns.
USUAL = {
    "key": """
        bdate gebort staatsb herkunft zuzugsjahr yrimmig asylstatus displacement_status heiratsjahr famstand
        YRMARR gebj byear jahrgang DEGFIELD studiengang grade_level jobtitle dienstgrad part_time teilzeit
        contract_type befristet kldb2010 oenace wirtschaftszweig veteran VETSTAT lga fips_code gkz zensusgitter
        settlement admin2Pcod vehicles car_model home_owner wohnflaeche zimmerzahl kinderzahl household_head
        ELDCH NSIBS twin hair_color augenfarbe skin_colour left_handed schwerbehindert bedrooms bula founded
    """,
    "sensitive": """
        sped FOODSTMP INCWELFR frpl disadvantaged gpa zeugnisnote exam_score test_score absences fehlzeiten
        dropout bonus hourly_rate entgeltgruppe besoldungsgruppe bruttolohn stundenlohn steuerklasse hheink
        rente VALUEH INCSS dx1 I10_DX1 diag_1 drg hcpcs tumor_stage histology chemotherapy dialysis transplant
        comorbidities charlson stroke copd hypertension diabetic obesity epilepsy demenz suicide suizidversuch
        self_harm schizophrenia tuberculosis covid19 apgar blutgruppe icu contraceptive_method fgm hivstatus
        sick_days krankheitstage cause_of_death todesursache haftstrafe incarcerated offense sexorient lgbtq
        parteipraeferenz left_right partyid date_onset ORPHA gene_variant consanguinity labinc hhinc
    """,
    "coordinate": "geopoint hochwert rechtswert",
    "event": """
        death_year deceased verstorben todesdatum sterbejahr vital_status adm_date dischdate readmission
        length_of_stay verweildauer eintrittsdatum termination_date date_enrolled DISPUNIFORM
        date_last_fu last_follow_up
    """,
    "design": "interviewer interviewer_id enumerator sampling_point ea_id",
    "group": """
        hosp HOSP_NIS provider_id physician surgeon attending_doctor gp_practice school_name schulnummer
        classroom lehrkraft kita university fakultaet arbeitgeber firma abteilung dept kostenstelle
    """,
    "body": "bwt bweight",
    "identifier": "ipaddr hausnummer upn licence_plate initials card_no",
    "person": "personalnummer schuelernr matrikelnr emp_id",
    "id": "fallnr visitlink token ExternalReference",
}


@pytest.mark.parametrize("role", USUAL)
def test_usual_names_say_a_role(role: str) -> None:
    names = USUAL[role].split()
    known = {name: topic.role if (topic := topic_of(name)) else None for name in names}
    assert {name: own for name, own in known.items() if own != role} == {}


NONE = """
    q17_3 item5 att_1 trust_gov life_sat score value total response rt trial page_clicks duration weather co2 gdp m1
    factor1 pca1 rank position role stage vehicle_speed brushstrokes parity partner office provider major marks
"""


@pytest.mark.parametrize("name", NONE.split())
def test_names_of_many_things_say_none(name: str) -> None:
    assert topic_of(name) is None


@pytest.mark.parametrize(
    ("label", "topic"),
    [
        ("Estado de salud", "health"), ("Estado civil", "marital status"),
        ("Taille du ménage", "the household's make-up"),
        ("Taille (cm)", "body height"), ("Age at last birthday", "age"), ("Year of birth of the person", "a birth"),
        ("Date de naissance de l'enquêté", "a date of birth"), ("Pays de naissance du père", "a country of birth"),
        ("How happy would you say you are?", None), ("Numer gospodarstwa domowego", "a household"),
    ],
)  # fmt: skip
def test_labels(label, topic):
    found = topic_of_label(label)
    assert (found and found.name) == topic


@pytest.mark.parametrize(
    ("names", "topic"),
    [
        ("dis_date adm_meth disdest los last_contact", "an event a stranger may know of"),
        ("ethnos", "ethnicity or citizenship"),
        ("cons_code consultant", "a group one belongs to"),
    ],
)
def test_names_of_hospital_episodes(names: str, topic: str) -> None:
    """A date of discharge was taken for a disability, and the length of stay for nothing at all."""
    assert {found.name for name in names.split() if (found := topic_of(name)) is not None} == {topic}
    assert all(topic_of(name) for name in names.split())
    assert topic_of_label("De los ingresos") is None or topic_of_label("De los ingresos").name != topic
