"""What is said of a column: by its name, its label, its categories, and the survey it comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sdckit.data.scenarios.guessing.facts import Facts
from sdckit.data.scenarios.guessing.topics import (
    Topic,
    key_topic_within,
    says_body,
    says_sampling,
    topic_named,
    topic_of,
    topic_of_label,
    word_set,
    words_of,
)

# Names of variables that well-known surveys share; believed only where a file holds several of one survey.


_TELLING, _ENOUGH = 2, 6  # names that only this survey uses; or one of them among so many that it uses

# Per survey: topic, then the names as one pattern, in capitals.
_SURVEYS: dict[str, tuple[tuple[str, str], ...]] = {
    "EU-SILC": (
        ("a household", r"DB030|RB040|HB030|[RPHD]X030"),
        ("a person number", r"[RP]B030"),
        ("a sampling weight", r"DB090|RB05\d|RB06\d|PB0[46]0|RL070|DB095"),
        ("sex or gender", r"RB090|PB150"),
        ("age", r"[RP]X0[12]0"),
        ("a birth", r"RB0[78]0|PB1[34]0"),
        ("marital status", r"PB[12]90|PB200"),
        ("education", r"PE0[1-4]\d"),
        ("occupation", r"PL0[345]\d[ABC]?|PL1[1-9]\d[AB]?|PL060|RB210"),
        ("a country of birth", r"PB210"),
        ("ethnicity or citizenship", r"PB220[AB]?|RB031"),
        ("geography", r"[DHRP]B020|DB040|DB100"),
        ("the household's make-up", r"HX0[4-6]0|HH0[1-3]\d|RB2[234]0|RB032|HSIZE|EQSS"),
        ("money", r"[HP]Y\d{3}[NG]?|EQINCOME|HX090"),
        ("health", r"P[HW]0\d{2}"),
        ("when the record was made", r"[DRHP]B010|[RHP]B100|PB110"),
    ),
    "DHS": (
        ("a household", r"HHID"),
        ("a person number", r"CASEID|BIDX|M?HVIDX"),
        ("a number within", r"[MH]?V00[234]|HV002"),
        ("the sample's design", r"[MH]?V001|[MH]?V02[123]"),
        ("a sampling weight", r"M?V005|HV0?05"),
        ("age", r"M?V01[23]|HV105"),
        ("a birth", r"M?V01[01]"),
        ("geography", r"M?V02[456]|HV02[456]|M?V10[12]|SHDIST"),
        ("education", r"M?V10[67]|M?V133|M?V149|HV10[6789]"),
        ("religion", r"M?V130"),
        ("ethnicity or citizenship", r"M?V131|M?V116"),
        ("sex or gender", r"HV104|M?V151|HV219|B4"),
        ("marital status", r"M?V50[12]|HV115"),
        ("the household's make-up", r"M?V136|M?V201|M?V218|HV009|HV101|M?V150"),
        ("occupation", r"M?V71[46-9]"),
        ("money", r"M?V19[01]A?|HV27[01]"),
        ("when the record was made", r"[MH]?V00[678]|M?V000|HV000"),
    ),
    "the ACS or IPUMS": (
        ("a household", r"SERIAL(NO)?|SAMPLESERIAL|HRHHID2?|CPSID"),
        ("a person number", r"CPSIDP|PERNUM|SPORDER"),
        ("a sampling weight", r"PERWT|PWGTP|HHWT|WGTP|ASECWTH?|WTFINL|EARNWT|PWSSWGT|A?FNLWGT|MARSUPWT|SLWT"),
        ("sex or gender", r"SEX|PESEX|A_SEX"),
        ("age", r"AGEP|PRTAGE|A_AGE|AGE"),
        ("marital status", r"MARSTD?|MSP|MAR|PEMARITL|A_MARITL"),
        ("education", r"SCHLP?|EDUCD?|PEEDUCA|A_HGA|SCHG?|HIGRADED?"),
        (
            "ethnicity or citizenship",
            r"RAC\dP|RACED?|HISPAND?|HISP|PTDTRACE|CIT|CITIZEN|NATIVITY|LANX|LANP|ANC[12]P|ENG",
        ),
        ("a country of birth", r"BPLD?|POBP|WAOB|PENATVTY"),
        ("a birth", r"BIRTHYR|BIRTHQTR"),
        (
            "geography",
            r"STATEFIPS?|STATEICP|ST|PUMA\d*|COUNTYFIPS?|COUNTYICP|METRO|MET2013|CITY|MIGSP|MIG|GESTFIPS|REGION|DIVISION",
        ),
        (
            "occupation",
            r"OCC\d*|OCCP|IND\d*|INDP|NAICSP|SOCP|ESR|COW|EMPSTATD?|CLASSWKRD?|WKHP|LABFORCE|UHRSWORK|PEMLR",
        ),
        (
            "the household's make-up",
            r"NP|NPF|NOC|NCHILD|NCHLT5|FAMSIZE|NUMPREC|RELATED?|RELSHIPP?|RELP|OWNERSHPD?|TEN|BLD|HHT",
        ),
        ("the body or a disability one can see", r"DIS|DEAR|DEYE|DREM|DPHY|DOUT|DDRS|DRATX?|DVET"),
        ("health", r"HICOV|HCOVANY|PRIVCOV|PUBCOV|HINS\d"),
        (
            "money",
            r"PINCP|HINCP|FINCP|WAGP|PERNP|INCTOT|INCWAGE|HHINCOME|FTOTINC|POVPIP|POVERTY|PINCP_DECILE|AGI|PTOTVAL|WSAL_?VAL|ERN_?VAL|INT_?VAL",
        ),
        ("when the record was made", r"YEAR|SAMPLE|MULTYEAR|ADJINC|MISH"),
        ("the sample's design", r"CLUSTER|STRATA|GQ|CBSERIAL"),
    ),
    "the EU Labour Force Survey": (
        ("a household", r"HHNUM|QHHNUM"),
        ("a number within", r"HHSEQNUM"),
        ("a sampling weight", r"COEFFY?|COEFFQ|COEFFH"),
        ("the household's make-up", r"HHLINK|HHSPOU|HHNBPERS|HHTYPE|HHNB\w*"),
        ("marital status", r"MARSTAT"),
        ("ethnicity or citizenship", r"NATIONAL|CITIZENSHIP|YEARESID"),
        ("a country of birth", r"COUNTRYB|COBFATH|COBMOTH"),
        ("geography", r"COUNTRY|REGION(_2D)?|DEGURBA|REGION2DW"),
        ("education", r"HAT(LEV|FIELD|YEAR)\w*|HAT\d\dLEV|EDUC\w*"),
        ("occupation", r"ILOSTAT|MAINSTAT|STAPRO|NACE\w*|ISCO\w*|FTPT|WSTATOR|IS881D|IS08\w*"),
        ("sex or gender", r"SEX"),
        ("age", r"AGE(_GRP)?"),
        ("money", r"INCDECIL"),
        ("when the record was made", r"REFYEAR|REFWEEK|REFMONTH|INTWAVE|YEAR|QUARTER"),
    ),
    "NHANES": (
        ("an id", r"SEQN"),
        ("a sampling weight", r"WT(MEC|INT)\w*|WTSAF\w*"),
        ("the sample's design", r"SDMVPSU|SDMVSTRA"),
        ("sex or gender", r"RIAGENDR"),
        ("age", r"RIDAGE\w+"),
        ("ethnicity or citizenship", r"RIDRETH\d|DMDCITZN"),
        ("a country of birth", r"DMDBORN\d?"),
        ("education", r"DMDEDUC\d"),
        ("marital status", r"DMDMARTL|DMDMARTZ"),
        ("the household's make-up", r"DMDHHSIZ|DMDFMSIZ"),
        ("money", r"INDHHIN\d|INDFMPIR"),
        ("a body measure", r"BMXWT|BMXBMI|BMXWAIST"),
        ("body height", r"BMXHT"),
    ),
}
_ADDED = re.compile(r"_?(CAT|GRP|GROUP|REC|BANDS?|CLASS|CODE)\d?$")  # made from it
_COMPILED = {
    survey: tuple((topic, re.compile(pattern)) for topic, pattern in rows)
    for survey, rows in _SURVEYS.items()
}


def codebook_topics(columns: Sequence[str]) -> dict[str, tuple[str, Topic | None]]:
    """Give (survey, topic) for the columns named as in the survey that most of the file's names fit.

    The topic is None for a number that counts within something: a line number, a household's number in its
    village.

    >>> found = codebook_topics(["db030", "rb050", "rb090", "colour"])
    >>> {column: topic.name for column, (survey, topic) in found.items()}
    {'db030': 'a household', 'rb050': 'a sampling weight', 'rb090': 'sex or gender'}
    >>> codebook_topics(["np", "x"])
    {}
    """
    best: dict[str, tuple[str, Topic | None]] = {}
    for survey, rows in _COMPILED.items():
        found = {}
        for column in columns:
            bare = _ADDED.sub("", column.strip().upper())
            named = next((topic for topic, pattern in rows if pattern.fullmatch(bare)), None)
            if named is not None:
                within = named == "a number within"
                found[column] = (survey, None if within else topic_named(named))
        telling = [column for column in found if topic_of(column) is None]  # "sex" and "age" tell no survey
        known = len(telling) > _TELLING or (telling and len(found) >= _ENOUGH)
        if known and len(found) > len(best):
            best = found
    return best


# What the categories of a column say: value labels, or the texts themselves.


_MOST = 400  # categories that are read


_SEX_LETTERS = (
    {"m", "f"},
    {"m", "w"},
    {"h", "f"},
    {"h", "m"},
    {"k", "m"},
    {"m", "v"},
    {"m", "d"},
    {"v", "m"},
)
_SEX = word_set("""
    male female man woman men women boy girl mann frau maenner frauen maennlich weiblich homme femme hommes femmes
    masculin feminin hombre mujer hombres mujeres varon masculino femenino maschio femmina uomo donna homem mulher
    feminino vrouw mannelijk vrouwelijk kobieta mezczyzna kvinna kvinne mand kvinde males females jongen meisje
    garcon fille kobiety mezczyzni femminile maschile
    """)  # fmt: skip
# Topic, what its categories say, how many of the words must be there.
_SAID: tuple[tuple[str, frozenset[str], int], ...] = (
    ("marital status", word_set("""
        married single widowed widow divorced separated unmarried cohabiting verheiratet ledig verwitwet geschieden
        getrennt marie celibataire veuf veuve divorce separe casado casada soltero soltera viudo viuda divorciado
        divorciada separado separada coniugato coniugata sposato sposata celibe nubile vedovo vedova divorziato
        divorziata separato separata solteiro solteira viuvo viuva gehuwd ongehuwd verweduwd gescheiden zonaty
        zamezna zonaty kawaler panna wdowiec wdowa rozwiedziony rozwiedziona gift ogift skild ugift skilt fraskilt
        enke enkemann zivilstand
        """), 2),
    ("religion", word_set("""
        catholic protestant muslim islam jewish hindu buddhist orthodox christian katholisch evangelisch muslimisch
        islamisch juedisch orthodox catholique protestante musulman juif catolica catolico musulmana musulmano
        cattolica cattolico protestant katholiek moslim katolicka katolickie prawoslawne evangelical atheist sikh
        pentecostal methodist lutheran konfessionslos
        """), 2),
    ("ethnicity or citizenship", word_set("""
        white black asian hispanic latino caucasian african indigenous mixed roma foreigner native inlaender
        auslaender deutsch oesterreichisch citizen foreign national indian pakistani chinese mulatto
        migrationshintergrund autochtoon allochtoon
        """), 2),
    ("education", word_set("""
        primary secondary tertiary bachelor bachelors master masters doctorate phd university college vocational
        school isced volksschule pflichtschule hauptschule realschule gymnasium matura abitur lehre
        berufsbildende hochschule universitaet fachhochschule primaire secondaire superieur baccalaureat licence
        primaria secundaria universitaria universitario superior bachillerato elementare media diploma laurea
        licenza basico medio fundamental ensino basisonderwijs voortgezet mbo hbo wo podstawowe srednie wyzsze
        zawodowe gimnazjalne grundskola gymnasie universitet grade 10th 11th 12th hs bac cap bep lehrabschluss
        """), 2),
    ("occupation", word_set("""
        employed unemployed retired student self housewife homemaker inactive pensioner worker clerk manager
        managers professionals technicians clerical elementary erwerbstaetig arbeitslos pensioniert rentner
        selbststaendig selbstaendig angestellt angestellter arbeiter beamter hausfrau schueler chomeur retraite
        salarie independant ouvrier etudiant ocupado desempleado jubilado estudiante asalariado parado occupato
        disoccupato pensionato studente casalinga operaio impiegato empregado desempregado reformado aposentado
        werkend werkloos gepensioneerd zelfstandig pracujacy bezrobotny emeryt rencista farmer labourer laborer
        sales agriculture craft executive service
        """), 2),
    ("the household's make-up", word_set("""
        head spouse partner child son daughter parent grandchild grandparent sibling brother sister husband wife
        relative nonrelative lodger owner tenant rented owned ehepartner kind tochter sohn eltern enkel
        bezugsperson haushaltsvorstand chef conjoint enfant jefe conyuge hijo hija capofamiglia coniuge figlio
        figlia conjuge filho filha hoofdbewoner partner kind glowa malzonek dziecko couple alone eigentuemer
        mieter eigentum miete proprietaire locataire propietario inquilino proprietario affitto
        """), 2),
    ("geography", word_set("""
        urban rural city town village suburb countryside stadt land dorf staedtisch laendlich urbain rural ville
        campagne urbano rurale cidade pueblo miasto wies stad platteland landsbygd metropolitan
        """), 2),
)  # fmt: skip
_COUNTRIES = word_set("""
    austria germany france italy spain portugal belgium netherlands luxembourg switzerland poland czechia slovakia
    hungary romania bulgaria greece croatia slovenia serbia bosnia albania turkey russia ukraine denmark sweden norway
    finland iceland ireland england scotland wales estonia latvia lithuania malta cyprus china india pakistan
    bangladesh japan korea vietnam philippines indonesia thailand iran iraq syria afghanistan israel egypt morocco
    algeria tunisia libya nigeria ghana kenya ethiopia somalia senegal mali uganda tanzania rwanda congo cameroon
    brazil argentina chile peru colombia venezuela ecuador bolivia mexico cuba haiti jamaica canada australia
    oesterreich deutschland frankreich italien spanien belgien niederlande schweiz polen tschechien slowakei ungarn
    rumaenien bulgarien griechenland kroatien slowenien serbien bosnien tuerkei russland daenemark schweden norwegen
    finnland irland autriche allemagne italie espagne belgique suisse pologne maroc algerie tunisie roumanie
    alemania francia italia espana suiza belgica polonia marruecos rumania argelia germania austria svizzera spagna
    polonia marocco albania alemanha franca italia espanha suica brasil angola mozambique usa kosovo macedonia
    montenegro moldova belarus kazakhstan uzbekistan tyskland danmark sverige norge duitsland frankrijk niemcy francja
    """)  # fmt: skip
_CODES = word_set("""
    at de fr it es pt be nl lu ch pl cz sk hu ro bg gr el hr si rs ba al tr ru ua dk se no fi is ie gb uk ee lv lt mt
    cy us ca mx br ar cl pe co cn in jp kr au nz za eg ma dz tn
    """)  # fmt: skip
_STATES = word_set("""
    al ak az ar ca co ct de fl ga hi id il in ia ks ky la me md ma mi mn ms mo mt ne nv nh nj nm ny nc nd oh ok or pa
    ri sc sd tn tx ut vt va wa wv wi wy dc
    """)  # fmt: skip
_BAND = re.compile(
    r"\D{0,14}(\d{1,3})\s*(?:-|–|—|to|bis|a|à|,|y|\.\.|and|until|through|tot|do|/)+\s*(\d{1,3})\D{0,14}"
    r"|\D{0,10}\d{1,3}\s*\+|\D{0,16}\d{1,3}\D{0,16}"
)
_TWO_ENDS = re.compile(r"\D{0,14}(\d{1,3})\s*(?:-|–|—|to|bis|a|à|,|y|\.\.|and|tot|do)+\s*(\d{1,3})")
_ICD = re.compile(r"[A-TV-Z]\d[0-9A-B](?:\.?[0-9A-Z]{1,4})?")
_FEW_CODES = 4  # two-letter codes that must be different to be countries or states
_AGES = (10, 110)  # where the largest end of age bands lies


def topic_of_values(texts: Sequence[str]) -> Topic | None:
    """Give the topic that the categories of a column speak of, or None.

    >>> topic_of_values(["1 Männer", "2 Frauen"]).name, topic_of_values(["yes", "no"])
    ('sex or gender', None)
    """
    if not 1 < len(texts) <= _MOST:
        return None
    words = [frozenset(words_of(text)) for text in texts]
    name = _sex(texts, words) or _said(words) or _places(texts, words) or _patterned(texts)
    return None if name is None else topic_named(name)


def _sex(texts: Sequence[str], words: Sequence[frozenset[str]]) -> str | None:
    """Two categories or a few more, among them two words of sex."""
    if len(texts) > 6:
        return None
    bare = {text.strip().lower() for text in texts}
    if any(letters <= bare and len(bare) <= len(letters) + 2 for letters in _SEX_LETTERS):
        return "sex or gender"
    spoken = [one for one in words if one & _SEX and len(one) <= 3]
    return "sex or gender" if len(spoken) >= 2 and len(spoken) * 2 >= len(texts) else None


def _said(words: Sequence[frozenset[str]]) -> str | None:
    best, most = None, 0.0
    for name, said, least in _SAID:
        hit = [one & said for one in words]
        different = len(frozenset().union(*hit))
        share = sum(bool(one) for one in hit) / len(words)
        if different >= least and share >= 0.4 and share > most:
            best, most = name, share
    return best


def _places(texts: Sequence[str], words: Sequence[frozenset[str]]) -> str | None:
    named = sum(bool(one & _COUNTRIES) for one in words)
    if named >= 3 and named * 2 >= len(texts):
        return "geography"
    bare = {text.strip().lower() for text in texts}
    if len(bare) >= _FEW_CODES and all(len(text) == 2 for text in bare):
        for codes in (_CODES, _STATES):
            if len(bare & codes) >= 0.8 * len(bare):
                return "geography"
    return None


def _patterned(texts: Sequence[str]) -> str | None:
    bare = [text.strip() for text in texts]
    if len(bare) >= 3 and sum(bool(_ICD.fullmatch(text)) for text in bare) >= 0.9 * len(bare):
        return "health"
    ends = [found.groups() for text in bare if (found := _TWO_ENDS.match(text))]
    banded = sum(bool(_BAND.fullmatch(text)) for text in bare)
    if len(bare) >= 3 and len(ends) * 2 >= len(bare) and banded >= 0.8 * len(bare):
        largest = max(int(high) for _, high in ends)
        ordered = all(int(low) <= int(high) for low, high in ends)
        if ordered and _AGES[0] < largest <= _AGES[1] and largest > 40:
            return "age"
    return None


# Words of a country are said of a birth and of a citizenship, too; those of work of a business.
_FITTING = {
    ("geography", "a country of birth"), ("geography", "ethnicity or citizenship"),
    ("ethnicity or citizenship", "a country of birth"), ("age", "a birth"),
    ("ethnicity or citizenship", "geography"), ("education", "a group one belongs to"),
}  # fmt: skip


_KINDS = {"its label": "label", "its categories": "values"}  # the rest is said by names


@dataclass(frozen=True)
class Spoken:
    """The topic of a column, and who says so."""

    topic: Topic | None
    evidence: tuple[str, ...]
    kinds: int  # how many kinds of evidence agree
    disputed: bool = False  # another kind says something else
    sampling: bool = False  # said to be a weight of the sample
    body: bool = False  # said to be a weight of a body
    within: bool = False  # by its survey, a number within something

    @property
    def name(self) -> str:
        """The topic's name, or nothing."""
        return "" if self.topic is None else self.topic.name

    @property
    def role(self) -> str:
        """The topic's usual role, or nothing."""
        return "" if self.topic is None else self.topic.role

    @property
    def why(self) -> str:
        """The evidence in one line."""
        return "; ".join(self.evidence)


