"""The environment, read on demand, and what a user reads when a variable is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie import errors
from reverie.errors import ReverieError, SettingsError
from reverie.settings import load_settings


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATABASE_URL", *(f"REVERIE_{name}" for name in ("HOME", "TENANT", "POLICY", "THREADS"))):
        monkeypatch.delenv(name, raising=False)


def test_an_empty_environment_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVERIE_TENANT", "")
    settings = load_settings()
    assert settings.database_url is None
    assert (settings.tenant, settings.policy, settings.embedding_model) == ("default", "reverie", "minilm")
    assert settings.home.is_absolute()
    assert settings.threads >= 1


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_every_spelling_of_the_url(monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    monkeypatch.setenv("DATABASE_URL", f"{scheme}://u:p%40@h:1/x?sslmode=require")
    found = load_settings().database_url
    assert found is not None
    assert found.get_secret_value() == "postgresql://u:p%40@h:1/x?sslmode=require"
    assert "p%40" not in repr(load_settings())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "mysql://u:hunter2@h/x"),
        ("DATABASE_URL", "hunter2"),
        ("REVERIE_THREADS", "hunter2"),
        ("REVERIE_THREADS", "0"),
    ],
)
def test_a_wrong_value_is_named_and_not_shown(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=f"^{name} cannot be used: .*[.]$") as caught:
        load_settings()
    assert "hunter2" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_home_is_made_absolute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVERIE_HOME", "~/elsewhere")
    assert load_settings().home == Path.home() / "elsewhere"


def test_each_error_has_its_own_exit_code_and_a_sentence() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, ReverieError)]
    assert len({kind.exit_code for kind in kinds}) == len(kinds)
    for kind in kinds:
        assert str(kind()).endswith(".")
        assert str(kind("Other words.")) == "Other words."
