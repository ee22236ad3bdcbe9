"""Translations of documents: a file of entries for each language, looked up text by text.

An entry is an English text of the documents, with placeholders for what varies: ``{n}`` a printed number, ``{d}`` a
date, ``{c}`` what is never translated (names of columns, values), ``{l}`` a list of such, ``{k}`` one of known names
only, ``{t}`` a text that has an entry of its own, ``{r}`` the rule for missing values in brackets or nothing, ``{v}`` a
word that is kept. A digit after the letter tells placeholders of one kind apart.
"""

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

PLACE = re.compile(r"\{([ncdlkrvt])(\d*)\}")
_DIGITS = r"-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?(?: ?%)?"
_PRINTED = rf"(?:<|about |over |under |up to )?{_DIGITS}"
NUMBER = rf"(?:{_PRINTED}(?:(?:–| to ){_DIGITS})?|withheld)"
_KINDS = {
    "n": NUMBER, "c": r".+?", "l": r".+?", "k": r".+?", "v": r"\S+?", "t": r".+?", "d": r"\d{4}-\d\d-\d\d",
    "r": r"(?: \((?:missing as wildcard|missing as category)\))?",
}  # fmt: skip
_QUOTED = r"[^“”]+?"
_NUMERAL = re.compile(r"(?<![\w.,])-?\d+(?:,\d{3})*(?:\.\d+)?(?![\w]|[.,]\d)|\d\.\d+e")
_WORD_IN_NUMBER = re.compile(r"\b(about|over|under|up to|to|withheld)\b")
_SENTENCE = re.compile(r"(?<=[.?!]) (?=[A-Z0-9“<])")
_FURTHER = re.compile(r"(?<=') and ([\d,]+ more)$")  # of names in quotes
_WHOLE_NUMBER = re.compile(NUMBER)
# A formula, as a recipe writes it: its operands are columns, numbers, and what stands in brackets.
_BRACKET = "()"
_BRACKETS = re.compile(r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
_NAME = re.compile(r"[^\W\d]\w*|`[^`]+`")
_OPERAND = r"(?:[^\W\d]\w*|`[^`]+`|[\d.]+(?:e[-+]?\d+)?|(?:log|exp|sqrt)?\(\))"
_FORMULA = re.compile(rf"-?{_OPERAND}(?: (?:[-+/]|\*\*?) {_OPERAND})+|(?:log|exp|sqrt)?\(\)")
LONGEST_RUN = 4  # sentences that share an entry
SOFT_HYPHEN = "\u00ad"
DEEPEST = 4  # texts within texts

Report = Callable[[str], None]


@dataclass(frozen=True)
class Entry:
    """A text with placeholders and its translation, in singular and plural where these differ."""

    english: str
    forms: tuple[str, ...]

    @cached_property
    def places(self) -> tuple[str, ...]:
        """Names of the placeholders, in their order."""
        return tuple(kind + number for kind, number in PLACE.findall(self.english))

    @cached_property
    def literals(self) -> tuple[str, ...]:
        """Literal texts before, between and after the placeholders."""
        return tuple(PLACE.split(self.english)[::3])

    @cached_property
    def anchor(self) -> str:
        """The longest literal, which every matching text contains."""
        return max(self.literals, key=len)

    @cached_property
    def rank(self) -> tuple[int, int]:
        """Sorting key: entries with more literal text and fewer open placeholders are tried first."""
        return -sum(map(len, self.literals)), sum(place[0] in "cltk" for place in self.places)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Regular expression of the matching texts, compiled on first use."""
        parts = [re.escape(self.literals[0])]
        for place, before, after in zip(self.places, self.literals, self.literals[1:], strict=False):
            kind = _QUOTED if before.endswith("“") else _KINDS[place[0]]
            parts += [f"({kind})", re.escape(after)]
        return re.compile("".join(parts), re.DOTALL)

    def filled(self, translations: Sequence[str], given: Sequence[str]) -> str:
        """Fill the placeholders with the `translations` of the texts `given`, in singular or plural."""
        number = next((text for place, text in zip(self.places, given, strict=True) if place[0] == "n"), "")
        form = self.forms[0] if number == "1" else self.forms[-1]
        by_place = dict(zip(self.places, translations, strict=True))
        return PLACE.sub(lambda place: by_place[place[1] + place[2]], form)


@dataclass(frozen=True)
class Wording:
    """A language: its entries, number format, and the hyphenation of long words."""

    code: str
    name: str
    decimal: str
    thousands: str
    date: str
    numbers: Mapping[str, str]
    breaks: Mapping[str, str]
    heads: Mapping[str, str]
    exact: Mapping[str, str]
    entries: Sequence[Entry] = field(repr=False)

    @cached_property
    def _indexed(self) -> tuple[Mapping[str, Sequence[Entry]], Sequence[Entry]]:
        """Entries by their first word, and those that start with a placeholder; each sorted by rank."""
        by_word: dict[str, list[Entry]] = {}
        others: list[Entry] = []
        for entry in sorted(self.entries, key=lambda entry: entry.rank):
            start = entry.literals[0]
            (by_word.setdefault(start.partition(" ")[0], []) if " " in start else others).append(entry)
        return by_word, others

    @property
    def marks(self) -> dict[str, Any]:
        """Vega's number locale, for axes."""
        return {"decimal": self.decimal, "thousands": self.thousands, "grouping": [3], "currency": ["", ""]}

    def number(self, text: str) -> str:
        """Convert a printed number to the format of this language.

        Examples
        --------
        >>> from sdckit.report.language import wording
        >>> wording("de").number("1,855.5"), wording("de").number("about 0.2")
        ('1.855,5', 'etwa 0,2')
        """
        marks = {",": self.thousands, ".": self.decimal}
        written = _NUMERAL.sub(lambda numeral: re.sub("[.,]", lambda mark: marks[mark[0]], numeral[0]), text)
        written = re.sub(r"(?<=\d) ?%", "\u00a0%", written)
        return _WORD_IN_NUMBER.sub(lambda word: self.numbers.get(word[0], word[0]), written)

    def divided(self, text: str) -> str:
        """Insert soft hyphens into long words."""
        return self._long.sub(lambda word: self.breaks[word[0]], text) if self.breaks else text

    @cached_property
    def _long(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, sorted(self.breaks, key=len, reverse=True))))

    def translate(self, text: str, kept: Collection[str] = (), report: Report = lambda _: None) -> str:
        """Translate a text, as a whole or sentence by sentence; what has no translation is kept and reported."""
        if (translation := self._translation(text, kept)) is not None:
            return translation
        pieces = _SENTENCE.split(text)
        translated, at = [], 0
        while at < len(pieces):
            for run in range(1, min(LONGEST_RUN, len(pieces) - at) + 1):
                sentence = " ".join(pieces[at : at + run])
                translation = self._translation(sentence, kept, most=run)
                if translation is not None:
                    break
            else:
                run, sentence = 1, pieces[at]
                translation = self._translation(sentence, kept, most=run, lenient=report)
            if translation is None:
                report(sentence)
            translated.append(sentence if translation is None else translation)
            at += run
        return " ".join(translated)

    def _translation(
        self, text: str, kept: Collection[str], *, most: int = 1, lenient: Report | None = None, depth: int = 0
    ) -> str | None:
        """Translate a text of at most `most` sentences by one entry; None without one."""
        if depth and text in kept:  # in a list: a column may be called like a text of ours
            return text
        if text in self.exact:
            return self.exact[text]
        if not any(map(str.isalpha, text)) or _WHOLE_NUMBER.fullmatch(text):
            return self.number(text)
        if text in kept:
            return text
        if "; " in text and (translation := self._rules(text, kept, depth)) is not None:
            return translation
        if len(_SENTENCE.findall(text)) < most:
            for entry in self._candidates(text):
                match = entry.pattern.fullmatch(text)
                if match and (translation := self._filled(entry, match, kept, lenient, depth)) is not None:
                    return translation
        return self._listed(text, kept, depth) or self._formula(text, kept, depth)

    def _candidates(self, text: str) -> Iterable[Entry]:
        by_word, others = self._indexed
        yield from (entry for entry in by_word.get(text.partition(" ")[0], ()) if entry.anchor in text)
        yield from (other for other in others if other.anchor in text)

    def _filled(
        self, entry: Entry, match: re.Match[str], kept: Collection[str], lenient: Report | None, depth: int
    ) -> str | None:
        given = match.groups()
        translations = []
        for place, text in zip(entry.places, given, strict=True):
            translation = self._placed(place[0], text, kept, lenient, depth)
            if translation is None:
                return None
            translations.append(translation)
        return entry.filled(translations, given)

    def _placed(self, kind: str, text: str, kept: Collection[str], lenient: Report | None, depth: int) -> str | None:
        """Translate the text of a placeholder; None where it does not fit the placeholder's kind."""
        if kind == "n":
            return self.number(text)
        if kind == "d":
            year, month, day = text.split("-")
            return self.date.format(year=year, month=month, day=day)
        if kind == "r":
            rule = text[2:-1]
            return text and f" ({self.exact.get(rule, rule)})"
        if kind == "l":
            return self._listed(text, kept, depth) or text
        if kind == "c" and (ending := _FURTHER.search(text)):
            return f"{text[: ending.start()]} {self.numbers['and']} {self._translation(ending[1], kept, depth=depth)}"
        if kind == "k":
            return text if text in kept else self._listed(text, kept, depth)
        return self._nested(text, kept, lenient, depth) if kind == "t" else text

    def _nested(self, text: str, kept: Collection[str], lenient: Report | None, depth: int) -> str | None:
        """Translate a text within a text, also as if it began with a capital."""
        if depth >= DEEPEST:
            return None
        if text in kept:
            return text
        for variant in (text, text[:1].upper() + text[1:]):
            translation = self._translation(variant, kept, depth=depth + 1, lenient=lenient)
            if translation is not None:
                return translation
        if lenient is None:
            return None
        lenient(text)
        return text

    def _listed(self, text: str, kept: Collection[str], depth: int) -> str | None:
        """Translate an enumeration item by item; None if an item has no translation or it is no enumeration."""
        for last in ("and", "or"):
            before, joint, after = text.rpartition(f" {last} ")
            parts = [*before.split(", "), after] if joint else text.split(", ")
            if len(parts) < 2 or depth >= DEEPEST:
                continue
            translations = [self._translation(part, kept, depth=depth + 1) for part in parts]
            if None not in translations:
                known = [translation for translation in translations if translation is not None]
                return f"{', '.join(known[:-1])} {self.numbers[last]} {known[-1]}" if joint else ", ".join(known)
        return None

    def _rules(self, text: str, kept: Collection[str], depth: int) -> str | None:
        """Translate several rules or reasons one by one, before the name in an entry takes in all that follows.

        A single word is a column, which the document may not name elsewhere. None if an item has no translation.
        """
        if depth >= DEEPEST:
            return None
        words = [
            self._translation(rule, kept, depth=depth + 1) or (rule if " " not in rule else None)
            for rule in text.split("; ")
        ]
        return None if None in words else "; ".join(filter(None, words))

    def _formula(self, text: str, kept: Collection[str], depth: int) -> str | None:
        """Translate what stands in the brackets of a formula, "12 * (the year in born)"; None if it is none."""
        given = _BRACKETS.findall(text)
        if depth >= DEEPEST or not _FORMULA.fullmatch(_BRACKETS.sub(_BRACKET, text)):
            return None
        translated = [
            inner if _NAME.fullmatch(inner) else self._translation(inner, kept, depth=depth + 1)
            for inner in (bracket[1:-1] for bracket in given)
        ]
        if None in translated:
            return None
        inserted = iter(translated)
        return _BRACKETS.sub(lambda _: f"({next(inserted)})", text)


