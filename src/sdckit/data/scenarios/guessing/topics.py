"""What words of names and labels speak of, in the languages survey files are written in."""

from __future__ import annotations

from dataclasses import dataclass


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
