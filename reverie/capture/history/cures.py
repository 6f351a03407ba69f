"""When too much of a file became dead letters for one reason, the sentence that says what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

#: Share of a file's records that may become dead letters for one reason before the import counts as failed.
TOLERATED = 0.1
#: Values and fields that a sentence names.
_NAMED = 6


@dataclass(frozen=True, kw_only=True, slots=True)
class Findings:
    """What an import saw of the records that it refused: names and codes, nothing that anybody said."""

    #: Names of fields of the first records.
    fields: tuple[str, ...] = ()
    #: Short values that are none of ours, by reason.
    unknown_values: dict[str, Counter[str]] = field(default_factory=dict)
    #: Our needed fields that were absent, with what the records would call them.
    missing: Counter[tuple[str, str]] = field(default_factory=Counter)
    #: What the records call our role.
    role_field: str = "role"


def cure(*, read: int, dead_by_reason: Counter[str], findings: Findings) -> str | None:
    """Return how many records failed for the most frequent reason and the option that mends it.

    None where no reason took more than a tenth.
    """
    if not dead_by_reason:
        return None
    ((reason, number),) = dead_by_reason.most_common(1)
    if number <= TOLERATED * read:
        return None
    todo = _CURES.get(reason, _look)(findings)
    return f"{number:,} of {read:,} records became dead letters for the reason {reason}: {todo}"


def _unknown_role(findings: Findings) -> str:
    if values := _most(findings.unknown_values.get("unknown_role")):
        return (
            f"{findings.role_field} has the values {', '.join(values)}; say what they are, for instance with "
            + " ".join(f"--map role:{value}=user" for value in values[:1])
            + " (or assistant, system, tool)."
        )
    return (
        f"what {findings.role_field} holds are no roles; say which field says who wrote a turn with --map role=FIELD, "
        f"among {_listed(findings.fields)}."
    )


def _unknown_type(findings: Findings) -> str:
    if values := _most(findings.unknown_values.get("unknown_type")):
        return f"type has the values {', '.join(values)}; say what they are with --map type:{values[0]}=turn."
    return "type holds neither turn nor outcome; have another field read for it with --map type=NONE."


def _missing_field(findings: Findings) -> str:
    if not findings.missing:
        return _look(findings)
    ((ours, theirs), _) = findings.missing.most_common(1)[0]
    also = " or name one person for all with --subject NAME;" if ours == "subject_id" else ""
    return (
        f"{theirs} is missing or empty; say which field it is with --map {ours}=FIELD;{also} "
        f"the fields are {_listed(findings.fields)}."
    )


def _malformed_json(findings: Findings) -> str:
    if findings.fields:  # others were read
        return "these lines are damaged; reverie dead-letters list names them. Mend them and import the file again."
    return (
        "the file is not one JSON object a line; take the records out of a larger document with jq, "
        "for instance jq -c '.messages[]'."
    )


def _listed(fields: tuple[str, ...]) -> str:
    return ", ".join(fields) if fields else "those of your file"


def _most(values: Counter[str] | None) -> list[str]:
    return [value for value, _ in values.most_common(_NAMED)] if values else []


def _say(sentence: str) -> Callable[[Findings], str]:
    return lambda findings: sentence


def _look(_: Findings) -> str:
    return "see reverie dead-letters list, mend the file and import it again."


_CURES: dict[str, Callable[[Findings], str]] = {
    "unknown_role": _unknown_role,
    "unknown_type": _unknown_type,
    "missing_field": _missing_field,
    "naive_time": _say("say where the times were written, for instance with --timezone Europe/Berlin."),
    "other_tenant": _say("give their tenant with --tenant."),
    "malformed_json": _malformed_json,
    "no_messages": _say("not every record has a list of messages; name another format with --format jsonl."),
    "conflict": _say(
        "the same source_id has other content; if it is not your id of the turn, name another field with "
        "--map source_id=FIELD."
    ),
    "impossible_time": _say("name the field that holds the time with --map said_at=FIELD."),
    "future_time": _say("name the field that holds the time with --map said_at=FIELD."),
}
