"""Settings from environment variables. The program's entry points read them once; nothing is read at import.

`DATABASE_URL` and `RAY_ADDRESS` have the names that hosting services and Ray use; all other variables start with
`REVERIE_`. Numbers that shape memory are not settings: they belong to the policy, whose hash every run records.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from reverie.errors import SettingsError

#: Accepted schemes of a Postgres URL; libpq itself knows only the first two.
POSTGRES_SCHEMES = ("postgresql", "postgres", "postgresql+psycopg")

#: Variables without the prefix `REVERIE_`.
_OTHERS_NAMES = ("DATABASE_URL", "RAY_ADDRESS")

_RATE = r"^[1-9]\d{0,8}/(second|minute|hour|day)$"
_PRICE = r"^\d{1,6}(\.\d{1,6})?/\d{1,6}(\.\d{1,6})?$"


def _default_home() -> Path:
    """Return the platform's data directory; /var/lib/reverie for root, because the server's user cannot enter /root."""
    if os.name == "posix" and os.geteuid() == 0:
        return Path("/var/lib/reverie")
    import platformdirs  # imported here because most runs set DATABASE_URL

    return platformdirs.user_data_path("reverie", appauthor=False)


def _default_threads() -> int:
    """Return the number of CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def postgres_url(value: str) -> str:
    """Return a Postgres URL with the scheme that libpq knows. Raises ValueError, which never quotes the URL."""
    scheme, separator, rest = value.strip().partition("://")
    if not separator or scheme not in POSTGRES_SCHEMES:
        raise ValueError("must be a URL such as postgresql://user:password@host:5432/name")
    return f"postgresql://{rest}"


