"""The docs name only what exists: files, modules, rows of the design sources, places of the glossary."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / folder / "README.md" for folder in ("bench", "examples", "clients/python")),
    ]
)
#: A history of changes names files as they were.
HISTORY = {"CHANGELOG.md"}
FOLDERS = [
    path for path in sorted(ROOT.iterdir()) if path.is_dir() and not path.name.startswith((".", "build", "dist"))
]
FILES = {
    f"/{path.relative_to(ROOT).as_posix()}"
    for top in (ROOT, *FOLDERS)
    for path in (top.glob("*") if top == ROOT else top.rglob("*"))
    if "__pycache__" not in path.parts
}
#: Files that users have, and examples of names.
EXAMPLES = {
    "analytics.json",
    "claude_desktop_config.json",
    "conversations.json",
    "mine.toml",
    "my-policy.toml",
    "your.jsonl",
    "test_history_files.py",
}

_CODE = re.compile(r"`([^`\n]+)`")
_FILE = re.compile(r"[\w./-]+\.(?:py|toml|md|sql|jsonl|json|yaml|lock)")
_MODULE = re.compile(r"(?:reverie|assets|flows|resources|deployments|bench)(?:\.[a-z_]\w*)+")
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
_SECTION = r"\d(?:\.[\dA-E])?"
_DESIGN = re.compile(
    r"\b(?P<name>Brain|Contact|Chat|Logic|Agent)(?P<flow> flows?)? "
    rf"(?P<sections>{_SECTION}(?:(?:, | and ){_SECTION})*)(?![\w.]*\d)"
)
_ROW = re.compile(r"\bspec (?P<rows>[A-F]\d+(?:(?:, | and )[A-F]\d+)*)")


def exists(path: str) -> bool:
    """Whether a file has this path, from the root or from any folder."""
    return any(file.endswith(f"/{path.strip('/')}") for file in FILES)


def anchors(page: Path) -> set[str]:
    """The anchors of a page: its own and those of its headings."""
    text = page.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return set(re.findall(r'<a id="([^"]+)"></a>', text)) | {
        re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


def cited(text: str) -> Iterator[str]:
    """The anchors that a text refers to in docs/design-sources.md."""
    text = re.sub(r"\s*\n\s*(?:#:? ?)?", " ", text)
    for match in _DESIGN.finditer(text):
        flow = "flow-" if match["flow"] else ""
        for section in re.findall(_SECTION, match["sections"]):
            yield f"{match['name']}-{flow}{section}".lower()
    for match in _ROW.finditer(text):
        yield from (row.lower() for row in re.findall(r"[A-F]\d+", match["rows"]))


def glossary() -> list[list[str]]:
    lines = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return rows[1:]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_files_modules_and_links_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    missing = []
    for code in _CODE.findall(text) if page.name not in HISTORY else ():
        if _FILE.fullmatch(code) and code.removeprefix("./") not in EXAMPLES and not exists(code.removeprefix("./")):
            missing.append(code)
        if _MODULE.fullmatch(code.partition("(")[0]):
            path = code.partition("(")[0].replace(".", "/")
            if not any(exists(f"{name}{end}") for name in (path, path.rpartition("/")[0]) for end in (".py", "")):
                missing.append(code)
    for path, anchor in _LINK.findall(text):
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            missing.append(f"{path}#{anchor}")
    assert not missing


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_the_first_line_says_what_the_reader_gets(page: Path) -> None:
    title, first, *_ = (line for line in page.read_text(encoding="utf-8").splitlines() if line)
    assert title.startswith("# ") and first.startswith("This page "), first


def test_every_cited_section_of_a_design_is_described() -> None:
    known = anchors(ROOT / "docs" / "design-sources.md")
    files = [
        *PAGES,
        *(path for top in FOLDERS for suffix in ("py", "toml", "sql", "md") for path in top.rglob(f"*.{suffix}")),
    ]
    unknown = {
        f"{path.relative_to(ROOT)}: {anchor}"
        for path in files
        for anchor in cited(path.read_text(encoding="utf-8"))
        if anchor not in known
    }
    assert not unknown


def test_citations_are_found() -> None:
    text = "By rules (spec A3, D12; Brain 4.1, 4.3 and\n    Chat flows 2 and 3, Agent 3.C)."
    assert list(cited(text)) == ["brain-4.1", "brain-4.3", "chat-flow-2", "chat-flow-3", "agent-3.c", "a3", "d12"]


def test_glossary_terms_are_sorted_and_unique() -> None:
    terms = [row[0].lower().replace("-", "") for row in glossary()]
    assert terms == sorted(set(terms))


def test_glossary_places_exist() -> None:
    migrations = "\n".join(
        path.read_text(encoding="utf-8") for path in sorted((ROOT / "sql" / "migrations").glob("*.sql"))
    )
    tables = set(re.findall(r"^create (?:table|view) (?:if not exists )?([a-z_.]+)", migrations, re.MULTILINE))
    for term, _, code, table in glossary():
        assert code, term
        assert all((ROOT / place).exists() for place in _CODE.findall(code)), (term, code)
        assert set(_CODE.findall(table)) <= tables, (term, table)


def test_no_page_names_files_outside_of_the_repository() -> None:
    outside = re.compile(r"\.\./shared(?!/data)")
    assert not [page.name for page in PAGES if outside.search(page.read_text(encoding="utf-8"))]


def test_every_flow_is_in_the_table_of_operating() -> None:
    page = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
    described = set(re.findall(r"^\| `(\w+)` \| `", page, re.MULTILINE))
    assert {path.stem for path in (ROOT / "flows").glob("[!_]*.py")} <= described