def read_wording(code: str, *texts: str) -> Wording:
    """Compile the word files of a language."""
    trees = [tomllib.loads(text) for text in texts]
    language: dict[str, Any] = {**trees[0]["language"]}
    words: dict[str, tuple[str, ...]] = {}
    for english, other in (pair for tree in trees for pair in tree["texts"].items()):
        words[english] = (other,) if isinstance(other, str) else tuple(other)
    return Wording(
        code,
        language["name"],
        language["decimal"],
        language["thousands"],
        language["date"],
        trees[0]["numbers"],
        {word.replace("|", ""): word.replace("|", SOFT_HYPHEN) for word in language.get("breaks", ())},
        trees[0].get("heads", {}),
        {english: forms[-1] for english, forms in words.items() if not PLACE.search(english)},
        tuple(Entry(english, forms) for english, forms in words.items() if PLACE.search(english)),
    )


# Translation of single texts, for programs that talk before they compute: only the words are loaded.


ENGLISH = "en"
FILE = re.compile(r"[a-z]{2}\.toml")


@cache
def languages() -> tuple[str, ...]:
    """Codes of the available languages: English, and those with a word file."""
    names = (file.name for file in files("sdckit.report").joinpath("words").iterdir())
    return (ENGLISH, *sorted(name.removesuffix(".toml") for name in names if FILE.fullmatch(name)))


@cache
def wording(language: str) -> Wording:
    """The compiled words of a language other than English."""
    folder = files("sdckit.report").joinpath("words")
    return read_wording(language, folder.joinpath(f"{language}.toml").read_text(encoding="utf-8"))


def say(text: str, language: str = ENGLISH, names: Collection[str] = ()) -> str:
    """Translate a text of the package; `names` in it are kept.

    Examples
    --------
    >>> say("Contents"), say("Contents", "de")
    ('Contents', 'Inhalt')
    """
    return text if language == ENGLISH else wording(language).translate(text, names)