class Settings(BaseSettings):
    """The validated environment. `load_settings` builds it, with one-sentence errors."""

    model_config = SettingsConfigDict(env_prefix="REVERIE_", env_ignore_empty=True, extra="ignore", frozen=True)

    #: URL of the Postgres database, as `postgresql://`; None: the embedded one under `home`.
    database_url: SecretStr | None = Field(default=None, validation_alias="DATABASE_URL")
    #: URL of a streaming replica of it that answers recall and other reads; None: the database itself does.
    read_url: SecretStr | None = None
    #: Seconds that the replica may be behind before answers say so.
    read_lag_seconds: float = Field(default=10.0, ge=0, le=86_400)
    #: Directory of the embedded Postgres.
    home: Path = Field(default_factory=_default_home)
    #: Tenant of commands that do not name one.
    tenant: str = Field(default="default", min_length=1)
    #: Name of a shipped policy, or path of a TOML file.
    policy: str = Field(default="reverie", min_length=1)
    #: `minilm`, or a model of an optional adapter.
    embedding_model: str = Field(default="minilm", min_length=1)
    #: `none` (only rules and extractive summaries), `litellm/<provider>/<model>`, or `recorded/<file>`.
    language_model: str = Field(default="none", min_length=1)
    #: Base URL of a self-hosted server; None: the provider's own.
    language_model_base: str | None = None
    #: US dollars per million input and output tokens, as `0.15/0.60`, for a model that litellm's price map lacks.
    language_model_price: str | None = Field(default=None, pattern=_PRICE)
    #: Rate limit per tenant over all processes, as `number/second`, `/minute`, `/hour` or `/day`.
    language_model_rate: str | None = Field(default=None, pattern=_RATE)
    #: Concurrent requests of a stage.
    language_model_concurrency: int = Field(default=4, ge=1, le=100)
    #: Maximum number of items in one request. Each request pays for the prompt once.
    language_model_batch: int = Field(default=1, ge=1, le=100)
    #: Timeout of a reply in seconds.
    language_model_seconds: float = Field(default=60.0, gt=0, le=3600)
    #: Attempts before a request fails.
    language_model_attempts: int = Field(default=5, ge=1, le=20)
    #: `none`, or a fast language model that classifies moods within API requests, as `litellm/<provider>/<model>`.
    mood_model: str = Field(default="none", min_length=1)
    #: Its base URL, price and rate limit, as for the language model.
    mood_model_base: str | None = None
    mood_model_price: str | None = Field(default=None, pattern=_PRICE)
    mood_model_rate: str | None = Field(default=None, pattern=_RATE)
    #: Concurrent requests of a process to it. Messages beyond the limit are classified without the model.
    mood_model_concurrency: int = Field(default=16, ge=1, le=1000)
    #: Seconds to wait for a late reply, to record its cost.
    mood_model_seconds: float = Field(default=5.0, gt=0, le=60)
    #: `none`, or a cross-encoder that re-ranks recall, as `sentence-transformers/<name or folder>`.
    reranker: str = Field(default="none", pattern=r"^(none|sentence-transformers/.+)$")
    #: Number of embedder threads.
    threads: int = Field(default_factory=_default_threads, ge=1, le=1024)
    #: Executor of the buckets of `reverie run` and `rebuild`: `threads` of this process, or workers on `ray`.
    executor: Literal["threads", "ray"] = "threads"
    #: Address of a Ray cluster; None: one on this machine, which ends with the command.
    ray_address: str | None = Field(default=None, min_length=1, validation_alias="RAY_ADDRESS")
    #: Number of subject buckets into which the orchestrator splits the work.
    buckets: int = Field(default=4, ge=1, le=100)
    #: Webhook of Slack, or one that takes the same JSON, to which the orchestrator reports failures and changes.
    alert_url: SecretStr | None = None
    #: API connections per database role. More than the number of cores gains nothing.
    api_connections: int = Field(default=4, ge=1, le=100)
    #: Size limit of an API request in bytes.
    api_bytes: int = Field(default=4 << 20, ge=1 << 10, le=1 << 30)
    #: Limit of all characters in an API request, because rules and models take time for each.
    api_characters: int = Field(default=200_000, ge=1 << 10, le=1 << 30)
    #: Timeout of an API request, and of each of its statements, in seconds.
    api_seconds: float = Field(default=10.0, gt=0, le=3600)
    #: Rate limit per API key and process, as `number/second`, `/minute`, `/hour` or `/day`.
    api_rate: str = Field(default="200/second", pattern=_RATE)
    #: Origins of pages, besides those of this machine, that may send messages to `/mcp`; separated by commas.
    mcp_origins: Annotated[tuple[str, ...], NoDecode] = ()
    #: URLs of OAuth servers that issue keys of the API as access tokens, announced to MCP clients; separated by commas.
    mcp_issuers: Annotated[tuple[str, ...], NoDecode] = ()
    #: Hosts of webhooks that may have private, loopback or link-local addresses; separated by commas.
    webhook_private_hosts: Annotated[tuple[str, ...], NoDecode] = ()
    #: Whether `reverie serve` serves the inspector too, as its option `--inspector` says.
    inspector: bool = False
    #: Key that opens every tenant in the inspector; it is not an API key. None: each key opens its own tenant.
    inspector_key: SecretStr | None = Field(default=None, min_length=32, max_length=1000)
    #: Secret that signs the inspector's cookies; processes behind one address share it. None: random, for one process.
    inspector_secret: SecretStr | None = Field(default=None, min_length=32, max_length=1000)

    #: Retention in days of rows that no memory depends on; 0 keeps them forever. The run ledger:
    keep_runs_days: int = Field(default=90, ge=0, le=36_500)
    #: The log of recalls: questions, and recalls of turns only. The parts that a rebuild reads are kept.
    keep_recalls_days: int = Field(default=180, ge=0, le=36_500)
    #: The log of assembled contexts.
    keep_contexts_days: int = Field(default=90, ge=0, le=36_500)
    #: The cost ledger.
    keep_calls_days: int = Field(default=400, ge=0, le=36_500)
    #: Replies of language models. Without them, a rebuild has to request and pay for them again.
    keep_replies_days: int = Field(default=0, ge=0, le=36_500)
    #: Cached vectors of embedding models that the tenant no longer uses.
    keep_embeddings_days: int = Field(default=30, ge=0, le=36_500)

    @field_validator("database_url", "read_url")
    @classmethod
    def _plain_scheme(cls, value: SecretStr | None) -> SecretStr | None:
        if value is None:
            return None
        return SecretStr(postgres_url(value.get_secret_value()))

    @field_validator("mcp_origins", "mcp_issuers", "webhook_private_hosts", mode="before")
    @classmethod
    def _separated(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        return tuple(each.strip().rstrip("/") for each in value.split(",") if each.strip())

    @field_validator("home")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().absolute()


class SourceSettings(BaseSettings):
    """The Postgres that an orchestrator imports turns from: `REVERIE_SOURCE_URL` and so on. Off without a URL."""

    model_config = SettingsConfigDict(env_prefix="REVERIE_SOURCE_", env_ignore_empty=True, extra="ignore", frozen=True)

    #: URL of the database, as for `DATABASE_URL`. A password may be in PGPASSWORD or a passfile instead.
    url: SecretStr | None = None
    #: SQL query of the rows to import.
    query: str | None = None
    #: Table to import whole, instead of a query.
    table: str | None = None
    #: A column that only grows, such as `updated_at`. None: each import reads all rows.
    cursor: str | None = None
    #: The column that identifies a row. None: `id`, if there is one.
    key: str | None = None
    #: Name under which the position of the import is kept. None: made of database and table.
    name: str | None = None
    #: Field names and values, as `--map` takes them, separated by commas.
    map: str = ""
    #: The time zone of times without an offset.
    timezone: str | None = None
    #: The subject of all rows.
    subject: str | None = None

    @field_validator("url")
    @classmethod
    def _plain_url(cls, value: SecretStr | None) -> SecretStr | None:
        return None if value is None else SecretStr(postgres_url(value.get_secret_value()))

    @property
    def mapping(self) -> dict[str, str]:
        """`map` as a mapping. Raises SettingsError if a pair is not OURS=THEIRS."""
        pairs = [pair.strip().partition("=") for pair in self.map.split(",") if pair.strip()]
        if any(not (ours and theirs) for ours, _, theirs in pairs):
            raise SettingsError(
                "REVERIE_SOURCE_MAP cannot be used: it holds pairs such as subject_id=user,role:klant=user."
            )
        return {ours: theirs for ours, _, theirs in pairs}


def load_settings() -> Settings:
    """Read the environment.

    Raises SettingsError naming the first invalid variable, without its value, which may be a secret.
    """
    try:
        return Settings()
    except ValidationError as error:
        raise _settings_error(error, "REVERIE_") from None


def load_source_settings() -> SourceSettings:
    """Read the environment for a source. Raises SettingsError as `load_settings` does."""
    try:
        return SourceSettings()
    except ValidationError as error:
        raise _settings_error(error, "REVERIE_SOURCE_") from None


def _settings_error(error: ValidationError, prefix: str) -> SettingsError:
    first = error.errors(include_input=False, include_url=False)[0]
    field = str(first["loc"][0]) if first["loc"] else "environment"
    variable = field.upper() if field.upper() in _OTHERS_NAMES else f"{prefix}{field.upper()}"
    reason = str(first["msg"]).removeprefix("Value error, ")
    return SettingsError(f"{variable} cannot be used: {reason[:1].lower()}{reason[1:]}.")
