"""What column names say, in the languages survey files are written in."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

__all__ = ["TOPICS", "Topic", "key_topic_within", "topic_of", "words_of"]


@dataclass(frozen=True)
class Topic:
    """Words that say one thing about a column."""

    name: str  # what the words say, for the explanation
    role: str  # the role a column of this topic usually has
    words: frozenset[str]  # whole words
    stems: tuple[str, ...] = ()  # beginnings of words, long enough not to mislead


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _topic(name: str, role: str, words: str, stems: str = "") -> Topic:
    return Topic(name, role, _words(words), tuple(stems.split()))


# The first topic that matches wins: the sharper ones stand first, and what is said of a household or a
# person ("hh_income") wins over the household or person itself.
TOPICS: tuple[Topic, ...] = (
    _topic("a date of birth", "key",
           "dob birthdate birthday geburtsdatum geburtstag naissance nacimiento nascita nascimento", "birthd geburtsd"),
    _topic("a country of birth", "key",
           "pob cob birthplace birthcountry geburtsland geburtsort", "birthpl birthc"),
    _topic("contact data", "identifier", """
        email mail phone telephone telefon telefono tel mobile fax address adresse adres direccion indirizzo
        street strasse rue url ipaddress latitude longitude lat lon lng gps coordinates
        """, "telefon phonen emaila addres"),
    _topic("an official number", "identifier", """
        ssn nino nif dni nie bsn cpf passport reisepass pasaporte iban ahv avs svnr steuernummer taxid licence
        license nhs insee codicefiscale""", "passp socialsec sozialvers"),
    _topic("a person's name", "identifier", """
        name names surname lastname firstname fullname forename vorname nachname familienname prenom nombre
        apellido apellidos nome cognome naam voornaam achternaam username
        """, "lastn firstn surn vorn nachn apellid"),
    _topic("a sampling weight", "weight", """
        w weight weights wgt wgts wt wts pw fw pweight fweight dweight pspwght pspweight pwgtp finalwt perwt
        hhwt gewicht gewichtung gew hrf hochrechnungsfaktor poids ponderation peso pesos ponderador fexp
        facexp gewogen vikt""", "weight gewicht hochrechn ponder pweig"),
    _topic("sex or gender", "key",
           "sex gender geschlecht sexe sexo sesso genero genre kjonn geslacht", "gender geschl"),
    _topic("marital status", "key", """
        marital married familienstand zivilstand matrimonial divorced spouse yrsmarried estadocivil etatcivil
        statocivile""", "marit marri familienst zivilst"),
    _topic("age", "key", "age alter edad eta idade leeftijd agegroup ageband agegrp agecat altersgruppe ages alder",
           "agegr altersg"),
    _topic("a birth", "key",
           "birth born geburt geboren birthyear yob geburtsjahr anonac nac", "birthy geburt"),
    _topic("geography", "key", """
        region reg province provincia provinz prov state bundesland canton kanton county district bezirk kreis
        municipality gemeinde comune commune municipio city town stadt ville ciudad citta postcode zip zipcode
        postal plz codepostal country pais pays area geo location nuts lau tract block department departement
        departamento urban rural urbanicity puma parish ward
        """, "regio provin munici postc postal zipc geogr district depart countr"),
    _topic("education", "key", """
        educ education edu bildung schule abschluss diploma diplome educacion isced school degree studies
        titolo instruction opleiding""", "educ bildung isced schulab"),
    _topic("occupation", "key", """
        occupation occ job beruf profession profesion professione ocupacion isco isco08 industry nace branche
        employment employed lfs workstatus activity empstat sector beroep
        """, "occup beruf profes employ indust isco"),
    _topic("religion", "key",
           "religion relig religious religione konfession kirche denomination faith church", "relig konfess"),
    _topic("ethnicity or citizenship", "key", """
        ethnicity ethnic ethn race nationality nation citizenship citizen staatsangehoerigkeit nationalitaet
        nationalite nacionalidad nazionalita migration migrant immigrant language sprache langue lengua idioma
        """, "ethni nationali citizen staatsang migra immigr"),
    _topic("the household's make-up", "key", """
        children kids kinder enfants hijos figli nchild hhsize famsize householdsize haushaltsgroesse dwelling
        tenure""", "childr hhsiz famsiz"),
    _topic("the body or a disability one can see", "key",
           "height disability disabled behinderung handicap", "disab behinder"),
    _topic("money", "sensitive", """
        income inc wage wages salary earnings earn pay lohn gehalt einkommen revenu salaire ingreso ingresos
        renta salario reddito rendita debt debts wealth assets savings mortgage taxes tax pension benefit
        benefits expenditure expend turnover vermoegen schulden
        """, "incom salar earnin einkomm revenu ingres wealth expend vermoeg"),
    _topic("health", "sensitive", """
        health gesundheit sante salud salute disease illness krankheit maladie enfermedad diagnosis diagnose
        icd icd10 hiv cancer diabetes bmi drug drugs alcohol smoking smoker medication therapy treatment
        depression""", "health gesundh diseas illnes krankh diagnos medic depress"),
    _topic("private life or convictions", "sensitive", """
        affair affairs sexual orientation abortion crime criminal convicted conviction offence arrest victim
        vote voted voting party partei politics political union violence""", "affair convic crimin politi"),
    _topic("a household", "household", """
        hh hhid household householdid hhnr hhnum hhno hid idhh haushalt haushaltsnr haushaltid hogar menage
        famiglia huishouden hushall family familyid famid""", "househ haushalt hhid menage huishoud"),
    _topic("a person number", "person", """
        pid person personid persid pernum persnr pnr persno individual individu idperson personnr pidp
        """, "personid persnr"),
    _topic("an id", "id", """
        id ident identifier uid uuid guid nr no num number caseid serial record rowid respondent key index
        nummer numero lfd lfdnr""", "caseid respond identif"),
)  # fmt: skip

# Words that turn another word's meaning.
_BODY = frozenset({"kg", "kgs", "body", "lbs", "lb", "birth", "pounds", "koerper"})
_SIZE = _words("size type members n count structure groesse taille typ composition")
# What is written together with a word without turning its meaning: sexcode, hhsex, agecat.
_BESIDE = _words(
    """
    code codes cod kod cd cat categ category class cl klasse grp gr group gruppe band bands lev level lvl lab
    label txt text str val value var rec recode recoded new old orig type typ num no nr n id x q v r p hh ref
    head resp respondent own self partner spouse father mother child dem demo my bin bracket range cohort
    status stat grouped detail det broad dummy d f i y yr yrs years completed
    """
)
_LONG = 6  # a word so long is not part of another by chance
_SPELT = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"}
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def words_of(name: str) -> tuple[str, ...]:
    """Cut a name into words: at signs, at capitals, without accents and figures.

    >>> words_of("HH_Size2"), words_of("dateOfBirth"), words_of("Größe é")
    (('hh', 'size'), ('date', 'of', 'birth'), ('groesse', 'e'))
    """
    spelt = "".join(_SPELT.get(letter, letter) for letter in name)
    bare = unicodedata.normalize("NFKD", spelt).encode("ascii", "ignore").decode()
    return tuple(part.lower() for part in _PART.findall(bare) if not part.isdigit())


def topic_of(name: str) -> Topic | None:
    """Give the topic a name speaks of, or None.

    >>> topic_of("Geschlecht").name, topic_of("net_income").role, topic_of("v17")
    ('sex or gender', 'sensitive', None)
    """
    words = words_of(name)
    together = "".join(words)
    said = {*words, together}
    if {"date", "birth"} <= said or {"month", "birth"} <= said:
        return TOPICS[0]
    for topic in TOPICS:
        if topic.role == "weight" and said & _BODY:
            continue
        if topic.words & said or any(word.startswith(topic.stems) for word in said if topic.stems):
            return _make_up() if topic.role == "household" and said & _SIZE else topic
    return None


def key_topic_within(name: str) -> Topic | None:
    """Give the topic of a key that a name holds as a part of a word, or None.

    >>> key_topic_within("sexcode").name, key_topic_within("subregions").name, key_topic_within("usage")
    ('sex or gender', 'geography', None)
    """
    for topic in TOPICS:
        if topic.role == "key" and any(_holds(part, word) for part in words_of(name) for word in topic.words):
            return topic
    return None


def _holds(part: str, word: str) -> bool:
    if len(word) >= _LONG:
        return word in part
    beside = part.removeprefix(word) if part.startswith(word) else part.removesuffix(word)
    return len(word) > 2 and beside != part and beside in _BESIDE


def _make_up() -> Topic:
    return next(topic for topic in TOPICS if topic.name == "the household's make-up")
