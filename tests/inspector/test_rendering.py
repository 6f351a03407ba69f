"""Links and formats."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from reverie.inspector.rendering import (
    CONTENT_POLICY,
    format_day,
    format_half_hour,
    format_hours,
    format_minute,
    format_number,
    page_address,
    render_page,
)


def test_an_address_has_what_is_given() -> None:
    assert page_address("/inspector", "subject", {"subject": "a&b/ü", "view": None}) == (
        "/inspector/subject?subject=a%26b%2F%C3%BC"
    )
    assert page_address("", "", {}) == "/"


def test_times_are_of_utc() -> None:
    at = datetime(2026, 6, 30, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    assert (format_day(at), format_minute(at)) == ("2026-06-29", "2026-06-29 23:30")
    assert format_day(None) == format_minute(None) == "–"
    assert format_minute(datetime(2026, 1, 1, tzinfo=UTC)) == "2026-01-01 00:00"


def test_numbers_are_grouped() -> None:
    assert [format_number(each) for each in (12345, 0.5, None)] == ["12,345", "0.50", "–"]


def test_hours_are_told_as_times_and_lengths() -> None:
    assert [format_half_hour(each) for each in (0, 45, 48)] == ["00:00", "22:30", "00:00"]
    assert [format_hours(each) for each in (None, 7.25, 60)] == ["–", "7.2 hours", "2.5 days"]


def test_values_are_escaped() -> None:
    page = render_page("error.html", {"title": "<b>", "detail": '"&', "base": ""}, status=404)
    assert page.status_code == 404 and b"<b>" not in page.body and b"&lt;b&gt;" in page.body


def test_nothing_is_loaded_from_elsewhere() -> None:
    assert "http" not in CONTENT_POLICY and "unsafe" not in CONTENT_POLICY
