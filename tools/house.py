"""Counts that show how easy the code is to read and to change.

    python tools/house.py [CHECKOUT]

prints a table of counts with their goals, then everything that was counted, one item per line. CHECKOUT is by default
this checkout; another can be named, so that an older commit is measured by the same rules. The docstring of each method
states its rule. `tests/structure/test_house.py` enforces the goals. No code of the checkout is imported or run.
"""

from __future__ import annotations

import argparse
import ast
import re
import signal
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import grimp

#: A line of a package's docstring that lists modules or, with a slash, subpackages: "- `name`: what it holds".
ENTRY = re.compile(r"^- (`\w+/?`(?:, `\w+/?`)*)", re.MULTILINE)
#: An item of a recipe: "1. `path`: what to do there".
STEP = re.compile(r"^\d+\. `([^`]+)`", re.MULTILINE)
#: The recipes of CONTRIBUTING.md by heading, each with the most files that it may touch.
RECIPES = {"Add a stage": 9, "Add a column to memory": 7, "Add a policy number": 3}
LARGEST_FOLDER, LONGEST_FUNCTION, MOST_PARAMETERS = 20, 50, 7
#: Names that a loader looks up in every module of a package: `cli.root` runs `command` in the module of a command.
LOADED = {
    f"reverie.cli.{folder}": {"command"}
    for folder in ("agents", "generations", "measure", "memory", "operate", "privacy")
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Count:
    """A row of the table: its label, the number, the highest number allowed, and the items counted."""

    what: str
    number: int | None
    goal: int | None
    items: list[str]


class House:
    """The package `reverie/` of one checkout, and the counts for it."""

    def __init__(self, root: Path) -> None:
        """Take the root of a checkout."""
        self.root = root.resolve()

    @cached_property
    def modules(self) -> dict[str, Path]:
        """The modules by dotted name; that of a package is its `__init__.py`.

        Alembic's scripts are left out: their folder is not a package, and Alembic prescribes their names.
        """
        paths = (path for path in (self.root / "reverie").rglob("*.py") if (path.parent / "__init__.py").exists())
        return {dotted(path.relative_to(self.root)): path for path in sorted(paths)}

    @cached_property
    def packages(self) -> dict[str, Path]:
        """The folders of packages by dotted name."""
        return {name: path.parent for name, path in self.modules.items() if path.name == "__init__.py"}

    @cached_property
    def trees(self) -> dict[str, ast.Module]:
        """The syntax tree of every module by dotted name."""
        return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in self.modules.items()}

    def functions(self) -> Iterator[tuple[str, Function]]:
        """Yield every function and method with its place."""
        for module, tree in self.trees.items():
            for node in ast.walk(tree):
                if isinstance(node, Function):
                    yield f"{module}:{node.name}", node

    def imports(self, *packages: str, type_checking: bool) -> grimp.ImportGraph:
        """Return the graph of imports, also in functions; `type_checking` adds those meant only for type checkers."""
        sys.path.insert(0, str(self.root))
        try:
            return grimp.build_graph(*packages, cache_dir=None, exclude_type_checking_imports=not type_checking)
        finally:
            sys.path.remove(str(self.root))

    def largest_folder(self) -> Count:
        """Count the modules of the largest folder, except `__init__.py` and the schema's revisions, which only grow."""
        sizes: dict[str, int] = defaultdict(int)
        for path in (self.root / "reverie").rglob("*.py"):
            if path.parent.name == "versions":
                continue
            sizes[path.parent.relative_to(self.root).as_posix()] += path.name != "__init__.py"
        items = [f"{folder}: {size}" for folder, size in sorted(sizes.items(), key=lambda pair: (-pair[1], pair[0]))]
        return Count("modules in the largest folder", max(sizes.values()), LARGEST_FOLDER, items)

    def cycles(self) -> Count:
        """Count groups of modules each of which imports all the others, directly or through others of the group."""
        items = cycles_of(self.imports("reverie", type_checking=False))
        return Count("import cycles, lazy imports included", len(items), 0, items)

    def typing_cycles(self) -> Count:
        """Count the same groups with imports that only type checkers follow."""
        items = cycles_of(self.imports("reverie", type_checking=True))
        return Count("import cycles, type-checking imports included", len(items), 0, items)

    def upward(self) -> Count:
        """Count imports against the layers of the import contracts: from a lower to a higher one, or between siblings.

        A module of `reverie` outside every layer counts too, since it may import anything.
        """
        settings = tomllib.loads((self.root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
        graph = self.imports(*settings["root_packages"], type_checking=True)
        edges = [(module, to) for module in graph.modules for to in graph.find_modules_directly_imported_by(module)]
        outside, items = {name for name in self.modules if name not in {"reverie", "reverie.__main__"}}, set()
        for contract in settings["contracts"]:
            for container in contract.get("containers", [""]) if contract["type"] == "layers" else []:
                levels = layers(contract["layers"], container)
                outside = {module for module in outside if not layer_of(module, levels)}
                for importer, imported in edges:
                    source, target = layer_of(importer, levels), layer_of(imported, levels)
                    if source and target and source != target and levels[source] <= levels[target]:
                        items.add(f"{importer} -> {imported}")
        items |= {f"{module} is in no layer" for module in outside}
        return Count("imports upward or between sibling layers", len(items), 0, sorted(items))

    def names(self) -> Count:
        """Count public classes, functions and type aliases, at the top of a module, that another module defines too.

        Names that a loader looks up in each module of a package, `LOADED`, do not count, since the loader sets them.
        """
        places = defaultdict(set)
        for module, tree in self.trees.items():
            loaded = {name for package, names in LOADED.items() if within(module, package) for name in names}
            for name in set(public_names(tree)) - loaded:
                places[name].add(module)
        items = [f"{name}: {' '.join(sorted(where))}" for name, where in sorted(places.items()) if len(where) > 1]
        return Count("public names that several modules define", len(items), 0, items)

    def long_functions(self) -> Count:
        """Count functions of more than 50 lines, from `def` to the last line, including the docstring."""
        lengths = [((node.end_lineno or node.lineno) - node.lineno + 1, place) for place, node in self.functions()]
        items = [f"{place}: {lines}" for lines, place in sorted(lengths, reverse=True) if lines > LONGEST_FUNCTION]
        return Count(f"functions of more than {LONGEST_FUNCTION} lines", len(items), 0, items)

    def wide_functions(self) -> Count:
        """Count functions of more than 7 parameters, without `self`, `cls` and the options of commands."""
        widths = [(len(parameters(node)), place) for place, node in self.functions() if not is_command(node)]
        items = [f"{place}: {width}" for width, place in sorted(widths, reverse=True) if width > MOST_PARAMETERS]
        return Count(f"functions of more than {MOST_PARAMETERS} parameters", len(items), 0, items)

    def contents(self) -> Count:
        """Count modules and subpackages that their package's docstring does not list, and missing ones that it lists.

        A package lists each on a line that begins with "- `name`", a subpackage with a slash after the name.
        """
        items = []
        for package, folder in self.packages.items():
            docstring = ast.get_docstring(self.trees[package]) or ""
            listed = set(re.findall(r"`(\w+/?)`", " ".join(ENTRY.findall(docstring))))
            present = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("__")}
            present |= {f"{path.parent.name}/" for path in folder.glob("*/__init__.py")}
            items += [f"{package}: {name} is not listed" for name in sorted(present - listed)]
            items += [f"{package}: {name} does not exist" for name in sorted(listed - present)]
        return Count("modules that their package lists wrongly or not at all", len(items), 0, items)

    def untested(self) -> Count:
        """Count modules without a test under their own name.

        The test of `reverie/capture/history/files.py` is a file `test_files.py` or `test_history_files.py` under
        `tests/`. If several modules are called `files`, a `test_files.py` counts only in `tests/capture/` or
        `tests/history/`. The test of a stage's module, such as `reverie/consolidate/merge/decide.py`, can have the name
        of the stage: `test_merge.py` or `test_merge_decide.py`.
        """
        tests = {(path.parent.name, path.stem.removeprefix("test_")) for path in self.root.glob("tests/**/test_*.py")}
        anywhere = {name for _, name in tests}
        modules = [name for name, path in self.modules.items() if not path.stem.startswith("__")]
        names = {module: module.removesuffix(".stage").split(".")[1:] for module in modules}
        shared = Counter(name for *_, name in names.values())
        items = []
        for module, (*folders, name) in names.items():
            known = {f"{folder}_{name}" for folder in folders[-1:]} | ({name} if shared[name] == 1 else set())
            known |= set(folders[-1:]) if folders[:1] == ["consolidate"] else set()
            if not known & anywhere and not any((folder, name) in tests for folder in folders):
                items.append(module)
        return Count("modules without a test under their name", len(items), None, items)

    def query_files(self) -> Count:
        """Count files of `sql/queries/` without an owner.

        The owner is the only module that reads the file, the package of its name, or the one package, such as
        `reverie.store` or `reverie.recall`, that contains all its readers.
        """
        readers = defaultdict(set)
        for module, tree in self.trees.items():
            for stem in files_read(tree):
                readers[stem].add(module)
        items = []
        for path in sorted((self.root / "sql" / "queries").rglob("*.sql")):
            modules = readers[path.stem]
            namesakes = [package for package in self.packages if package.rpartition(".")[2] == path.stem]
            in_namesake = any(all(within(module, package) for module in modules) for package in namesakes)
            packages = {".".join(module.split(".")[:2]) for module in modules}
            in_one = len(modules) == 1 or (len(packages) == 1 and packages != {"reverie.consolidate"})
            if not modules or not (in_one or in_namesake):
                items.append(f"{path.name}: {' '.join(sorted(modules)) or 'no reader'}")
        return Count("query files without one owner", len(items), 0, items)

    def recipe(self, heading: str) -> Count:
        """Count files that a recipe of CONTRIBUTING.md touches: the numbered list under its heading, a path an item."""
        text = (self.root / "CONTRIBUTING.md").read_text(encoding="utf-8")
        section = re.search(rf"^## {heading}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
        steps = STEP.findall(section[1]) if section else []
        return Count(f"files touched: {heading.lower()}", len(steps) if section else None, RECIPES[heading], steps)


#: The rows of the table, before the recipes.
COUNTS = (
    House.largest_folder,
    House.cycles,
    House.typing_cycles,
    House.upward,
    House.names,
    House.long_functions,
    House.wide_functions,
    House.contents,
    House.untested,
    House.query_files,
)


def dotted(path: Path) -> str:
    """Return the dotted name of a module's path."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def within(module: str, package: str) -> bool:
    """Return whether a module is a package or inside it."""
    return f"{module}.".startswith(f"{package}.")


def cycles_of(graph: grimp.ImportGraph) -> list[str]:
    """Return the groups of modules that import one another, each as a line of names."""
    groups = {
        frozenset({module} | (graph.find_upstream_modules(module) & graph.find_downstream_modules(module)))
        for module in graph.modules
    }
    return sorted(" ".join(sorted(group)) for group in groups if len(group) > 1)


def layers(lines: list[str], container: str) -> dict[str, int]:
    """Return the packages of an import contract's layers with their levels; the highest layer has the highest level."""
    prefix = f"{container}." if container else ""
    split = [re.split(r"[|:]", line) for line in reversed(lines)]
    return {prefix + name.strip(" ()"): level for level, names in enumerate(split) for name in names}


def layer_of(module: str, levels: dict[str, int]) -> str | None:
    """Return the layer of a module."""
    return next((package for package in levels if within(module, package)), None)


def public_names(tree: ast.Module) -> Iterator[str]:
    """Yield the public classes, functions and type aliases that a module defines at its top level.

    An alias is an assignment to a name in CapWords.
    """
    for node in tree.body:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if not name.startswith("_"):
                    yield name
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                if re.match(r"[A-Z]\w*[a-z]", name):
                    yield name


def is_command(node: Function) -> bool:
    """Return whether a function is a command, whose parameters are its options."""
    return any(ast.unparse(each).partition("(")[0].endswith(".command") for each in node.decorator_list)


def parameters(node: Function) -> list[ast.arg]:
    """Return the parameters of a function except `self` and `cls`."""
    taken = node.args
    every = [*taken.posonlyargs, *taken.args, taken.vararg, *taken.kwonlyargs, taken.kwarg]
    return [parameter for parameter in every if parameter and parameter.arg not in {"self", "cls"}]


def files_read(tree: ast.Module) -> Iterator[str]:
    """Yield the query files that a module reads: the `stem` of each `queries("stem")`."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="queries"), args=[ast.Constant(value=str(stem)), *_]):
                yield stem


def main() -> None:
    """Print the table and the items counted."""
    parser = argparse.ArgumentParser(description="Count how easy the code is to live in.")
    parser.add_argument("checkout", nargs="?", type=Path, default=Path(__file__).resolve().parents[1])
    house = House(parser.parse_args().checkout)
    counts = [count(house) for count in COUNTS] + [house.recipe(heading) for heading in RECIPES]
    print(f"{'count':>7} {'goal':>6}")
    for row in counts:
        number, goal = ("-" if value is None else value for value in (row.number, row.goal))
        print(f"{number:>7} {goal:>6}  {row.what}")
    for row in counts:
        if row.items:
            print(f"\n{row.what}", *row.items, sep="\n    ")


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends the output
    main()
