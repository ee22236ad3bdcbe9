"""Latitude and longitude."""

from __future__ import annotations

import polars as pl
import pytest

from sdckit.data.scenarios.guessing.facts import facts_of
from sdckit.data.scenarios.guessing.places import coordinates_of
from sdckit.data.scenarios.guessing.spoken import spoken_of


def places(labels=None, **columns):
    facts = {name: facts_of(pl.Series(name, values)) for name, values in columns.items()}
    return coordinates_of(facts, spoken_of(tuple(facts.values()), labels or {}), labels or {})


FINE = [47.1234 + i / 100 for i in range(30)]


@pytest.mark.parametrize(
    ("up", "across"),
    [("lat", "long"), ("latitude", "longitude"), ("GPS_LAT", "GPS_LON"), ("breitengrad", "laengengrad"),
     ("latitud", "longitud"), ("latitude_dec", "lng")],
)  # fmt: skip
def test_pairs(up, across):
    found = places(**{up: FINE, across: FINE, "age": FINE})
    assert set(found) == {up, across}
    assert across in found[up]


def test_labels_say_it_too():
    assert set(places({"v1": "Latitude of dwelling", "v2": "Longitude of dwelling"}, v1=FINE, v2=FINE)) == {
        "v1",
        "v2",
    }


def test_what_is_no_pair():
    assert places(lat=FINE) == {}
    assert places(long=FINE, short=FINE) == {}
    assert places(lat=[one * 100 for one in FINE], long=FINE) == {}  # not on the globe
    assert places(lat=[1, 2] * 15, long=[0, 1] * 15) == {}  # answers
    assert places(x=FINE, y=FINE) == {}  # nothing says that they are places
    assert places(lat=["a", "b"] * 15, long=FINE) == {}


def test_metres_of_a_grid():
    assert set(places(easting=[i * 1000 for i in range(30)], northing=[5_000_000 + i for i in range(30)])) == {
        "easting", "northing",
    }  # fmt: skip
