"""A key sends so much and no more, whatever the moment at which a window begins."""

from __future__ import annotations

from uuid import UUID

from reverie.api.rate import Rate

KEY, OTHER = UUID(int=1), UUID(int=2)


def test_each_key_is_counted_for_itself() -> None:
    rate = Rate("2/minute")
    assert [rate.wait(KEY, 0.0), rate.wait(KEY, 1.0), rate.wait(KEY, 10.0)] == [None, None, 50]
    assert rate.wait(OTHER, 10.0) is None


def test_the_window_before_goes_by_slowly() -> None:
    rate = Rate("4/second")
    assert [rate.wait(KEY, 0.75) for _ in range(5)] == [None, None, None, None, 0.25]
    assert rate.wait(KEY, 1.0) == 0, "in a moment"
    assert [rate.wait(KEY, 1.125) for _ in range(2)] == [None, 0.125]
    assert rate.wait(KEY, 1.375) is None
    assert [rate.wait(KEY, 9.0) for _ in range(5)] == [None, None, None, None, 1], "an older window counts no more"


def test_who_waits_as_long_as_told_may_send() -> None:
    rate, at, waited = Rate("7/minute"), 3.0, 0
    for _ in range(50):
        if (wait := rate.wait(KEY, at)) is not None:
            at, waited = at + wait + 1e-6, waited + 1
            assert rate.wait(KEY, at) is None
        at += 2.0
    assert waited > 10


def test_keys_that_fell_silent_are_forgotten() -> None:
    rate = Rate("1/second")
    assert [rate.wait(UUID(int=number), float(number)) for number in range(10)] == [None] * 10
    assert (len(rate._sent), len(rate._sent_before)) == (1, 1)
