"""What words of names and labels speak of, in the languages survey files are written in."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Topic:
    """Words that say one thing about a column."""

    name: str  # what the words say, for the explanation
    role: str  # the role a column of this topic usually has
    words: frozenset[str]  # whole words
    stems: tuple[str, ...] = ()  # beginnings of words, long enough not to mislead


def word_set(text: str) -> frozenset[str]:
    """Give the words of a text.

    >>> sorted(word_set("age alter"))
    ['age', 'alter']
    """
    return frozenset(text.split())


def _topic(name: str, role: str, words: str, stems: str = "") -> Topic:
    return Topic(name, role, word_set(words), tuple(stems.split()))


# The first topic that matches wins: the sharper ones stand first, and what is said of a household or a
# person ("hh_income") wins over the household or person itself. Two words written as one stand for two
# neighbours: "estadocivil" is found in "estado civil".
TOPICS: tuple[Topic, ...] = (
    _topic("a date of birth", "key", """
        dob gebdatum gebdat birthdate birthday geburtsdatum geburtstag naissance nacimiento
        nascita nascimento geboortedatum
        datumgeboorte dataurodzenia fodelsedatum fodselsdato fodselsdag""", "birthd geburtsd geboorted"),
    _topic("a country of birth", "key", """
        pob cob birthplace birthcountry geburtsland geburtsort geboorteland geboorteplaats fodelseland
        krajurodzenia""", "birthpl birthc geburtsl geboortel"),
    _topic("coordinates", "coordinate", """
        lat lats latitude latitud latitudine latitudes lon lng longitude longitud longitudine longitudes gps
        coordinates coordinate koordinaten breitengrad laengengrad breedtegraad lengtegraad
        szerokoscgeograficzna
        dlugoscgeograficzna easting northing geox geoy xcoord ycoord""", "breiteng laengeng koordin"),
    _topic("contact data", "identifier", """
        email mail emailaddress phone telephone telefon telefono telefoon tel mobile cell fax
        address adresse adres
        direccion domicilio indirizzo endereco street strasse rue calle url website ipaddress homepage handy
        """, "telefon phonen emaila addres anschri"),
    _topic("an official number", "identifier", """
        ssn nino nif dni nie bsn cpf passport reisepass pasaporte iban ahv avs svnr steuernummer taxid licence
        license nhs insee codicefiscale pesel rijksregister personnummer fodselsnummer nir
        numerosecuritesociale
        socialsecurity mrn medicalrecord plate kennzeichen matricula accountnumber kontonummer
        """, "passp socialsec sozialvers steuernum burgerservice"),
    _topic("a person's name", "identifier", """
        name names surname lastname firstname fullname forename vorname nachname familienname
        prenom nombre nombres
        apellido apellidos nome cognome sobrenome naam voornaam achternaam imie nazwisko username fornamn
        efternamn etternavn""", "lastn firstn surn vorn nachn apellid nazwisk"),
    _topic("a sampling weight", "weight", """
        w weight weights wgt wgts wt wts pw fw pweight fweight dweight pspwght pspweight pwgtp finalwt perwt
        hhwt pwt hwt fwt dwt pwgt hwgt pond pondera fpond gewicht gewichte gewichtung gew hrf phrf hhrf
        hochrechnungsfaktor poids ponderation peso pesos
        ponderador ponderacion ponderacao ponderazione fexp facexp gewogen weging weegfactor vikt
        vekt waga wagi
        fnlwgt afnlwgt wtfinl asecwt wtvar coeffy""",
           "weight gewicht hochrechn ponder pweig weging wegings fakthoch"),
    _topic("sex or gender", "key", """
        sex gender geschlecht sexe sexo sesso genero genre kjonn kon kjoenn geslacht plec sukupuoli pohlavi
        """, "gender geschl"),
    _topic("marital status", "key", """
        marital married familienstand zivilstand matrimonial divorced spouse yrsmarried estadocivil etatcivil
        statocivile situationmatrimoniale burgerlijkestaat burgerlijke stancywilny civilstand
        sivilstand marstat marst
        partnership civil""", "marit marri marsta familienst zivilst matrim"),
    _topic("religion", "key", """
        religion religions relig religious religione konfession kirche denomination faith church
        religiao godsdienst
        wyznanie religia""", "religi konfess wyznan"),
    _topic("ethnicity or citizenship", "key", """
        ethnicity ethnic ethn race nationality nation citizenship citizen staatsangehoerigkeit nationalitaet
        nationalite nacionalidad nazionalita nacionalidade migration migrant immigrant migrationshintergrund
        hispan language sprache langue lengua idioma lingua taal jezyk cittadinanza ciudadania
        cidadania citoyennete
        nationaliteit obywatelstwo narodowosc ethnie etnia raza raca herkomst hispanic hisp
        mothertongue indigenous
        caste tribe muttersprache statsborgerskap""",
           "ethni etni nationali nazional nacional citizen staatsang migra immigr obywat muttersp"),
    _topic("age", "key", """
        age alter edad eta idade leeftijd wiek alder agegroup ageband agegrp agecat altersgruppe
        ages aldersgruppe
        ikae vek""", "agegr altersg leeftij"),
    _topic("a birth", "key", """
        birth born geburt geboren birthyear yob gebjahr gebmonat geburtsjahr geboortejaar anonac
        nac rokurodzenia urodzenia
        anneenaissance anonacimiento annonascita anonascimento geboorte fodelsear fodselsar birthmonth
        """, "birthy geburt geboort urodz"),
    _topic("education", "key", """
        educ education edu bildung schule abschluss schulabschluss diploma diplome educacion
        educacao isced school
        degree studies titolo istruzione instruction opleiding wyksztalcenie schooling qualification estudios
        escolaridad escolaridade escolarite grado scolarita titolodistudio niveauetudes utbildning utdanning
        onderwijs nivelinstruccion eisced attainment""",
           "educ bildung isced schulab ausbild wykszt istruz opleid escolar qualif"),
    _topic("the business", "key", """
        employees beschaeftigte mitarbeiter effectif salaries empleados addetti dipendenti
        werknemers legalform
        rechtsform sizeclass groessenklasse legal staff""", "beschaeft mitarbeit"),
    _topic("occupation", "key", """
        occupation occ job beruf profession profesion professione profissao ocupacion ocupacao
        isco isco08 isco88
        industry nace branche employment employed lfs workstatus activity empstat sector beroep zawod soc sic
        labour labor labforce erwerbsstatus erwerbstaetigkeit erwerb beruflich stellung emploi
        empleo occupazione
        emprego trabajo lavoro arbeid werk praca yrke occu unemployed unemployment retired csp
        workclass student
        hoursworked hoursper hoursweek weeklyhours workinghours wochenstunden arbeitsstunden
        uhrswork wkhp socialgrade socialclass nssec occupational workhours
        """, "occu beruf profes employ indust isco erwerb zawod ocupac occupaz arbeits"),
    _topic("geography", "key", """
        region regions regione regiao regio reg province provincia provinz prov state bundesland
        land canton kanton county
        district bezirk kreis municipality gemeinde comune commune municipio city town stadt
        ville ciudad citta
        cidade stad postcode zip zipcode postal plz codepostal country pais pays paese area geo
        location nuts lau tract
        block department departement departamento urban rural urbanicity urbanrural urbrur puma
        parish ward woonplaats zone
        provincie gmina wojewodztwo powiat miasto kraj fylke kommune lan kommun statefip countyfip
        stadtteil wohnort residence resid residencia cntry ort localidad localidade estado uf density
        urbanisation urbanization village milieu milieuresidence populationbase
        """, "regio provin munici postc postal zipc geogr district depart countr wojew urbani bundesl gemeind"),
    _topic("the household's make-up", "key", """
        children child kids kinder enfants hijos figli filhos kinderen dzieci nchild hhsize
        famsize householdsize
        haushaltsgroesse dwelling tenure householdtype haushaltstyp famtype relationship relate relat
        rel verwandtschaft parentesco parentela parente parentado kinship rooms zimmer roof walls floor water
        toilet electricity electcon housing ownrent ownerrenter rentown ownership wohnform
        wohnung logement vivienda abitazione
        siblings numyoung numold kindpers hhtype persons family familytype taillemenage
        lienparente pokrewienstwo familycomposition livingarrangement noc npf nchlt hausstand
        """, "childr hhsiz famsiz householdsiz haushaltsgr haushaltst verwandt parentes"),
    _topic("the body or a disability one can see", "key",
           "disability disabled behinderung handicap discapacidad disabilita deficiencia niepelnosprawnosc dis",
           "disab behinder discapac invalid"),
    _topic("body height", "body", """
        height groesse koerpergroesse taille estatura altura altezza statura lengte lichaamslengte wzrost tall
        """, "koerpergr lichaamsl"),
    _topic("a body measure", "body", """
        koerpergewicht lichaamsgewicht bodyweight bodymass bmi pesocorporal pesocorporeo poidscorporel
        masaciala birthweight waist hip bodylength wtkg weightkg""", "bodyw koerperge lichaamsg"),
    _topic("money", "sensitive", """
        income inc wage wages salary earnings earn pay lohn loehne gehalt einkommen revenu
        revenus salaire ingreso
        ingresos renta salario reddito rendita rendimento renda debt debts wealth assets savings
        mortgage taxes tax
        pension benefit benefits expenditure expend expenditures turnover vermoegen schulden
        inkomen loon dochod dochody
        zarobki wydatki inkomst lonn money fortune gasto gastos depense depenses spesa ausgaben consumption
        capitalgain capitalloss salaryclass rent loan cost costs kosten profit profits capital
        funds sales revenue
        revenues equity liabilities umsatz gewinn verlust kapital fare price preis prix precio prezzo treasury
        depreciation credit charges bill euro euros dollars
        """, "incom salar earnin einkomm revenu ingres wealth expend vermoeg inkom dochod zarob wydat reddit"),
    _topic("health", "sensitive", """
        health gesundheit sante salud saude salute disease illness krankheit maladie enfermedad
        doenca malattia
        diagnosis diagnose diagnostico diagnostic icd icd10 hiv aids cancer diabetes drug drugs
        alcohol smoking
        smoker smoke medication therapy treatment depression depress zdrowie choroba gezondheid ziekte helse
        cholesterol bp bloodpressure bloodgroup pregnancy pregnant procedure surgery symptom chronic
        insurance hicov mental stress anxiety bloodtype hba1c lab genhlth physhlth menthlth
        """, "health gesundh diseas illnes krankh diagnos medic depress zdrow chorob gezondh maladi enferm"),
    _topic("private life or convictions", "sensitive", """
        affair affairs sexual orientation abortion crime criminal convicted conviction offence arrest victim
        vote voted voting party partei politics political union violence partito partido parti
        wahl gewerkschaft
        syndicat sindicato stem glosowanie partia sexuality convictions
        """, "affair convic crimin politi gewerksch sexual"),
    _topic("an event a stranger may know of", "event", """
        admission admit discharge aufnahme aufnahmedatum entlassung entlassungsdatum entlassdatum
        admissiondate
        dischargedate ingreso alta sortie entree dimissione ricovero opname ontslag przyjecie wypis death died
        deathdate sterbedatum deces hiredate hired eintritt arrival operationdate visitdate
        """, "admissi dischar entlass aufnahm"),
    _topic("the sample's design", "design", """
        psu strata stratum cluster clusters ssu schicht schichtung klumpen strate grappe estrato
        upm strato conglomerado
        grupolosowa sdmvpsu sdmvstra samplingunit replicate bootstrap jackknife sprengel enumeration segment
        """, "stratu cluster schicht conglom"),
    _topic("when the record was made", "time", """
        interview interviewdate wave welle vague ola ronda onda fala round panel surveyyear
        survey year jahr annee ano
        anno jaar rok month monat mois mes mese maand miesiac quarter quartal trimestre kwartaal
        date datum day tag
        timestamp time cycle syear refyear refweek week sampleyear erhebungsjahr
        """, "intervie timest erhebung"),
    _topic("a group one belongs to", "group", """
        class klasse classe clase klas klasa teacher lehrer enseignant profesor insegnante
        docente school schoolid
        schule ecole escuela scuola escola firm company employer betrieb unternehmen entreprise
        empresa azienda
        bedrijf ward hospital clinic klinik krankenhaus station hopital ospedale ziekenhuis site team unit
        branchoffice establishment plant grade schulklasse
        """, "teach lehrer compan hospit krankenh betrieb untern"),
    _topic("a household", "household", """
        hh hhid household householdid hhnr hhnum hhno hid idhh haushalt haushaltsnr haushaltid hogar menage
        famiglia huishouden hushall hushold familyid famid serial hogarid agregado domicilioid gospodarstwo
        gospodarstwodomowe foyer haushaltsnummer huishoudnummer nucleofamiliare agregadofamiliar
        """, "househ haushalt hhid menage huishoud gospodar"),
    _topic("a person number", "person", """
        pid person personid persid pernum persnr pnr persno individual individu idperson personnr pidp lineno
        linenumber persona personne pessoa persoon osoba patient patientid patientnr student studentid pupil
        schueler employee employeeid customer customerid client mitarbeiternr subject subjectid respondentid
        participant versicherter paciente pazienta kunde kundennr memberno indiv membre
        """, "personid persnr patientid"),
    _topic("an id", "id", """
        id ident identifier uid uuid guid nr no num number caseid record rowid respondent key index idno
        nummer numero lfd lfdnr identificador identifiant identificativo identyfikator kennung seqn recordid
        obs rownumber laufnummer numer lp""", "caseid respond identif"),
)  # fmt: skip

# Words that turn another word's meaning.
BODY = word_set("""
    kg kgs kilo kilos kilogram kilograms kilogramm kilogrammes kilogramos chilogrammi body lbs lb pounds birth
    koerper corporel corporelle corporal corporeo lichaam ciala gram grams gramm grammes gramos
    naissance nacer
    geburtsgewicht mass koerpergewicht lichaamsgewicht bodyweight bodymass birthweight kroppsvikt kroppsvekt
    """)  # fmt: skip
CLEARLY_WEIGHT = word_set("""
    pweight fweight dweight pspwght pspweight pwgtp finalwt perwt hhwt gewichtung hrf phrf hhrf hochrechnung
    hochrechnungsfaktor ponderation ponderador ponderacion ponderacao ponderazione fexp facexp weging
    weegfactor
    wegingsfactor fnlwgt afnlwgt wtfinl asecwt coeffy sampling sample survey design expansion
    extrapolation grossing
    calibrated calibration poststratification final hochrechn muestral amostral campionario echantillonnage
    analityczna statistical analytic analytical analysis stichprobe stichprobengewicht
    gewichtungsfaktor factor faktor
    facteur fattore fator household haushalt menage hogar person population bevoelkerung projection steekproef
    cross sectional longitudinal inverse probability nonresponse hh redressement sondage wagi hhweight
    personweight hhgewicht pers personengewicht haushaltsgewicht analysegewicht designgewicht
    """)  # fmt: skip
LENGTH = word_set("""
    cm centimetres centimeters centimetri centimetros centimetro zentimeter inches metres meters
    meter metri metros
    """)  # fmt: skip
BIRTH = word_set("""
    birth naissance nacimiento nascita nascimento geburt geb geboorte urodzenia born geboren fodelse
    fodsel ne nac
    """)  # fmt: skip
COUNTRY = word_set("""
    country place pays lieu pais lugar paese luogo lugar kraj miejsce land ort plaats state region city county
    continent
    """)  # fmt: skip
YEAR = word_set("year annee ano anno jahr jaar rok ar month mois mes mese monat maand cohort")
SIZE = word_set("""
    size members n count structure groesse taille typ type composition number anzahl nombre numero
    numer liczba aantal
    tamano taille dimension dimensao dimensione tamanho grootte wielkosc persons personen personnes
    personas persone pessoas osob mitglieder
    membres miembros componenti
    """)  # fmt: skip
MONEY = word_set("""
    income incomes wage wages salary pay cost costs kosten expenses expenditure earnings einkommen
    ausgaben lohn revenu
    revenus salaire ingreso ingresos gasto gastos reddito spesa rendimento inkomen loon dochod profit
    tax taxes benefit
    benefits rent loan insurance
    """)  # fmt: skip
MAKE_UP = "the household's make-up"


def topic_named(name: str) -> Topic:
    """Give a topic by its name.

    >>> topic_named("age").role
    'key'
    """
    return next(topic for topic in TOPICS if topic.name == name)


# Words of names and labels, and the topic they speak of.


# What is written together with a word without turning its meaning: sexcode, hhsex, agecat.
_BESIDE = word_set("""
    code codes cod kod cd cat categ category class cl klasse grp gr group gruppe band bands lev level lvl lab
    label txt text str val value var rec recode recoded new old orig type typ num no nr n id x q v r p hh ref
    head resp respondent own self partner spouse father mother child dem demo my bin bracket range cohort
    status stat grouped detail det broad dummy d f i y yr yrs years completed urb rural z b e c g k m
    young old eldest youngest oldest pri main cur
    """)
# Too short, or of too many meanings, to be believed in a sentence.
_NOT_IN_LABELS = word_set("""
    w hh tel lat lon reg nr no num id edu occ name names class team unit time key date day tag status rel area block
    number nummer numero index record state ort land school schule job work arbeid praca trabajo lavoro district
    mobile handy cell fax calle rue street mail plate height taille kon gew wt fw pw lengte grado degree activity
    year jahr annee ano anno jaar rok month quarter week round wave panel survey staff plant grade site station
    lab drug stress procedure treatment victim union party charges bill rent loan pay tax inc dis land uf lan dag
    client member student company number num lp obs ar n p arrival died death arrest married spouse partnership
    language sprache langue lengua idioma lingua taal jezyk business location city town village building alta
    instruction studies estado etat numer stato stan staat
    """)
_IDS = word_set("id ident identifier identification identifiant identificador identificativo kennung idno")
_NUMBERS = word_set("id ident nr no num number idno identifier")
_NOT_IDS = word_set("""
    paid unpaid prepaid acid valid invalid covid rapid fluid hybrid solid grid android steroid thyroid typhoid
    medicaid aid said laid kid mid raid bid hid did void avoid amid lipid humid cuid madrid euclid
    """)  # fmt: skip
_BY_NAME = {topic.name: topic for topic in TOPICS}
_HAVE_MONEY = ("occupation", "education", MAKE_UP, "geography", "age", "a sampling weight")
_TALL = _BY_NAME["body height"].words
_WEIGHED = word_set("koerpergewicht lichaamsgewicht geburtsgewicht birthweight bodyweight kroppsvikt")
_HOUSED = word_set("ownrent rentown tenure housing")
_SHORT_WEIGHTS = ("wt", "wgt", "wght")  # LLCPWT, PIWT22
_WHO_IS_WEIGHED = ("birth", "body", "baby", "child", "mother", "brain", "bmx")
_COMPOUND = ("key", "sensitive", "weight", "household")
_LONG = 6  # a word so long is not part of another by chance
_READ = 14  # words of a label that are read: what stands behind explains
_SPELT = {
    "ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ł": "l", "Ł": "L", "ø": "o",
    "Ø": "O", "æ": "ae", "Æ": "Ae", "đ": "d", "ı": "i", "œ": "oe", "ð": "d",
}  # fmt: skip
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def words_of(name: str) -> tuple[str, ...]:
    """Cut a name into words: at signs, at capitals, without accents and figures.

    >>> words_of("HH_Size2"), words_of("dateOfBirth"), words_of("Größe é")
    (('hh', 'size'), ('date', 'of', 'birth'), ('groesse', 'e'))
    """
    spelt = "".join(_SPELT.get(letter, letter) for letter in unicodedata.normalize("NFC", name))
    bare = unicodedata.normalize("NFKD", spelt).encode("ascii", "ignore").decode()
    return tuple(part.lower() for part in _PART.findall(bare) if not part.isdigit())


def said_of(name: str) -> frozenset[str]:
    """Give the words of a name, its neighbours written as one, and all of it.

    >>> sorted(said_of("estado_civil"))
    ['civil', 'estado', 'estadocivil']
    """
    words = words_of(name)
    pairs = [first + second for first, second in pairwise(words)]
    return frozenset([*words, *pairs, "".join(words)])


def topic_of(name: str) -> Topic | None:
    """Give the topic a name speaks of, or None.

    >>> topic_of("Geschlecht").name, topic_of("net_income").role, topic_of("v17")
    ('sex or gender', 'sensitive', None)
    """
    said = said_of(name)
    words = frozenset(words_of(name))
    for unit in ("a household", "a person number", "a group one belongs to"):
        if words & _NUMBERS and _BY_NAME[unit].words & words and not words & SIZE - _NUMBERS:
            return _BY_NAME[unit]
    found = _topic_said(said)
    if found is None and any(len(word) > 3 and word.endswith(_SHORT_WEIGHTS) for word in words):
        weighed = any(word.startswith(_WHO_IS_WEIGHED) for word in words)
        return _BY_NAME["a body measure" if weighed else "a sampling weight"]
    if found is None and any(_is_id(word) for word in words):
        return _BY_NAME["an id"]
    return found


def topic_of_label(label: str) -> Topic | None:
    """Give the topic a variable's label speaks of, or None; words of many meanings are not believed.

    >>> topic_of_label("Age of the respondent at last birthday").name, topic_of_label("Lives in a nice area")
    ('age', None)
    """
    words = words_of(label)[:_READ]
    if len(words) <= 2:
        return topic_of(label)
    ids = bool(_IDS & {*words})
    for unit in ("a household", "a person number"):
        if ids and _BY_NAME[unit].words & {*words}:
            return _BY_NAME[unit]
    pairs = {first + second for first, second in pairwise(words)}
    tall = {*words} & _TALL if {*words} & (LENGTH | _BY_NAME["a household"].words) else set()
    return _topic_said(frozenset({*words, *pairs} - _NOT_IN_LABELS | tall), sentence=True)


def _topic_said(said: frozenset[str], *, sentence: bool = False) -> Topic | None:
    if said & LENGTH and said & _TALL:
        return _BY_NAME["body height"]
    if said & BIRTH:
        if said & COUNTRY:
            return _BY_NAME["a country of birth"]
        if not said & {"date", "datum", "data", "fecha", "day"} and (said & YEAR or not sentence):
            said = said - {"naissance", "nacimiento", "nascita", "nascimento"} | {"birth"}
        if said & {"date", "fecha", "datum", "data"}:
            return _BY_NAME["a date of birth"]
    if said & _WEIGHED:
        return _BY_NAME["a body measure"]
    found = next((topic for topic in TOPICS if _speaks(topic, said)), None)
    found = found or next((topic for topic in TOPICS if _ends(topic, said)), None)
    return None if found is None else _turned(found, said)


def _speaks(topic: Topic, said: frozenset[str]) -> bool:
    return bool(topic.words & said) or any(word.startswith(topic.stems) for word in said if topic.stems)


def _ends(topic: Topic, said: frozenset[str]) -> bool:
    """Germanic compounds: a Nettoeinkommen is an Einkommen."""
    ends = tuple(word for word in topic.words if len(word) >= _LONG)
    return bool(ends) and topic.role in _COMPOUND and any(word.endswith(ends) for word in said)


def _turned(topic: Topic, said: frozenset[str]) -> Topic:
    """What other words make of a topic: the weight in kilograms, the age at the last birthday."""
    if topic.role == "weight" and said & BODY:
        return _BY_NAME["a body measure"]
    if topic.name == "a date of birth" and said & _BY_NAME["age"].words:
        return _BY_NAME["age"]
    at_home = topic.role == "household" or (
        topic.name == "body height" and said & _BY_NAME["a household"].words
    )
    if at_home and said & SIZE:
        return _BY_NAME[MAKE_UP]
    if said & MONEY and topic.name in _HAVE_MONEY and not said & _HOUSED:
        return _BY_NAME["money"]
    if topic.name == "a person's name":
        return _what_has_a_name(said) or topic
    return topic


def _what_has_a_name(said: frozenset[str]) -> Topic | None:
    """The name of a country or a school is no name of a person."""
    for name in ("geography", "a group one belongs to", "occupation", "health"):
        if _BY_NAME[name].words & said:
            return _BY_NAME[name]
    return None


def _is_id(word: str) -> bool:
    return len(word) > 3 and word.endswith("id") and word not in _NOT_IDS


def says_id(name: str) -> bool:
    """Tell whether a name means an id, not a number or a code of something.

    >>> says_id("case_id"), says_id("UTILITYID"), says_id("key1"), says_id("paid")
    (True, True, False, False)
    """
    words = {*words_of(name)}
    return bool(words & (_IDS | {"uid", "caseid", "respondent"})) or any(_is_id(word) for word in words)


def says_sampling(text: str) -> bool:
    """Tell whether a name or label that speaks of a weight means the sample's.

    >>> says_sampling("sampling_weight"), says_sampling("weight"), says_sampling("PERWT")
    (True, False, True)
    """
    words = {*words_of(text)} | said_of(text)
    return bool(words & CLEARLY_WEIGHT) and not words & BODY


def says_body(text: str) -> bool:
    """Tell whether a name or label means the weight of a body.

    >>> says_body("weight_kg"), says_body("weight")
    (True, False)
    """
    return bool({*words_of(text)} & BODY)


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
