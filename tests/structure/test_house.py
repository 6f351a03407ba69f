"""The code stays easy to live in: the counts of `make house` keep to their goals, and the recipes are true."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.house import COUNTS, RECIPES, Count, House

ROOT = Path(__file__).resolve().parents[2]
HOUSE = House(ROOT)

#: Counts that have not reached their goal, each with the number that it must not exceed: lower it when the count falls.
CEILINGS = {
    "untested": 127,
}


@pytest.mark.parametrize("name", [count.__name__ for count in COUNTS])
def test_a_count_keeps_to_its_goal(name: str) -> None:
    count: Count = getattr(HOUSE, name)()
    most = CEILINGS.get(name, count.goal)
    assert most is not None, "a count without a goal needs a ceiling"
    assert count.number is not None and count.number <= most, "\n".join(count.items)


@pytest.mark.parametrize("heading", RECIPES)
def test_a_recipe_touches_few_files(heading: str) -> None:
    count = HOUSE.recipe(heading)
    assert count.number and count.goal and count.number <= count.goal


@pytest.mark.parametrize("heading", RECIPES)
def test_files_of_a_recipe_exist(heading: str) -> None:
    steps = HOUSE.recipe(heading).items
    assert steps and len(set(steps)) == len(steps)
    stages = sorted(folder.parent.name for folder in ROOT.glob("reverie/consolidate/*/stage.py"))
    assert stages
    for step in steps:
        for path in {step.replace("<stage>", stage) for stage in stages}:
            assert any(ROOT.glob(re.sub(r"<\w+>", "*", path))), f"{path} does not exist"


LAYERS = """
[tool.importlinter]
root_packages = ["reverie"]
[[tool.importlinter.contracts]]
type = "layers"
layers = ["reverie.cli", "reverie.capture | reverie.recall", "reverie.store"]
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., House]:
    """A checkout with the files given by path; folders with modules are packages."""
    monkeypatch.delitem(sys.modules, "reverie", raising=False)

    def make(files: dict[str, str]) -> House:
        (tmp_path / "pyproject.toml").write_text(LAYERS)
        for name, text in {"reverie/__init__.py": "", **files}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            if path.suffix == ".py" and "reverie" in path.parts and not (init := path.parent / "__init__.py").exists():
                init.touch()
        return House(tmp_path)

    return make


def test_a_folder_is_as_large_as_its_modules(checkout: Callable[..., House]) -> None:
    house = checkout({"reverie/store/a.py": "", "reverie/store/b.py": "", "reverie/cli/c.py": ""})
    assert house.largest_folder().number == 2


def test_a_lazy_import_closes_a_cycle(checkout: Callable[..., House]) -> None:
    lazy = "def f():\n    from reverie.store import a\n    return a"
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from reverie.store import c"
    house = checkout(
        {
            "reverie/store/a.py": "import reverie.store.b",
            "reverie/store/b.py": lazy,
            "reverie/store/c.py": "import reverie.store.d",
            "reverie/store/d.py": typed,
        }
    )
    assert house.cycles().items == ["reverie.store.a reverie.store.b"]
    assert house.typing_cycles().number == 2


def test_an_import_may_only_go_down(checkout: Callable[..., House]) -> None:
    house = checkout(
        {
            "reverie/cli/a.py": "import reverie.store.b",
            "reverie/store/b.py": "def f():\n    import reverie.capture.c",
            "reverie/capture/c.py": "import reverie.recall.d",
            "reverie/recall/d.py": "",
            "reverie/free.py": "",
        }
    )
    assert house.upward().items == [
        "reverie.capture.c -> reverie.recall.d",
        "reverie.free is in no layer",
        "reverie.store.b -> reverie.capture.c",
    ]


