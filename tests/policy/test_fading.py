"""The closed form of fading: the same however often it was asked, never rising, and the same in SQL."""

from datetime import UTC, datetime, timedelta

import numpy as np
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.policy import load_policy
from reverie.policy.fading import as_real, forget_at, value_at

ORIGIN = datetime(2026, 1, 1, tzinfo=UTC)
#: One step of a `real` below 1, where two roundings may differ.
STEP = 2.0**-23

peaks = st.floats(0.0, 1.0, width=32)
rates = st.sampled_from([0.0, 0.003, 0.004, 0.005, 0.008, 0.01, 0.5, 1e-9])
graces = st.sampled_from([0.0, 7.0, 14.5])
waits = st.timedeltas(timedelta(0), timedelta(days=4000))
moments = waits.map(lambda wait: ORIGIN + wait)
thresholds = st.sampled_from([0.0, 0.1, 0.2, 1.0])
unaccessed = st.sampled_from([0.0, 3.0, 30.0])


@given(peaks, moments, waits, waits, rates, graces)
def test_a_later_value_is_never_higher(peak, accessed, first, second, rate, grace):
    early = value_at(peak, accessed, accessed + first, rate=rate, grace_days=grace)
    late = value_at(peak, accessed, accessed + first + second, rate=rate, grace_days=grace)
    assert 0.0 <= late <= early <= peak


@given(peaks, moments, waits, waits, rates, graces)
def test_what_fades_in_between_adds_up(peak, accessed, first, second, rate, grace):
    """One step over the whole time is the sum of two steps: nothing decays twice."""
    middle, end = accessed + first, accessed + first + second
    whole = value_at(peak, accessed, end, rate=rate, grace_days=grace)
    beyond = [max((at - accessed) / timedelta(days=1) - grace, 0.0) for at in (middle, end)]
    half = value_at(peak, accessed, middle, rate=rate, grace_days=grace)
    assert abs(whole - max(half - rate * (beyond[1] - beyond[0]), 0.0)) <= 2 * STEP


@given(peaks, moments, rates, graces, thresholds, unaccessed)
def test_it_is_forgotten_when_faded_and_unaccessed(peak, accessed, rate, grace, below, idle):
    when = forget_at(peak, accessed, rate=rate, grace_days=grace, below=below, unaccessed_days=idle)
    if when is None:
        assert value_at(peak, accessed, ORIGIN + timedelta(days=9000), rate=rate, grace_days=grace) >= below - STEP
        return
    assert when >= accessed + timedelta(days=idle)
    assert value_at(peak, accessed, when, rate=rate, grace_days=grace) <= below + STEP
    before = when - timedelta(seconds=1)
    still_kept = value_at(peak, accessed, before, rate=rate, grace_days=grace) >= below - STEP
    assert still_kept or before < accessed + timedelta(days=idle)


def test_the_numbers_of_the_seed():
    """A dog's name with importance 0.8 loses 0.003 a day after the 7th day (Contact 2.2)."""
    value = value_at(0.8, ORIGIN, ORIGIN + timedelta(days=107), rate=0.003, grace_days=7.0)
    assert value == as_real(0.5)
    when = forget_at(0.8, ORIGIN, rate=0.01, grace_days=7.0, below=0.1, unaccessed_days=30.0)
    assert when is not None and abs(when - ORIGIN - timedelta(days=77)) < timedelta(seconds=5)
    faint = forget_at(0.05, ORIGIN, rate=0.01, grace_days=7.0, below=0.1, unaccessed_days=30.0)
    assert faint == ORIGIN + timedelta(days=30)


def test_sql_has_the_same_bits(conn: psycopg.Connection) -> None:
    """The expressions of the module's docstring, which set-based statements use."""
    random = np.random.default_rng(7)
    numbers: dict[str, float] = {"rate": 0.003, "grace_days": 7.0, "below": 0.1, "unaccessed_days": 30.0}
    peak = random.random(2000).astype(np.float32)
    accessed = [ORIGIN + timedelta(microseconds=int(wait)) for wait in random.integers(0, 10**14, 2000)]
    at = ORIGIN + timedelta(days=900, microseconds=1)
    rows = conn.execute(
        """select greatest(peak::float8 - %(rate)s::float8 * greatest(
                      extract(epoch from %(at)s - accessed_at)::float8 / 86400 - %(grace_days)s::float8, 0), 0)::real,
                  accessed_at + make_interval(secs => 86400 * greatest(%(unaccessed_days)s::float8,
                      case when peak < %(below)s::real then 0
                           else %(grace_days)s::float8 + (peak::float8 - %(below)s::float8) / %(rate)s::float8 end))
           from unnest(%(peak)s::real[], %(accessed)s::timestamptz[]) x (peak, accessed_at)""",
        numbers | {"at": at, "peak": peak.tolist(), "accessed": accessed},
        binary=True,
    ).fetchall()
    fading = {name: numbers[name] for name in ("rate", "grace_days")}
    assert rows == [
        (value_at(p, a, at, **fading), forget_at(p, a, **numbers)) for p, a in zip(peak.tolist(), accessed, strict=True)
    ]


def test_a_lasting_memory_keeps_its_peak_and_has_no_end() -> None:
    fading = load_policy("reverie").fading
    later = ORIGIN + timedelta(days=900)
    assert fading.value_at("fact", 0.7, ORIGIN, later, lasting=True) == as_real(0.7)
    assert fading.value_at("fact", 0.7, ORIGIN, later) < as_real(0.7)
    assert fading.forget_at("fact", 0.01, ORIGIN, lasting=True, expires_at=later) is None


@pytest.mark.parametrize(("days", "due"), [(10, 40), (0, 30), (900, 307)])
def test_what_ends_by_itself_is_forgotten_some_days_later_or_when_it_has_faded(days: float, due: float) -> None:
    """The default policy forgets a fact of importance 0.7 after 307 days: 7 of grace, then 0.002 a day down to 0.1."""
    policy = load_policy("reverie")
    when = policy.fading.forget_at("fact", 0.7, ORIGIN, expires_at=ORIGIN + timedelta(days=days))
    assert policy.prune.expired_days == 30
    assert when is not None and abs(when - ORIGIN - timedelta(days=due)) < timedelta(seconds=5)


def test_what_is_superseded_fades_from_then_on_lasting_or_not() -> None:
    fading, ended = load_policy("reverie").fading, ORIGIN + timedelta(days=700)
    for lasting in (True, False):
        when = fading.forget_at("fact", 0.7, ORIGIN, lasting=lasting, valid_to=ended)
        due = 3650 if lasting else 307
        assert when is not None and abs(when - ended - timedelta(days=due)) < timedelta(seconds=5)
        assert fading.value_at("fact", 0.7, ORIGIN, ended, lasting=lasting, valid_to=ended) == as_real(0.7)
        later = fading.value_at("fact", 0.7, ORIGIN, ended + timedelta(days=107), lasting=lasting, valid_to=ended)
        assert later == pytest.approx(0.5)
