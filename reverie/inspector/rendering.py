"""Templates, links and formats of the pages, and the headers of every page."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

#: Only our own style sheet and icon are loaded; no script runs, and no other site may frame a page or get a form.
CONTENT_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
#: Headers of every response of the inspector. Pages quote people, so no cache may store them.
PAGE_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # not no-referrer, with which a browser sends the origin `null` with our own forms
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}

#: Hours from which on a duration is shown in days.
_HOURS_OF_DAYS = 48


def render_page(template: str, values: Mapping[str, Any], *, status: int = 200) -> HTMLResponse:
    """Return the page of a template."""
    text = _environment().get_template(template).render(values)
    return HTMLResponse(text, status_code=status, headers={"Cache-Control": "no-store"})


def page_address(base: str, page: str, params: Mapping[str, Any]) -> str:
    """Return the address of a page below `base`; parameters that are None are left out."""
    given = {name: str(value) for name, value in params.items() if value is not None}
    return f"{base}/{page}" + (f"?{urlencode(given)}" if given else "")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("reverie.inspector"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "day": format_day,
        "minute": format_minute,
        "number": format_number,
        "half_hour": format_half_hour,
        "hours": format_hours,
        "money": lambda dollars: f"${dollars:,.4f}",
        "words": lambda text: str(text).replace("_", " "),
        "short": lambda id_: str(id_)[:18],
        "label": _policy_label,
    }
    return environment


def format_day(at: datetime | None) -> str:
    """Return the day in UTC; a dash for none."""
    return "–" if at is None else f"{at.astimezone(UTC):%Y-%m-%d}"


def format_minute(at: datetime | None) -> str:
    """Return the time in UTC to the minute; a dash for none."""
    return "–" if at is None else f"{at.astimezone(UTC):%Y-%m-%d %H:%M}"


def format_half_hour(number: int) -> str:
    """Return the time of day at which a half hour, 0 to 48, begins."""
    return f"{number // 2 % 24:02d}:{number % 2 * 30:02d}"


def format_hours(hours: float | None) -> str:
    """Return a duration in hours, or from two days on in days; a dash for none."""
    if hours is None:
        return "–"
    return f"{hours:,.1f} hours" if hours < _HOURS_OF_DAYS else f"{hours / 24:,.1f} days"


def format_number(value: Any) -> str:
    """Return a number with separators: integers as they are, others with two decimals; a dash for none."""
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def _policy_label(name: str) -> str:
    from reverie.policy import policy_label

    return policy_label(name)