def test_a_public_name_has_one_meaning(checkout: Callable[..., House]) -> None:
    house = checkout(
        {
            "reverie/a.py": "class Hit: ...\ndef fold(): ...\ndef _own(): ...\nKind = int | str\nMOST = 1",
            "reverie/b.py": "Hit = tuple[int]\nasync def fold(): ...\ndef _own(): ...\nMOST = 2\nfrom .a import Kind",
        }
    )
    assert house.names().items == ["Hit: reverie.a reverie.b", "fold: reverie.a reverie.b"]


def test_a_name_that_a_loader_looks_up_counts_once(checkout: Callable[..., House]) -> None:
    house = checkout(
        {
            "reverie/cli/memory/show.py": "def command(): ...\ndef show(): ...",
            "reverie/cli/operate/run.py": "def command(): ...\ndef show(): ...",
            "reverie/store/a.py": "def command(): ...",
            "reverie/store/b.py": "def command(): ...",
        }
    )
    assert house.names().items == [
        "command: reverie.store.a reverie.store.b",
        "show: reverie.cli.memory.show reverie.cli.operate.run",
    ]


def test_functions_are_short_and_take_little(checkout: Callable[..., House]) -> None:
    long = "class A:\n    def f(self):\n" + "        print()\n" * 50
    wide = "def g(a, b, /, c, *d, e, f, g, **h): ...\nclass B:\n    def h(self, a, b, c, d, e, f, g): ...\n"
    house = checkout({"reverie/a.py": long, "reverie/b.py": wide})
    assert house.long_functions().items == ["reverie.a:f: 51"]
    assert house.wide_functions().items == ["reverie.b:g: 8"]


def test_a_package_lists_what_it_holds(checkout: Callable[..., House]) -> None:
    contents = '"""A store.\n\n- `a`: one thing\n- `gone`: another\n- `deep`: not as a package\n\nSee `b`.\n"""'
    files = {"reverie/store/__init__.py": contents, "reverie/store/a.py": "", "reverie/store/b.py": ""}
    house = checkout({"reverie/__init__.py": '"""\n- `store/`: it"""', "reverie/store/deep/__init__.py": "", **files})
    assert house.contents().items == [
        "reverie.store: b is not listed",
        "reverie.store: deep/ is not listed",
        "reverie.store: deep does not exist",
        "reverie.store: gone does not exist",
    ]


def test_a_test_is_found_by_name(checkout: Callable[..., House]) -> None:
    modules = ("merge/stage", "link/stage", "link/pairs", "merge/pairs", "merge/write", "link/alone", "link/bare")
    tests = ("consolidate/test_merge", "live/test_alone", "consolidate/test_link_pairs", "other/test_pairs")
    paths = [f"reverie/consolidate/{name}.py" for name in modules] + [f"tests/{name}.py" for name in tests]
    assert checkout(dict.fromkeys([*paths, "tests/consolidate/test_write.py"], "")).untested().items == [
        "reverie.consolidate.link.bare",
        "reverie.consolidate.link.stage",
    ]


def test_a_query_file_has_one_owner(checkout: Callable[..., House]) -> None:
    house = checkout(
        {
            "reverie/capture/a.py": "queries('own')['x'], queries('capture')['x'], queries('lent')['x']",
            "reverie/capture/b.py": "queries('capture')['y']",
            "reverie/store/c.py": "queries('lent')['y']",
            **dict.fromkeys((f"sql/queries/{stem}.sql" for stem in ("own", "capture", "lent", "spare")), ""),
        }
    )
    assert house.query_files().items == ["lent.sql: reverie.capture.a reverie.store.c", "spare.sql: no reader"]


def test_a_recipe_is_the_list_under_its_heading(checkout: Callable[..., House]) -> None:
    house = checkout({"CONTRIBUTING.md": "## Add a stage\n1. `a.py`: x\n2. `b.py`: y\n\n## More\n1. `c.py`: z\n"})
    assert house.recipe("Add a stage").items == ["a.py", "b.py"]
    assert house.recipe("Add a policy number").number is None
