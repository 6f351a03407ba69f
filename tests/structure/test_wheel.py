"""What is installed: the engine, its SQL, its policies and its data; nothing of the checkout around it."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
CLIENTS = sorted(path.parent for path in (ROOT / "clients").glob("*/pyproject.toml"))


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The files of a wheel built from this checkout, offline."""
    with zipfile.ZipFile(built(ROOT, tmp_path_factory.mktemp("wheel"))) as archive:
        return archive.namelist()


def built(project: Path, folder: Path) -> Path:
    """Build the wheel of a project into a folder."""
    pytest.importorskip("hatchling", reason="needs hatchling to build a wheel")
    # the backend in a process of its own: what a front end calls, without a front end
    build = f"from hatchling.build import build_wheel; build_wheel({str(folder)!r})"
    done = subprocess.run([sys.executable, "-c", build], cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


def test_the_client_installs_without_the_engine(tmp_path: Path) -> None:
    wheel = built(ROOT / "clients" / "python", tmp_path / "dist")
    assert wheel.stat().st_size < 90_000
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
        (metadata,) = (archive.read(name).decode() for name in archive.namelist() if name.endswith("/METADATA"))
    requirements = [Requirement(line.partition(": ")[2]) for line in metadata.splitlines() if "Requires-Dist" in line]
    needed = {each.name for each in requirements if each.marker is None}
    assert {each.name for each in requirements} - needed == {"jinja2", "mcp"}
    assert needed == {"httpx", "pydantic", "tenacity"}
    assert (tmp_path / "site" / "reverie_client" / "py.typed").is_file()
    # nothing but the wheel and what it needs: a package beyond those cannot be imported
    script = f"""
import sys
from importlib.metadata import requires
from packaging.requirements import Requirement
allowed = set()
def allow(name):
    if name not in allowed:
        allowed.add(name)
        for each in map(Requirement, requires(name) or ()):
            if each.marker is None or each.marker.evaluate({{"extra": ""}}):
                allow(each.name.replace("_", "-"))
for name in {sorted(needed)!r}:
    allow(name)
sys.path.insert(0, {str(tmp_path / "site")!r})
import reverie_client, reverie_client.tools, reverie_client.hooks.install
assert reverie_client.__file__.startswith({str(tmp_path)!r}), reverie_client.__file__
tops = {{name.partition(".")[0] for name in sys.modules}}
assert not tops & {{"reverie", "psycopg", "numpy", "polars", "fastapi", "onnxruntime", "mcp"}}, tops
assert len(allowed) < 15, allowed
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("project", [path for path in CLIENTS if path.name != "python"], ids=lambda path: path.name)
def test_an_adapter_is_small_and_needs_the_client_alone(project: Path) -> None:
    sources = [path.read_text(encoding="utf-8") for path in project.rglob("*.py")]
    assert 0 < sum(len(text.splitlines()) for text in sources) <= 400
    assert not re.search(r"^\s*(from|import) reverie\b", "\n".join(sources), re.MULTILINE)
    needed = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    assert next(Requirement(line).name for line in needed) == "reverie-client" and len(needed) == 2


def test_the_package_for_npm_is_small_and_carries_its_license() -> None:
    project = ROOT / "clients" / "vercel-ai"
    sources = [path for path in (project / "src").glob("*.ts") if path.name != "api.ts"]  # which is generated
    assert 0 < sum(len(path.read_text(encoding="utf-8").splitlines()) for path in sources) <= 400
    described = json.loads((project / "package.json").read_text(encoding="utf-8"))
    assert set(described["dependencies"]) == {"openapi-fetch"} and set(described["peerDependencies"]) == {"ai"}
    assert described["license"] == "Apache-2.0" and "LICENSE" in described["files"]
    assert (project / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    versions = {tomllib.loads((path / "pyproject.toml").read_text())["project"]["version"] for path in CLIENTS}
    assert versions == {described["version"]}


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
        "reverie/py.typed",
        "reverie/language/english/entities.toml",
        "reverie/language/cues/mood_weights.json",
        "reverie/language/cues/crisis_weights.json",
        "reverie/language/cues/general_weights.json",
        "reverie/language/english/general.toml",
        "reverie/language/sensitive/secret_weights.json",
        "reverie/inference/minilm/tokenizer.json",
        "reverie/inspector/templates/base.html",
        "reverie/inspector/static/inspector.css",
    }
    assert expected <= set(names)


@pytest.mark.parametrize("project", [ROOT, *CLIENTS], ids=lambda path: path.name)
def test_a_wheel_carries_its_license(project: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(built(project, tmp_path)) as archive:
        texts = {
            name.partition(".dist-info/")[2]: archive.read(name).decode()
            for name in archive.namelist()
            if name.endswith((".dist-info/METADATA", "/licenses/LICENSE"))
        }
    assert {"License-Expression: Apache-2.0", "License-File: LICENSE"} <= set(texts["METADATA"].splitlines())
    # the text of the Apache Software Foundation, unchanged
    digest = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    assert hashlib.sha256(texts["licenses/LICENSE"].encode()).hexdigest() == digest


def test_the_wheel_has_nothing_else(names: list[str]) -> None:
    kinds = {".py", ".sql", ".md", ".toml", ".json", ".onnx", ".npz", ".txt"}
    strange = [
        name
        for name in names
        if Path(name).suffix not in kinds
        and not name.startswith(("reverie/inspector/templates/", "reverie/inspector/static/"))
        and ".dist-info/" not in name
        and Path(name).name not in {"NOTICE", "py.typed"}
    ]
    assert strange == []
    assert [name for name in names if "__pycache__" in name or "/tests/" in name] == []