def spoken_of(facts: Sequence[Facts], labels: Mapping[str, str]) -> dict[str, Spoken]:
    """Read what is said of every column.

    >>> from sdckit.data.scenarios.guessing.facts import Facts
    >>> column = Facts("v1", 9, 9, 2, number=False, whole=False, text=True, date=False, categories=("m", "f"))
    >>> spoken_of([column], {"v1": "Geschlecht"})["v1"].why
    'its label and its categories speak of sex or gender'
    """
    surveys = codebook_topics([one.name for one in facts])
    return {one.name: _spoken(one, labels.get(one.name, ""), surveys.get(one.name)) for one in facts}


def _spoken(facts: Facts, label: str, survey: tuple[str, Topic | None] | None) -> Spoken:
    named = topic_of(facts.name)
    same = label.strip().lower() == facts.name.strip().lower()
    labelled = topic_of_label(label) if label and not same else None
    valued = topic_of_values(facts.categories)
    coded = survey[1] if survey else None
    said = {
        "its label": labelled,
        f"its name in {survey[0]}" if survey else "": coded,
        "its name": named,
        "its categories": valued,
    }
    topic = next((one for one in said.values() if one is not None), None)
    if topic is not None and valued is not None and valued.name == "sex or gender" and topic.role == "person":
        topic = valued
    within = bool(survey) and coded is None and labelled is None
    sampling = (
        says_sampling(facts.name) or says_sampling(label) or (coded is not None and coded.role == "weight")
    )
    body = says_body(label) or says_body(facts.name)
    if within:
        return Spoken(None, (f"in {survey[0] if survey else ''} a number within something",), 1, within=True)
    if topic is None:
        topic = key_topic_within(facts.name)
        told = () if topic is None else (f"its name holds a word of {topic.name}",)
        return Spoken(topic, told, 0, sampling=sampling, body=body)
    agreeing = [who for who, one in said.items() if one is not None and _fits(one, topic)]
    if "its name" in agreeing:
        agreeing = [who for who in agreeing if not who.startswith("its name in")]
    others = [one for who, one in said.items() if one is not None and not _fits(one, topic)]
    verb = "speaks" if len(agreeing) == 1 and agreeing[0] != "its categories" else "speak"
    evidence = (f"{_listed(agreeing)} {verb} of {topic.name}",)
    kinds = {_KINDS.get(who, "name") for who in agreeing}
    return Spoken(
        topic, evidence, len(kinds), disputed=any(one.role != topic.role for one in others),
        sampling=sampling, body=body,
    )  # fmt: skip


def _fits(one: Topic, topic: Topic) -> bool:
    return one.name == topic.name or (one.name, topic.name) in _FITTING


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]
