"""Coordinates: latitude and longitude identify together, so they are judged together."""

from __future__ import annotations

from collections.abc import Mapping

from sdckit.data.scenarios.guessing.facts import Facts
from sdckit.data.scenarios.guessing.spoken import Spoken
from sdckit.data.scenarios.guessing.topics import word_set
from sdckit.data.scenarios.guessing.words import words_of
from sdckit.data.scenarios.scenario_toml import toml_string

_ACROSS = word_set(
    "lon long lng longitude longitud longitudine laengengrad laenge lengtegraad dlugosc x xcoord geox easting longnum"
)
_UP = word_set(
    "lat lats latitude latitud latitudine breitengrad breite breedtegraad szerokosc y ycoord geoy northing latnum"
)


def coordinates_of(
    facts: Mapping[str, Facts], spoken: Mapping[str, Spoken], labels: Mapping[str, str]
) -> dict[str, str]:
    """Give the columns of pairs of coordinates, each with its reason.

    Parameters
    ----------
    facts, spoken, labels
        Of every column.
    """
    words = {name: {*words_of(name), *words_of(labels.get(name, ""))} for name in facts}
    ups = [name for name in facts if _may_be(facts[name], words[name] & _UP)]
    acrosses = [name for name in facts if _may_be(facts[name], words[name] & _ACROSS)]
    found: dict[str, str] = {}
    for up in ups:
        mates = (name for name in acrosses if name not in (up, *found))
        mate = next((name for name in mates if _are_pair(up, name, facts, spoken)), None)
        if mate is not None:
            found |= {
                one: f"with {toml_string(other)} a place on the map"
                for one, other in ((up, mate), (mate, up))
            }
    return found


def _may_be(facts: Facts, said: set[str]) -> bool:
    return facts.number and facts.levels > 1 and bool(said)


def _are_pair(up: str, across: str, facts: Mapping[str, Facts], spoken: Mapping[str, Spoken]) -> bool:
    """One of the two must be spoken of as a coordinate; both must lie on the globe, or on a metric grid."""
    if not any(spoken[name].role == "coordinate" for name in (up, across)):
        return False
    globe = (
        (facts[up].fraction or facts[across].fraction) and facts[up].minimum >= -90 and facts[up].maximum <= 90
        and facts[across].minimum >= -180 and facts[across].maximum <= 360
    )  # fmt: skip
    metric = {"northing", "easting", "xcoord", "ycoord", "geox", "geoy"} & {*words_of(up), *words_of(across)}
    return globe or bool(metric)
