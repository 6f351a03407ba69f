"""Gates on turns: their discards, languages and moods."""

from __future__ import annotations

from reverie.quality.gate import QualityGate
from reverie.store.queries import queries


def _discarded(part: str) -> str:
    outcome = "gave memories" if part == "kept" else f"were discarded as {part}"
    return f"{{}} of turns {outcome} in the last 7 days"


def _in_language(part: str) -> str:
    written = {
        "english": "in English",
        "other_latin": "in Latin script without frequent English words",
        "no_letters": "without letters",
    }
    return f"{{}} of users' turns were {written.get(part, f'in {part} script')} in the last 7 days"


#: A change of the rules, the policy or the caller's format shows here first.
DISCARDS = QualityGate(
    name="discards",
    sql=queries("quality")["discards"],
    holds="Each reason for discarding turns has its usual share.",
    clause=_discarded,
)

#: The rules and the default embedding model are for English; other languages are kept, but recalled less well.
LANGUAGES = QualityGate(
    name="languages",
    sql=queries("quality")["languages"],
    holds="Each script and language has its usual share of users' turns.",
    clause=_in_language,
)

#: One mood for all messages means a failed classifier; a slow change may be real.
MOODS = QualityGate(
    name="moods",
    sql=queries("quality")["moods"],
    holds="Each mood has its usual share of messages.",
    clause=lambda part: f"{{}} of messages were {part} in the last 7 days",
)
