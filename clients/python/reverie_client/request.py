"""A request as a value: the functions in `routes/` return it, and both transports send it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar
from uuid import uuid4

from pydantic import (
    BaseModel,
    ConfigDict,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    ValidationError,
    model_serializer,
    model_validator,
)
from pydantic_core import to_jsonable_python

from reverie_client.errors import AnswerError

T = TypeVar("T")


class Input(BaseModel):
    """Part of a request body; an unknown field is an error before sending."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _made_where_none(cls, values: Any) -> Any:
        """Make an id or a time that is None, as if it were not given."""
        if not isinstance(values, Mapping):
            return values
        made = {name for name, field in cls.model_fields.items() if field.default_factory is not None}
        return {name: value for name, value in values.items() if value is not None or name not in made}

    @model_serializer(mode="wrap")
    def _with_required(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Keep required fields that are None in a request, which leaves out None elsewhere."""
        fields = type(self).model_fields
        nulls = {name: None for name in fields if fields[name].is_required() and getattr(self, name) is None}
        return {**serialize(self), **nulls}


class Answer(BaseModel):
    """Part of an answer; fields that a newer server adds are kept."""

    model_config = ConfigDict(extra="allow", frozen=True)


@dataclass(frozen=True)
class Request(Generic[T]):
    """A request and the type of its answer. Parameters that are None are not sent."""

    method: str
    path: str
    answer: type[T]
    query: Mapping[str, Any] | None = None
    body: Mapping[str, Any] | None = None
    #: Whether sending it twice has the same effect as sending it once.
    is_idempotent: bool = True

    def at(self, cursor: str) -> Request[T]:
        """Return the request for the page that begins at `cursor`."""
        return replace(self, query={**(self.query or {}), "cursor": cursor})

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of httpx's `request`."""
        sent: dict[str, Any] = {"method": self.method, "url": self.path}
        if self.query is not None:
            sent["params"] = _encodable(to_jsonable_python(_present(self.query)))
        if self.body is not None:
            sent["json"] = _encodable(to_jsonable_python(_present(self.body), exclude_none=True))
        return sent

    def read(self, content: bytes) -> T:
        """Return the answer in a body. Raises AnswerError if it has another shape."""
        if issubclass(self.answer, str):
            return self.answer(content, "utf-8")
        try:
            return TypeAdapter(self.answer).validate_json(content)
        except ValidationError as error:
            places = ", ".join(sorted({".".join(map(str, each["loc"])) or "body" for each in error.errors()})[:5])
            raise AnswerError(f"The answer of {self.method} {self.path} has another shape: {places}.") from None


def new_id() -> str:
    """Return a source id for an item without one, so that a request sent twice counts once."""
    return uuid4().hex


def current_time() -> datetime:
    """Return the time of an outcome without one, so that a request sent twice counts once."""
    return datetime.now(UTC)


def _encodable(value: Any) -> Any:
    """Return a JSON value with U+FFFD for lone surrogates, which UTF-8 cannot encode and a model may write."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_encodable(name): _encodable(each) for name, each in value.items()}
    return [_encodable(each) for each in value] if isinstance(value, list) else value


def _present(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
