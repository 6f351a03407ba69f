"""Advise what to do when too many records of a file become dead letters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

#: The import fails when a larger share of a file's records become dead letters for one reason.
TOLERATED = 0.1
#: The share for empty texts, which pictures may explain. Only if most texts are empty is the field the wrong one.
TOLERATED_EMPTY = 0.5
#: Most values or fields that a message lists.
_NAMED = 6
#: Values of `type` in the files of other systems, with the format that reads them.
_FOREIGN_TYPES = {"conversation.list": "intercom", "conversation": "intercom"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Findings:
    """The findings about rejected records: field names and codes, never what anybody said."""

    #: Field names of the first records.
    fields: tuple[str, ...] = ()
    #: Short values that Reverie does not know, by reason.
    unknown_values: dict[str, Counter[str]] = field(default_factory=dict)
    #: Required fields that were missing: Reverie's name and the name in the records.
    missing: Counter[tuple[str, str]] = field(default_factory=Counter)
    #: The fields of the records that hold the role, the time and the text.
    role_field: str = "role"
    time_field: str = "said_at"
    text_field: str = "text"
    #: Whether the records are rows of a database.
    are_rows: bool = False
    #: Whether the next import of the same source reads only new rows.
    continues: bool = False


def cure(*, read: int, dead_by_reason: Counter[str], findings: Findings) -> str | None:
    """Return how many records failed for each reason that exceeds the tolerated share, and the option that fixes it.

    The most frequent reason comes first; other reasons are named at the end. None if no reason exceeds the share.
    """
    over = Counter(
        {
            reason: number
            for reason, number in dead_by_reason.items()
            if number > read * (TOLERATED_EMPTY if reason == "empty_text" else TOLERATED)
        }
    )
    if not over:
        return None
    shown, sentences = f" of {read:,} records became dead letters", []
    for reason, number in over.most_common():
        sentences.append(f"{number:,}{shown} for the reason {reason}: {_CURES.get(reason, _list_letters)(findings)}")
        shown = " more"
    if others := [f"{reason} ({number:,})" for reason, number in dead_by_reason.most_common() if reason not in over]:
        sentences.append(f"Others failed for {', '.join(others)}: {_list_letters(findings)}")
    if findings.continues:
        sentences.append(
            "The next import reads only new rows: give the option to reverie dead-letters redrive, or import again "
            "with it and --from-start."
        )
    return " ".join(sentences)


def _unknown_role(findings: Findings) -> str:
    if values := _most_frequent(findings.unknown_values.get("unknown_role")):
        return (
            f"{findings.role_field} has the values {', '.join(values)}; map them to roles, for instance with "
            + " ".join(f"--map role:{value}=user" for value in values[:1])
            + " (or assistant, system, tool)."
        )
    return (
        f"{findings.role_field} does not hold roles; name the right field with --map role=FIELD. "
        f"The fields are {_listed(findings.fields)}."
    )


def _unknown_type(findings: Findings) -> str:
    if values := _most_frequent(findings.unknown_values.get("unknown_type")):
        listed = f"type has the values {', '.join(values)}"
        if format := _FOREIGN_TYPES.get(values[0]):
            return f"{listed}, as in the files of another system; name it with --format {format}."
        return f"{listed}; map them with --map type:{values[0]}=turn."
    return "type holds neither turn nor outcome; ignore the field with --map type=NONE."


def _missing_field(findings: Findings) -> str:
    if not findings.missing:
        return _list_letters(findings)
    ((ours, theirs), _) = findings.missing.most_common(1)[0]
    subject = ", or name one subject for all records with --subject NAME" if ours == "subject_id" else ""
    return (
        f"{theirs} is missing or empty; name the field with --map {ours}=FIELD{subject}. "
        f"The fields are {_listed(findings.fields)}."
    )


def _malformed_json(findings: Findings) -> str:
    if findings.fields:  # other lines were read
        return "these lines are damaged; reverie dead-letters list shows them. Fix them and import the file again."
    return (
        "the file does not hold one JSON object per line; extract the records from a larger document with jq, "
        "for instance jq -c '.messages[]'."
    )


def _unreadable_time(findings: Findings) -> str:
    if findings.time_field in findings.fields:
        return (
            f"{findings.time_field} does not hold ISO 8601 times; give their format, for instance with "
            "--time-format '%d-%m-%Y %H:%M', or name another field with --map said_at=FIELD."
        )
    return "name the field that holds the time with --map said_at=FIELD."


def _empty_text(findings: Findings) -> str:
    return (
        f"{findings.text_field} is empty; name the field that holds the text with --map text=FIELD. "
        f"The fields are {_listed(findings.fields)}."
    )


def _listed(fields: tuple[str, ...]) -> str:
    return ", ".join(fields) if fields else "those of the file"


def _most_frequent(values: Counter[str] | None) -> list[str]:
    return [value for value, _ in values.most_common(_NAMED)] if values else []


def _constant(advice: str) -> Callable[[Findings], str]:
    return lambda findings: advice


def _list_letters(findings: Findings) -> str:
    if findings.are_rows:
        return "see reverie dead-letters list, correct the rows and import them again."
    return "see reverie dead-letters list, fix the file and import it again."


_CURES: dict[str, Callable[[Findings], str]] = {
    "unknown_role": _unknown_role,
    "unknown_type": _unknown_type,
    "missing_field": _missing_field,
    "naive_time": _constant("give the time zone of the times, for instance with --timezone Europe/Berlin."),
    "other_tenant": _constant("name their tenant with --tenant."),
    "malformed_json": _malformed_json,
    "no_messages": _constant("not every record has a list of messages; choose another format with --format jsonl."),
    "conflict": _constant(
        "the log has other content under the same source_id; if the field does not identify a turn, name another one "
        "with --map source_id=FIELD."
    ),
    "impossible_time": _unreadable_time,
    "empty_text": _empty_text,
    "future_time": _constant("name the field that holds the time with --map said_at=FIELD."),
}
