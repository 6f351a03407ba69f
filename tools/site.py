"""Writes the pages of the documentation site to var/site/pages, with their navigation: `make site`.

The pages keep their paths in the repository, so that their links work. A link to a file that is not a page becomes its
text. The reference is generated from the code (`tools/reference`).
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tools.reference import reference_pages

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "var" / "site"
#: The folder of the pages' pictures, from `make screens`.
SCREENS = "docs/screens"
#: Pages outside `docs/`.
OTHERS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "bench/README.md", "examples/README.md",
          *(path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("clients/*/README.md"))))  # fmt: skip
#: The pages by heading, in the order of the navigation: those of `docs/` by name, others by path.
ORDER: Mapping[str, tuple[str, ...]] = {
    "Start": ("README.md", "quickstart", "docs/README.md"),
    "Concepts": (
        "ARCHITECTURE.md", "glossary", "currency", "profile", "mood", "signals", "events", "sensitivity", "reader",
        "rules"),
    "Agent developers": ("live", "context", "correcting", "assisting", "mcp", "adapters", "testing", "moving", *(
        page for page in OTHERS if page.startswith("clients/"))),
    "Data engineers": (
        "importing", "orchestration", "rebuilding", "evaluating", "simulating", "quality", "examples/README.md"),
    "Analysts": ("marts",),
    "Operators": ("operating", "inspector", "deploying", "sizing", "telemetry", "erasing"),
    "Deciders": ("comparing", "policies", "models", "prompts"),
    "Reference": (
        "cli", *(f"reference/{page}.md" for page in ("commands", "api", "python", "policies", "marts", "metrics")),
        "bench/README.md"),
    "Contributors": ("CONTRIBUTING.md", "CHANGELOG.md", "design-sources"),
}  # fmt: skip
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
#: The address from which the theme loads the shim that makes search work in pages opened from disk.
_SHIM = "https://unpkg.com/iframe-worker/shim"
_FENCE = re.compile(r"^\s*(```|~~~)")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.)\s")


def main() -> None:
    """Write all pages, or with `--finish SHIM` complete the built site."""
    if sys.argv[1:2] == ["--finish"]:
        finish(TARGET / "html", Path(sys.argv[2]))
        return
    pages = write_pages(TARGET / "pages")
    config = {"INHERIT": "../../mkdocs.yml", "docs_dir": "pages", "site_dir": "html", "nav": navigation(pages)}
    # JSON is YAML
    (TARGET / "mkdocs.yml").write_text(json.dumps(config, indent=1), encoding="utf-8")
    print(f"{len(pages)} pages in {TARGET / 'pages'}")


def write_pages(folder: Path) -> list[str]:
    """Empty a folder, write all pages into it, and return their paths."""
    shutil.rmtree(folder, ignore_errors=True)
    sources = [*OTHERS, *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md")))]
    written = {page: site_text(page, set(sources)) for page in sources}
    written |= reference_pages()
    for page, text in written.items():
        (path := folder / page).parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / SCREENS, folder / SCREENS)
    return list(written)


def finish(html: Path, shim: Path) -> None:
    """Copy into the site, and refer to, the shim that search needs in pages opened from disk, instead of the web's."""
    if not shim.is_file():
        return
    shutil.copyfile(shim, html / "assets" / "javascripts" / "iframe-worker.js")
    for page in html.rglob("*.html"):
        up = "../" * (len(page.relative_to(html).parts) - 1)
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace(_SHIM, f"{up}assets/javascripts/iframe-worker.js"), encoding="utf-8")


def site_text(page: str, pages: set[str]) -> str:
    """Return a page's text as the site's Markdown needs it: a blank line before lists, and links only to pages."""
    lines: list[str] = []
    is_code = False
    for line in (ROOT / page).read_text(encoding="utf-8").splitlines():
        if _FENCE.match(line):
            is_code = not is_code
        elif not is_code:
            line = _LINK.sub(lambda link: _link(link, page, pages), line)
            if _ITEM.match(line) and lines and lines[-1].strip() and not _continues_list(lines):
                lines.append("")
        lines.append(line)
    return "\n".join(lines) + "\n"


def _continues_list(lines: list[str]) -> bool:
    """Return whether the paragraph above is already an item of a list, or its continuation."""
    for line in reversed(lines):
        if not line.strip():
            return False
        if _ITEM.match(line):
            return True
    return False


def _link(link: re.Match[str], page: str, pages: set[str]) -> str:
    image, label, target = link.groups()
    path, _, anchor = target.partition("#")
    if "://" in target or target.startswith("mailto:") or not path:
        return link.group()
    found = (ROOT / page).parent.joinpath(path).resolve()
    if not found.is_relative_to(ROOT):
        return link.group()
    name = found.relative_to(ROOT).as_posix()
    if name in pages or (image and name.startswith(f"{SCREENS}/") and found.is_file()):
        return link.group()
    if found.is_dir() and f"{name}/README.md" in pages:
        return f"{image}[{label}]({path.rstrip('/')}/README.md{'#' + anchor if anchor else ''})"
    return label if found.exists() else link.group()


def navigation(pages: list[str]) -> list[dict[str, Any]]:
    """Return the navigation: the pages in `ORDER`, all other pages under More, and the decisions by number."""
    named: dict[str, list[str]] = {
        heading: [page if page.endswith(".md") else f"docs/{page}.md" for page in listed]
        for heading, listed in ORDER.items()
    }
    decisions = [page for page in pages if page.startswith("docs/decisions/")]
    known = {page for listed in named.values() for page in listed} | set(decisions)
    named |= {
        "More": sorted(set(pages) - known),
        "Decisions": sorted(decisions, key=lambda page: (page[-9:] != "README.md", page)),
    }
    return [{heading: [page for page in listed if page in pages]} for heading, listed in named.items() if listed]


if __name__ == "__main__":
    main()
