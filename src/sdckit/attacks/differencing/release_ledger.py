"""A ledger of what was released: added to before a file goes out, asked before the next one does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sdckit.attacks.differencing.opened_release import open_release
from sdckit.attacks.differencing.sketching import sketch_release
from sdckit.data import arguments
from sdckit.data.ledger.digests import Digester
from sdckit.data.ledger.ledger_file import LedgerEntry, LedgerFile, create_file, open_file
from sdckit.data.ledger.ledger_key import make_key, read_key
from sdckit.data.ledger.sketch import Sketch
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import Displayed, plain_html
from sdckit.errors import DataError, ScenarioError


class ReleaseLedger(Displayed):
    """Releases remembered by keyed digests: a folder with `ledger.toml` and a Parquet file for each release.

    Of a release it keeps for some sets of columns the HMAC-SHA256 of every combination of values and the number of
    records that have it, both sealed once more. Without the key, which is a file kept apart, all of it looks random:
    only how many combinations each set of columns has can be read, and the names of releases and columns.

    Attributes
    ----------
    survey : str
        What the releases are releases of.
    entries : tuple of LedgerEntry
        The releases, in the order they were added.

    References
    ----------
    Krawczyk, H., Bellare, M. and Canetti, R. (1997). HMAC: keyed-hashing for message authentication. RFC 2104.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> folder = tempfile.mkdtemp()
    >>> ledger = ReleaseLedger.create(f"{folder}/ledger", key=f"{folder}/ledger.key", survey="Health survey")
    >>> survey = pl.DataFrame({"sex": ["f", "f", "m"], "age": [30, 30, 41], "ill": ["no", "yes", "no"]})
    >>> ledger = ledger.add(survey, name="2024", keys=["sex", "age"], sensitive=["ill"])
    >>> [one.name for one in ReleaseLedger.open(f"{folder}/ledger", key=f"{folder}/ledger.key").entries]
    ['2024']
    """

    def __init__(self, file: LedgerFile) -> None:
        self._file = file

    @classmethod
    def create(cls, folder: str | Path, *, key: str | Path, survey: str) -> ReleaseLedger:
        """Start a ledger and make up its key.

        Parameters
        ----------
        folder : str or Path
            Is made where there is none.
        key : str or Path
            The file for the key, which nobody but its owner may read. Keep it apart from the folder, and keep a copy:
            without it the ledger answers nothing.
        survey : str
            What the releases are releases of.

        Raises
        ------
        FileFormatError
            There is a ledger, or a file where the key is to be; or they cannot be written.
        DataError
            No name of a survey; the key in the folder of the ledger.
        """
        place, file = Path(folder), Path(key)
        if not arguments.text(survey, "survey").strip():
            raise DataError("survey is empty; say what the releases are releases of", argument="survey")
        if file.resolve().parent == place.resolve():
            raise DataError(
                "the key is kept apart from the ledger: name a file outside its folder", argument="key"
            )
        if (place / "ledger.toml").exists():  # before a key is made up for nothing
            return cls(create_file(place, survey, Digester(b"")))
        return cls(create_file(place, survey, Digester(make_key(file))))

    @classmethod
    def open(cls, folder: str | Path, *, key: str | Path, survey: str | None = None) -> ReleaseLedger:
        """Open a ledger with its key; `survey` says of what it must be.

        Raises
        ------
        FileFormatError
            There is no ledger, or no key.
        DataError
            The key of another ledger, or one that others can read; a ledger of another survey.
        """
        found = open_file(Path(folder), Digester(read_key(Path(key))))
        if survey is not None and arguments.text(survey, "survey") != found.survey:
            raise DataError(
                f"the ledger is of the survey {found.survey!r}, and not of {survey!r}; open that survey's own",
                argument="survey",
            )
        return cls(found)

    @property
    def survey(self) -> str:
        """What the releases are releases of."""
        return self._file.survey

    @property
    def entries(self) -> tuple[LedgerEntry, ...]:
        """The releases, in the order they were added."""
        return self._file.entries

    def add(
        self,
        data: Any,
        *,
        name: str,
        keys: Sequence[str] | Sequence[Sequence[str]] | None = None,
        sensitive: Sequence[str] | str = (),
        scenario: Scenario | None = None,
        date: str = "",
        people: str = "",
        id: str | None = None,
    ) -> ReleaseLedger:
        """Remember a release, and give the ledger with it.

        Parameters
        ----------
        data : data frame
            The release as it goes out.
        name : str
            What it is called; each once.
        keys : sequence of str, or of sequences of str
            What an intruder could know, or each of several.
        sensitive : str or sequence of str
            What they would learn.
        scenario : Scenario, optional
            Gives keys and sensitive variables that are not given here.
        date : str
            A year, a month or a day.
        people : str
            Whom it is about, in a word or two ("wave 2024"). Releases that say the same are taken to be about the same
            people.
        id : str, optional
            A column with a value of its own for each person, the same in every release. It need not go out with the
            release. Only with it the ledger can find later what releases give away of a person together; then it holds
            a digest of every id.

        Raises
        ------
        ColumnError
            A column is absent.
        DataError
            The name is taken; no records; an id that several records share.
        ScenarioError
            Neither keys nor scenario.
        FileFormatError
            It cannot be written.
        """
        for text, argument in ((name, "name"), (date, "date"), (people, "people")):
            arguments.text(text, argument)
        arguments.column_or_none(id, "id")
        own, targets = key_sets(keys, sensitive, scenario)
        columns = tuple(dict.fromkeys([*(one for some in own for one in some), *targets]))
        opened = open_release(data, columns, id=id, name=name, role="keys and sensitive")
        sketch: Sketch = sketch_release(opened, own, targets, self._file.digester, id=id)
        return ReleaseLedger(self._file.with_entry(name, sketch, date=date, people=people))

    def _sketch(self, entry: LedgerEntry) -> Sketch:
        return self._file.read(entry)

    @property
    def _digester(self) -> Digester:
        return self._file.digester

    def _repr_html_(self) -> str:
        return plain_html("\n".join([repr(self), *(_entry_line(one) for one in self.entries)]))

    def __repr__(self) -> str:
        n = len(self.entries)
        return f"ReleaseLedger(survey={self.survey!r}, {n} release{'' if n == 1 else 's'})"


def _entry_line(one: LedgerEntry) -> str:
    return ", ".join(filter(None, (one.name, one.date, one.people)))


def key_sets(
    keys: Any, sensitive: Any, scenario: Scenario | None, *, name: str = "keys"
) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]:
    """The keys of each intruder, and the sensitive variables, as given or as a scenario says."""
    scenario = arguments.scenario_or_none(scenario)
    targets = arguments.names(sensitive, "sensitive", single=True) or ()
    if keys is None and scenario is None:
        raise ScenarioError("say which variables an intruder knows: keys=[...] or scenario=", argument="keys")
    if keys is None:
        assert scenario is not None
        own = tuple(scenario.intruders.values())
    elif isinstance(keys, str) or not hasattr(keys, "__iter__"):
        own = (arguments.names(keys, name) or (),)
    else:
        given = tuple(keys)
        nested = given and all(not isinstance(one, str) and hasattr(one, "__iter__") for one in given)
        own = tuple(arguments.names(one, name) or () for one in given) if nested else (
            arguments.names(given, name) or (),)  # fmt: skip
    if not own or any(not one for one in own):
        raise ScenarioError(f"{name} is empty; name at least one column", argument=name)
    if not targets and scenario is not None:
        targets = scenario.sensitive
    return own, tuple(name for name in targets)
