"""Seeds: made up where none is given, mixed with a secret, and told where they are short."""

from __future__ import annotations

import hmac
import threading
import warnings

import numpy as np
import pytest

import sdckit as sdc
from sdckit.data.seeds import SHORT, Mixed, hmac_digests, is_short, open_rng, read_secret, warn_of_short
from sdckit.display import exact_shown
from sdckit.errors import DataError, SdcWarning

YEARS = range(1900, 2100)


def test_the_seed_kept_makes_the_same_numbers():
    for given in (None, 7, np.int64(7), np.random.default_rng(3)):
        rng, seed = open_rng(given)
        again, same = open_rng(seed)
        assert type(seed) is int
        assert seed == same
        assert rng.random() == again.random()
    assert open_rng(np.random.default_rng(3))[1] == open_rng(np.random.default_rng(3))[1]


def test_a_number_is_the_seed_itself():
    assert open_rng(7)[1] == 7
    assert open_rng(7)[0].random() == np.random.default_rng(7).random()


def test_seeds_and_secrets_made_up_are_long_and_never_the_same():
    seeds = [open_rng(None)[1] for _ in range(200)]
    assert len(set(seeds)) == 200
    assert max(seeds).bit_length() == 128 > min(seeds).bit_length() - 1 > 100
    made = [read_secret(None) for _ in range(200)]
    assert {len(one) for one in made} == {32}
    assert len(set(made)) == 200


@pytest.mark.parametrize("seed", [-1, 1.0, "1", True, [1]])
def test_no_other_seed(seed):
    with pytest.raises(DataError, match="seed= takes a whole number"):
        open_rng(seed)


def test_a_secret_as_bytes_or_text():
    assert read_secret(bytes(range(16))) == read_secret(bytes(range(16)).hex())
    assert read_secret(b"\0" * 16) == bytes(16)


@pytest.mark.parametrize("given", [b"", bytes(15), "00" * 15, 7, True, bytearray(16)])
def test_a_short_secret_is_refused(given):
    with pytest.raises(DataError, match=r"^secret= is 16 random bytes or more; .* kept in log.secret$") as caught:
        read_secret(given)
    assert caught.value.argument == "secret"


def test_a_text_that_is_no_hexadecimal_is_refused_and_not_shown():
    with pytest.raises(DataError, match=r"^key= as a text is hexadecimal, as in here; ") as caught:
        read_secret("my mother's name is Zq7Qx", name="key", kept="here")
    assert "Zq7Qx" not in str(caught.value)


def test_steps_seeds_and_secrets_are_told_apart():
    secrets = [bytes(16), b"\1" * 16, b"\1" * 17, bytes(range(32))]
    seeds = [0, 1, 10, 16, 17, 1999, 2**64, 2**200]
    found = {Mixed(one, seed).of_step(number) for one in secrets for seed in seeds for number in range(1, 40)}
    assert len(found) == len(secrets) * len(seeds) * 39
    assert max(found) < 2**128
    assert sum(one < SHORT for one in found) == 0


def test_each_bit_of_a_step_seed_is_even():
    bits = np.array([[Mixed(bytes(32), 1).of_step(n) >> bit & 1 for bit in range(128)] for n in range(2000)])
    assert np.abs(bits.mean(0) - 0.5).max() < 0.06


def test_a_step_draws_the_same_in_every_version():
    # HMAC-SHA256 of b"sdckit seed of step 3: 7" under the bytes 0 to 31, its first 16 bytes (hmac of Python 3.11)
    assert f"{Mixed(bytes(range(32)), 7).of_step(3):032x}" == "fd2848b7c2d64bf552ce4925c837e76f"


def test_nothing_secret_is_printed():
    assert repr(Mixed(bytes(range(32)), 987654321)) == "Mixed()"


@pytest.mark.parametrize(
    "seed", [0, 7, *YEARS[::40], 2**32, 2**63, SHORT - 1, np.int64(5), np.random.default_rng(1999)]
)
def test_a_short_seed_warns(seed):
    assert is_short(seed)
    with pytest.warns(SdcWarning, match=r"below 2\^64, such as a year, can be guessed. .* the log does both; .* Leave"):
        warn_of_short(seed, keeper="log")


@pytest.mark.parametrize("seed", [None, SHORT, 2**127, np.random.default_rng(2**80), np.random.default_rng([1999, 7])])
def test_a_long_one_does_not(seed):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_short(seed, keeper="log")
    assert not is_short(seed)


# What a session shows: protected, exact in a block or for the rest of the session, and put back.


def test_a_block_puts_back_what_was_before() -> None:
    with sdc.options(exact=True):
        assert exact_shown.get()
        with sdc.options(exact=False):
            assert not exact_shown.get()
        assert exact_shown.get()
    assert not exact_shown.get()
    with pytest.raises(ZeroDivisionError), sdc.options(exact=True):
        _ = 1 / 0
    assert not exact_shown.get()


def test_called_alone_it_holds_until_it_is_called_again() -> None:
    assert repr(sdc.options(exact=True)) == "options(exact=True)"
    assert exact_shown.get()
    sdc.options(exact=False)
    assert not exact_shown.get()


def test_other_threads_keep_what_they_have() -> None:
    seen = []
    with sdc.options(exact=True):
        thread = threading.Thread(target=lambda: seen.append(exact_shown.get()))
        thread.start()
        thread.join()
    assert seen == [False]


def test_nothing_else_than_true_and_false() -> None:
    with pytest.raises(DataError, match="exact"):
        sdc.options(exact=1)  # type: ignore[arg-type]
    assert not exact_shown.get()


@pytest.mark.parametrize("length", [16, 63, 64, 65, 200])
def test_digests_of_many_messages_are_those_of_each(length):
    key, messages = bytes(range(length)), [b"", b"n1", bytes(200), *(b"%d" % i for i in range(50))]
    for about in (b"", b"about", bytes(100)):
        assert hmac_digests(key, messages, about) == [hmac.digest(key, about + text, "sha256") for text in messages]
