"""What the categories of a column say: value labels, or the texts themselves."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sdckit.data.scenarios.guessing.topics import Topic, topic_named, word_set
from sdckit.data.scenarios.guessing.words import words_of

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
