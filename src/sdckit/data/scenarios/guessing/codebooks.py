"""Names of variables that well-known surveys share; believed only where a file holds several of one survey."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sdckit.data.scenarios.guessing.topics import Topic, topic_named
from sdckit.data.scenarios.guessing.words import topic_of

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
