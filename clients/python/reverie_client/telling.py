"""A hit in words for a model, as the server words it in a context."""

from __future__ import annotations

from reverie_client.routes.recalls import Hit

#: Characters shown of a message that casts doubt on a memory.
DOUBT_CHARACTERS = 100


def told(hit: Hit) -> str:
    """Return a hit with the question that it answers, any doubt, and how often it was said.

    "Do you drink coffee? / Yes (may be over; 2026-03-01: “I gave up coffee.”) (said 3 times since 2026-01-05)".
    """
    question = f"{hit.reply_to.content} / " if hit.reply_to else ""
    doubt = f" (may be over; {hit.doubt.said_at:%Y-%m-%d}: “{_quoted(hit.doubt.content)}”)" if hit.doubt else ""
    often = f" (said {hit.times} times since {hit.first_at:%Y-%m-%d})" if hit.first_at else ""
    just = " (said just now)" if hit.fresh else ""
    return f"{question}{hit.content}{doubt}{often}{just}"


def _quoted(text: str) -> str:
    """Return the beginning of a text on one line, without invisible characters."""
    words = " ".join("".join(sign for sign in text if sign.isprintable() or sign.isspace()).split())
    return words if len(words) <= DOUBT_CHARACTERS else f"{words[:DOUBT_CHARACTERS]} …"
