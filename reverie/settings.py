"""What the environment decides, read once by whoever composes the program and never at import.

`DATABASE_URL` keeps the plain name that every host knows; the rest starts with `REVERIE_`. Numbers that shape a
memory are no settings: they live in the policy, so that they are hashed with every run.
"""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from reverie.errors import SettingsError

#: Spellings of a Postgres URL that we take; libpq itself knows only the first two.
POSTGRES_SCHEMES = ("postgresql", "postgres", "postgresql+psycopg")

_RATE = r"^[1-9]\d{0,8}/(second|minute|hour|day)$"
_PRICE = r"^\d{1,6}(\.\d{1,6})?/\d{1,6}(\.\d{1,6})?$"


def _default_home() -> Path:
    """The platform's data directory; for root /var/lib, as the server's user could not enter /root."""
    if os.name == "posix" and os.geteuid() == 0:
        return Path("/var/lib/reverie")
    import platformdirs  # here, because most runs name a database and never ask

    return platformdirs.user_data_path("reverie", appauthor=False)


def _default_threads() -> int:
    """The CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Settings(BaseSettings):
    """The environment, validated; build it with `load_settings` to get one-sentence errors."""

    model_config = SettingsConfigDict(env_prefix="REVERIE_", env_ignore_empty=True, extra="ignore", frozen=True)

    #: The Postgres to use, as `postgresql://`; None: the embedded one under `home`.
    database_url: SecretStr | None = Field(default=None, validation_alias="DATABASE_URL")
    #: Where embedded data live.
    home: Path = Field(default_factory=_default_home)
    #: The tenant of commands that name none.
    tenant: str = Field(default="default", min_length=1)
    #: A shipped policy's name or the path of a TOML file.
    policy: str = Field(default="reverie", min_length=1)
    #: `minilm`, or a model of an optional adapter.
    embedding_model: str = Field(default="minilm", min_length=1)
    #: `none`: rules and extractive summaries alone; or a language model, as `litellm/<provider>/<model>`, or
    #: `recorded/<file>`: replies that were written down.
    language_model: str = Field(default="none", min_length=1)
    #: Where it answers, for a server of one's own; None: where its provider does.
    language_model_base: str | None = None
    #: US dollars a million tokens in and out, as `0.15/0.60`, for a model that litellm's price map does not list.
    language_model_price: str | None = Field(default=None, pattern=_PRICE)
    #: Requests to it that all processes together send for a tenant, as `number/second`, `/minute`, `/hour` or `/day`.
    language_model_rate: str | None = Field(default=None, pattern=_RATE)
    #: Requests that a stage has under way at once.
    language_model_concurrency: int = Field(default=4, ge=1, le=100)
    #: Items about which one request asks at most; the prompt is paid for once a request.
    language_model_batch: int = Field(default=1, ge=1, le=100)
    #: Seconds that a reply may take.
    language_model_seconds: float = Field(default=60.0, gt=0, le=3600)
    #: Times that a request is sent before it has failed.
    language_model_attempts: int = Field(default=5, ge=1, le=20)
    #: `none`, or a fast language model that tells moods within requests, as `litellm/<provider>/<model>`.
    mood_model: str = Field(default="none", min_length=1)
    #: Its address, price and pace, as the language model's.
    mood_model_base: str | None = None
    mood_model_price: str | None = Field(default=None, pattern=_PRICE)
    mood_model_rate: str | None = Field(default=None, pattern=_RATE)
    #: Requests to it that a process has under way at once; a message that comes beyond them does without.
    mood_model_concurrency: int = Field(default=16, ge=1, le=1000)
    #: Seconds that a late reply is still waited for, to learn what it cost.
    mood_model_seconds: float = Field(default=5.0, gt=0, le=60)
    #: `none`, or a cross-encoder that re-ranks what is recalled, as `sentence-transformers/<name or folder>`.
    reranker: str = Field(default="none", pattern=r"^(none|sentence-transformers/.+)$")
    #: Threads of the embedder.
    threads: int = Field(default_factory=_default_threads, ge=1, le=1024)
    #: Into how many buckets of subjects the orchestrator cuts the work.
    buckets: int = Field(default=4, ge=1, le=100)
    #: First month, as YYYY-MM-01, for which the orchestrator offers partitions of history.
    history_start: str = Field(default="2020-01-01", pattern=r"^\d{4}-(0[1-9]|1[0-2])-01$")
    #: Connections of the API in each of its two roles; more than cores gain nothing.
    api_connections: int = Field(default=4, ge=1, le=100)
    #: Bytes that a request to the API must stay under.
    api_bytes: int = Field(default=4 << 20, ge=1 << 10, le=1 << 30)
    #: Characters that a request to the API must stay under in all: what rules and models do with them takes time.
    api_characters: int = Field(default=200_000, ge=1 << 10, le=1 << 30)
    #: Seconds that a request, or a statement of it, may take.
    api_seconds: float = Field(default=10.0, gt=0, le=3600)
    #: Requests that a key may send, as `number/second`, `/minute`, `/hour` or `/day`; each process counts for itself.
    api_rate: str = Field(default="200/second", pattern=_RATE)

    #: Days that rows are kept which no memory follows from; 0: for ever. The run ledger:
    keep_runs_days: int = Field(default=90, ge=0, le=36_500)
    #: The log of recalls: questions, and recalls of turns alone. What a rebuild reads of the others stays.
    keep_recalls_days: int = Field(default=180, ge=0, le=36_500)
    #: The log of assembled contexts.
    keep_contexts_days: int = Field(default=90, ge=0, le=36_500)
    #: The cost ledger.
    keep_calls_days: int = Field(default=400, ge=0, le=36_500)
    #: Replies of language models. Without them a rebuild asks, and pays, again.
    keep_replies_days: int = Field(default=0, ge=0, le=36_500)
    #: Cached vectors of embedding models that are no longer the tenant's.
    keep_embeddings_days: int = Field(default=30, ge=0, le=36_500)

    @field_validator("database_url")
    @classmethod
    def _plain_scheme(cls, value: SecretStr | None) -> SecretStr | None:
        if value is None:
            return None
        scheme, separator, rest = value.get_secret_value().strip().partition("://")
        if not separator or scheme not in POSTGRES_SCHEMES:
            raise ValueError("a URL like postgresql://user:password@host:5432/name is needed")
        return SecretStr(f"postgresql://{rest}")

    @field_validator("home")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().absolute()


def load_settings() -> Settings:
    """Read the environment.

    Raises SettingsError naming the first variable that is wrong; the value is left out, since it may be a secret.
    """
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        field = str(first["loc"][0]) if first["loc"] else "environment"
        variable = "DATABASE_URL" if field.upper() == "DATABASE_URL" else f"REVERIE_{field.upper()}"
        reason = str(first["msg"]).removeprefix("Value error, ")
        raise SettingsError(f"{variable} cannot be used: {reason[:1].lower()}{reason[1:]}.") from None
