"""Validate a record: the result is a turn, an outcome, a statement, or a rejection. docs/importing.md states the rules.

The checks are written by hand, since a pydantic model is several times slower. Error messages are built only on
failure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn, cast

import orjson

from reverie.capture.history.values import ROLE_ALIASES, USUAL_ROLES, code_of, split_mapping
from reverie.capture.identity import statement_hash, turn_hash
from reverie.capture.mending import is_sound, mend, mend_text
from reverie.capture.record_fields import (
    FIELDS,
    MAX_ID,
    MAX_IGNORED,
    MAX_INDEX,
    MAX_TEXT,
    kind_of,
    require_subject,
)
from reverie.capture.times import ISO_TIMES, NaiveTimeError, TimeForm
from reverie.errors import InputError
from reverie.model import (
    EARLIEST,
    LATEST,
    STATEMENT_KINDS,
    ImportedStatement,
    Outcome,
    Role,
    StatementKind,
    ToolCall,
    Turn,
)

_TURN_TYPES = (None, "", "turn", "message")
_CODE = re.compile(r"[\w.-]{1,24}")
_TRUTH = {True: True, False: False, "true": True, "false": False, "1": True, "0": False}


@dataclass(frozen=True, kw_only=True, slots=True)
class Rejection:
    """The reason why a record is not imported."""

    #: A short code.
    reason: str
    #: One sentence: the field, the kind of value it has, and what is expected. It never quotes the value.
    detail: str
    #: False if the record belongs to another tenant and must not be kept.
    keep: bool = True
    #: Reverie's name of the invalid field; None: it is not one field.
    field: str | None = None


class _RejectedError(Exception):
    """Raised by a check; its arguments are the reason and detail of the rejection, and the field."""


class Validator:
    """Validates the records of one import: call it with each record."""

    def __init__(
        self,
        *,
        tenant_id: str,
        not_after: datetime,
        turn_characters: int = MAX_TEXT,
        mapping: Mapping[str, str] | None = None,
        times: TimeForm = ISO_TIMES,
        subject: str | None = None,
        assume: bool = False,
    ) -> None:
        """Set the options of the import.

        Args:
            tenant_id: The tenant of all records.
            not_after: The latest possible event time.
            turn_characters: The policy's limit on the characters of a turn's text, beside the 1 MiB of any text.
            mapping: Names of fields (Reverie's to the file's) and values (`role:customer` to `user`).
            times: The form of the times in the records.
            subject: The subject of all records, whatever they say.
            assume: Accept the usual role names of other systems, such as `customer`, and record them.

        Raises InputError: the mapping names an unknown field or value.
        """
        names, values = split_mapping(mapping or {})
        if unknown := sorted(set(names) - set(FIELDS)):
            raise InputError(f"There is no field {unknown[0]!r} to map to; the fields are {', '.join(FIELDS)}.")
        require_subject(subject)
        self.tenant_id = tenant_id
        self.not_after = not_after
        self.turn_characters = turn_characters
        self.times = times
        #: Number of records whose text was repaired.
        self.mended = 0
        #: Names of ignored fields, at most `MAX_IGNORED`.
        self.ignored: set[str] = set()
        #: Assumed roles, by the value in the records.
        self.assumed_roles: dict[str, Role] = {}
        #: Short unknown values by reason, which a mapping could translate.
        self.unknown_values: dict[str, Counter[str]] = {"unknown_role": Counter(), "unknown_type": Counter()}
        #: Required fields that were missing or empty: Reverie's name and the name in the records.
        self.missing: Counter[tuple[str, str]] = Counter()
        self._name = {ours: names.get(ours, ours) for ours in FIELDS}
        self._known = frozenset(self._name.values())
        self.subject = subject
        self._roles: dict[str, Role] = ROLE_ALIASES | values["role"]  # type: ignore[assignment]
        self._types = values["type"]
        self._usual_roles = USUAL_ROLES if assume else {}

    def called(self, ours: str) -> str:
        """Return the name in the records of one of Reverie's fields."""
        return self._name[ours]

    def require_columns(self, columns: tuple[str, ...]) -> None:
        """Raise InputError if no record of a table with these columns can be valid."""
        needed = [] if self.subject else ["subject_id"]
        if self._name["type"] not in columns:  # statements need no session
            needed += ["session_id", "role", "said_at", "text"]
        if missing := [ours for ours in needed if self._name[ours] not in columns]:
            raise InputError(
                f"There is no column {self._name[missing[0]]!r}, only {', '.join(columns)}: "
                f"name the column with --map {missing[0]}=COLUMN."
            )

    def __call__(self, fields: Mapping[str, Any]) -> Turn | Outcome | ImportedStatement | Rejection:
        """Return the record as a turn, an outcome or a statement, or a rejection. Never raises."""
        if not self._known.issuperset(fields) and len(self.ignored) < MAX_IGNORED:
            self.ignored.update(name for name in fields if name not in self._known)
        name, get = self._name, fields.get
        mended = self.mended
        try:
            if (tenant := get(name["tenant_id"])) and str(tenant) != self.tenant_id:
                return Rejection(
                    reason="other_tenant",
                    detail=f"{self._label('tenant_id')} names another tenant; import its records as that tenant.",
                    keep=False,
                )
            kind = code_of(get(name["type"]))
            if self._types and type(kind) is str:
                kind = self._types.get(kind, kind)
            if kind == "outcome":
                return self._outcome(fields)
            if kind == "statement":
                return self._statement(fields)
            if kind not in _TURN_TYPES:
                self._count_unknown("unknown_type", kind)
                self._reject("unknown_type", "type", get(name["type"]), "turn, outcome or statement")
            return self._turn(fields)
        except _RejectedError as error:
            self.mended = mended
            reason, detail, field = error.args
            return Rejection(reason=reason, detail=detail, field=field)

    def _turn(self, fields: Mapping[str, Any]) -> Turn:
        name, get = self._name, fields.get
        subject_id = self.subject or self._id(fields, "subject_id")
        session_id = self._id(fields, "session_id")
        source_id = self._id(fields, "source_id") if get(name["source_id"]) not in (None, "") else ""
        raw_role = get(name["role"])
        role = self._roles.get(raw_role) if type(raw_role) is str else None
        if role is None:
            role = self._unusual_role(fields, raw_role)
        said_at = self._time(fields, "said_at")
        calls = get(name["tool_calls"])
        text = get(name["text"])
        speaker = get(name["speaker"])
        metadata = get(name["metadata"])
        index = get(name["turn_index"])
        turn = Turn(
            tenant_id=self.tenant_id,
            subject_id=subject_id,
            session_id=session_id,
            source_id=source_id,
            role=role,
            speaker=self._speaker(speaker) if speaker else None,
            said_at=said_at,
            text=self._text(fields, text, may_be_empty=bool(calls)),
            turn_index=None if index is None or index == "" else self._index(index),
            tool_calls=self._tool_calls(calls) if calls else (),
            metadata=self._object("metadata", metadata) if metadata else {},
        )
        if not source_id:
            object.__setattr__(turn, "source_id", turn_hash(turn).hex()[:32])
        return turn

    def _outcome(self, fields: Mapping[str, Any]) -> Outcome:
        value = fields.get(self._name["value"])
        positive = fields.get(self._name["positive"])
        if isinstance(positive, str):
            positive = positive.lower()
        if type(positive) not in (bool, str) or positive not in _TRUTH:
            self._reject_value(fields, "positive", positive, "true or false")
        return Outcome(
            tenant_id=self.tenant_id,
            subject_id=self.subject or self._id(fields, "subject_id"),
            session_id=self._id(fields, "session_id"),
            source_id=self._id(fields, "source_id"),
            metric=self._id(fields, "metric"),
            value=self._number(fields, value),
            positive=_TRUTH[positive],
            observed_at=self._time(fields, "observed_at"),
        )

    def _statement(self, fields: Mapping[str, Any]) -> ImportedStatement:
        name, get = self._name, fields.get
        kind, metadata = get(name["kind"]) or "fact", get(name["metadata"])
        if kind not in STATEMENT_KINDS:
            self._reject_value(fields, "kind", kind, f"one of {', '.join(STATEMENT_KINDS)}")
        statement = ImportedStatement(
            tenant_id=self.tenant_id,
            subject_id=self.subject or self._id(fields, "subject_id"),
            session_id=self._id(fields, "session_id") if get(name["session_id"]) not in (None, "") else None,
            source_id=self._id(fields, "source_id") if get(name["source_id"]) not in (None, "") else "",
            kind=cast("StatementKind", kind),
            text=self._text(fields, get(name["text"]), may_be_empty=False),
            observed_at=self._time(fields, "observed_at"),
            ends_at=self._time(fields, "ends_at", latest=LATEST) if get(name["ends_at"]) not in (None, "") else None,
            metadata=self._object("metadata", metadata) if metadata else {},
        )
        if not statement.source_id:
            object.__setattr__(statement, "source_id", statement_hash(statement).hex()[:32])
        return statement

    def _id(self, fields: Mapping[str, Any], ours: str) -> str:
        value = fields.get(self._name[ours])
        if type(value) is str and 0 < len(value) <= MAX_ID and value.isprintable() and not value.isspace():
            return value
        if type(value) is int:
            value = str(value) if abs(value) < 1 << 64 else value
        if type(value) is not str or not value or value.isspace():
            self._reject_value(fields, ours, value, "a text of 1 to 200 characters")
        if len(value) > MAX_ID:
            self._reject("too_long", ours, f"{len(value):,} characters", f"at most {MAX_ID}", described=True)
        if not is_sound(value, no_controls=True):
            self._reject("invalid_id", ours, value, "no control characters and no unpaired surrogates")
        return value

    def _unusual_role(self, fields: Mapping[str, Any], value: Any) -> Role:
        """Return the role of a value in another case or by a usual name, and remember it for the fast path."""
        code = code_of(value)
        word = code.strip().lower() if type(code) is str else None
        role = self._roles.get(word) if word else None
        if role is None and word and (role := self._usual_roles.get(word)):
            self.assumed_roles[code] = self._roles[code] = role
        if role is None:
            reason = "unknown_role" if code and type(code) is str else None
            if reason:
                self._count_unknown(reason, code)
            self._reject_value(fields, "role", value, f"one of {', '.join(ROLE_ALIASES)}", reason)
        return role

    def _count_unknown(self, reason: str, value: Any) -> None:
        """Count an unknown value if it is a short code. A longer one may be what somebody said."""
        seen = self.unknown_values[reason]
        if type(value) is str and _CODE.fullmatch(value) and (value in seen or len(seen) < MAX_IGNORED):
            seen[value] += 1

    def _time(self, fields: Mapping[str, Any], ours: str, *, latest: datetime | None = None) -> datetime:
        value = fields.get(self._name[ours])
        try:
            at = self.times.read(value)
        except NaiveTimeError:
            self._reject("naive_time", ours, value, "an offset such as Z or +01:00, or an import with --timezone")
        except (ValueError, TypeError):
            reason = "impossible_time" if type(value) in (str, int, float) and value != "" else None
            self._reject_value(fields, ours, value, self.times.expected, reason)
        if at < EARLIEST:
            self._reject("impossible_time", ours, value, "a time since 1970")
        if at > (latest or self.not_after):
            self._reject("future_time", ours, "in the future", "a time up to now", described=True)
        return at

    def _text(self, fields: Mapping[str, Any], text: Any, *, may_be_empty: bool) -> str:
        if type(text) is not str:
            if text is None and may_be_empty:
                return ""
            if text is None and self._name["text"] in fields:
                self._reject("empty_text", "text", "null", "a text, or tool calls", described=True)
            self._reject_value(fields, "text", text, "a text")
        if not text.isascii() or "\0" in text:
            text = self._mended(text)
        if len(text) > MAX_TEXT or (len(text) > MAX_TEXT // 4 and len(text.encode()) > MAX_TEXT):
            self._reject("too_long", "text", f"{len(text.encode()):,} bytes", "at most 1 MiB", described=True)
        if len(text) > self.turn_characters:
            expected = f"at most {self.turn_characters:,}, the policy's `turn_characters`"
            self._reject("too_long", "text", f"{len(text):,} characters", expected, described=True)
        if not may_be_empty and (not text or text.isspace()):
            self._reject("empty_text", "text", "blank", "a text, or tool calls", described=True)
        return str(text)

    def _mended(self, text: str) -> str:
        if is_sound(text):
            return text
        self.mended += 1
        return mend_text(text)

    def _speaker(self, value: Any) -> str:
        if type(value) is not str:
            self._reject("wrong_type", "speaker", value, "a name")
        if len(value) > MAX_ID:
            self._reject("too_long", "speaker", f"{len(value):,} characters", f"at most {MAX_ID}", described=True)
        return self._mended(value)

    def _index(self, value: Any) -> int:
        number = int(value) if type(value) is str and value.isascii() and value.isdigit() and len(value) < 11 else value
        if type(number) is not int or not 0 <= number <= MAX_INDEX:
            self._reject("wrong_type", "turn_index", value, f"a whole number from 0 to {MAX_INDEX}")
        return number

    def _number(self, fields: Mapping[str, Any], value: Any) -> float:
        try:
            if type(value) not in (int, float, str):
                raise ValueError
            number = float(value)
        except (ValueError, OverflowError):
            self._reject_value(fields, "value", value, "a number")
        if not abs(number) < float("inf"):
            self._reject("wrong_type", "value", value, "a finite number")
        return number

    def _tool_calls(self, value: Any) -> tuple[ToolCall, ...]:
        calls = self._json("tool_calls", value)
        if type(calls) is not list:
            self._reject("wrong_type", "tool_calls", value, "a list of tool calls")
        return tuple(self._tool_call(call) for call in calls)

    def _tool_call(self, call: Any) -> ToolCall:
        expected = '{"name": text, "arguments": {...}, "why": text, "result": text}'
        if type(call) is not dict or type(call.get("name")) is not str or not call["name"]:
            self._reject("wrong_type", "tool_calls", call, expected)
        arguments, why, result = call.get("arguments"), call.get("why"), call.get("result")
        if type(arguments) is str:
            arguments = self._json("tool_calls", arguments)
        if type(arguments or {}) is not dict or any(type(text) not in (str, type(None)) for text in (why, result)):
            self._reject("wrong_type", "tool_calls", call, expected)
        return ToolCall(name=call["name"], arguments=arguments or {}, why=why, result=result)

    def _object(self, ours: str, value: Any) -> dict[str, Any]:
        parsed = self._json(ours, value)
        if type(parsed) is not dict:
            self._reject("wrong_type", ours, value, "an object {...}")
        return parsed

    def _json(self, ours: str, value: Any) -> Any:
        """Return the value in storable form: parsed if it is JSON text, repaired, and of bounded size."""
        try:
            parsed = orjson.loads(value) if type(value) is str else value
            try:
                stored = orjson.dumps([[[parsed]]])  # nested as in a turn, since orjson limits the depth
            except TypeError:  # an unpaired surrogate, or a value that JSON lacks
                parsed = mend(parsed)
                stored = orjson.dumps([[[parsed]]])
                self.mended += 1
        except (ValueError, TypeError, RecursionError):
            self._reject("wrong_type", ours, value, "JSON")
        if len(stored) > MAX_TEXT:
            self._reject("too_long", ours, f"{len(stored):,} bytes", "at most 1 MiB", described=True)
        if b"\\u0000" in stored and (mended := mend(parsed)) != parsed:
            self.mended += 1
            return mended
        return parsed

    def _label(self, ours: str) -> str:
        """Return the field's name in the records, followed by Reverie's name if it differs."""
        theirs = self._name[ours]
        return ours if theirs == ours else f"{theirs} ({ours})"

    def _reject_value(
        self, fields: Mapping[str, Any], ours: str, value: Any, expected: str, reason: str | None = None
    ) -> NoReturn:
        """Reject a value as missing or of the wrong type, unless `reason` is set."""
        if value is None or (type(value) is str and not value.strip()):
            self.missing[ours, self._name[ours]] += 1
        if value is None:
            kind = "null" if self._name[ours] in fields else "missing"
            raise _RejectedError("missing_field", f"{self._label(ours)} is {kind}; expected {expected}.", ours)
        if reason is None and type(value) is str and (not value or value.isspace()):
            raise _RejectedError("missing_field", f"{self._label(ours)} is empty; expected {expected}.", ours)
        self._reject(reason or "wrong_type", ours, value, expected)

    def _reject(self, reason: str, ours: str, value: Any, expected: str, *, described: bool = False) -> NoReturn:
        """Reject a value by its kind, or by `value` itself if that is a description already."""
        description = value if described else kind_of(value)
        raise _RejectedError(reason, f"{self._label(ours)} is {description}; expected {expected}.", ours)
