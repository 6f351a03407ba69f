"""What is installed: the engine, its SQL, its policies and its data; nothing of the checkout around it."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The files of a wheel built from this checkout, offline."""
    pytest.importorskip("hatchling", reason="needs hatchling to build a wheel")
    folder = tmp_path_factory.mktemp("wheel")
    # the backend in a process of its own: what a front end calls, without a front end
    build = f"from hatchling.build import build_wheel; build_wheel({str(folder)!r})"
    done = subprocess.run([sys.executable, "-c", build], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_the_wheel_is_the_engine_alone(names: list[str]) -> None:
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"reverie"}


def test_the_wheel_has_every_source(names: list[str]) -> None:
    expected = {str(path.relative_to(ROOT)) for path in (ROOT / "reverie").rglob("*.py")}
    expected |= {
        f"reverie/sql/{path.relative_to(ROOT / 'sql')}" for path in (ROOT / "sql").rglob("*") if path.is_file()
    }
    expected |= {f"reverie/prompts/{path.name}" for path in (ROOT / "prompts").glob("*.md")}
    expected |= {str(path.relative_to(ROOT)) for path in (ROOT / "reverie" / "policies").glob("*.toml")}
    expected |= {
        "reverie/cues/entities.toml",
        "reverie/cues/mood_weights.json",
        "reverie/cues/crisis_weights.json",
        "reverie/inference/minilm/tokenizer.json",
    }
    assert expected <= set(names)


def test_the_wheel_has_nothing_else(names: list[str]) -> None:
    kinds = {".py", ".sql", ".md", ".toml", ".json", ".txt"}
    strange = [
        name
        for name in names
        if Path(name).suffix not in kinds
        and ".dist-info/" not in name
        and Path(name).name not in {"NOTICE", "py.typed"}
    ]
    assert strange == []
    assert [name for name in names if "__pycache__" in name or "/tests/" in name] == []
