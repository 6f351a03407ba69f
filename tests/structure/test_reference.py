"""The pages that are made from the code: nothing of it is left out, and each thing is explained."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from reverie.cli.root import SECTIONS
from reverie.policy import Policy
from tools.reference import reference_pages
from tools.reference.python import MODULES
from tools.reference.table import table

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {Path(path).stem: text for path, text in reference_pages().items()}


def test_commands_and_operations(pages: dict[str, str]) -> None:
    assert all(f"## reverie {name}\n" in pages["commands"] for names in SECTIONS.values() for name in names)
    assert "## POST /v1/store\n" in pages["api"] and "| `subject_id` | body | string | yes |" in pages["api"]


def test_every_python_package_is_in_the_reference() -> None:
    known = {module.partition(".")[0] for module in MODULES}
    projects = [tomllib.loads(path.read_text("utf-8")) for path in ROOT.glob("clients/*/pyproject.toml")]
    assert known == {project["project"]["name"].replace("-", "_") for project in projects} | {"reverie"}


def test_the_site_finds_every_python_package() -> None:
    (paths,) = re.findall(r"paths: \[(.*?)\]", (ROOT / "mkdocs.yml").read_text("utf-8"), re.DOTALL)
    folders = {each.strip().removeprefix("../../") for each in paths.split(",")}
    assert folders == {path.parent.relative_to(ROOT).as_posix() for path in ROOT.glob("clients/*/pyproject.toml")} | {
        "../.."
    }


def test_every_key_of_a_policy_stands_under_its_heading(pages: dict[str, str]) -> None:
    sections = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", pages["policies"], re.MULTILINE | re.DOTALL))
    assert {f"[{name}]" for name, field in Policy.model_fields.items() if hasattr(field.annotation, "model_fields")} < {
        *sections
    }
    assert "| `threshold` | number, 0.5 to 1 | 0.999 | 0.92 | Cosine above which they merge," in sections["[merge]"]
    assert "| `cues` | list of text |" in sections["[[extract.rules]]"]
    assert "[extract.relations.NAME]" in sections and "| `fact` |" in sections["[extract.importance]"]


def test_every_column_of_the_marts_is_in_the_reference(pages: dict[str, str]) -> None:
    sections = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", pages["marts"], re.MULTILINE | re.DOTALL))
    assert sections.keys() == {path.stem for path in (ROOT / "dbt/models/marts").glob("*.sql")}
    for model in yaml.safe_load((ROOT / "dbt/models/marts/marts.yml").read_text("utf-8"))["models"]:
        for column in model["columns"]:
            assert f"| `{column['name']}` | {column['data_type']} |" in sections[model["name"]]


def test_metrics_of_both_doors(pages: dict[str, str]) -> None:
    served = (ROOT / "reverie/api/metrics.py").read_text("utf-8")
    names = re.findall(r'"(reverie_\w+)"', served)
    assert names and all(f"| `{name}" in pages["metrics"] for name in names)
    assert "| `zero_hit_rate` | ratio | Share of recalls that returned nothing. |" in pages["metrics"]


def test_a_cell_keeps_its_table_whole() -> None:
    assert table(("a",), [("x | y\nz",)]) == "| a |\n| --- |\n| x \\| y z |\n"
