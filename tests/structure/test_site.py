"""The pages of the documentation site: all of them, each in the navigation once, with links that lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools import site

LINK = re.compile(r"\[[^\]]*\]\(([^()\s:#]+\.md)(?:#[^()\s]*)?\)")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    site.write_pages(folder)
    return folder


def test_every_page_is_in_the_navigation_once(pages: Path) -> None:
    written = sorted(path.relative_to(pages).as_posix() for path in pages.rglob("*.md"))
    listed = [page for section in site.navigation(written) for listed in section.values() for page in listed]
    assert sorted(listed) == written and listed[0] == "README.md"
    assert {f"docs/{path.name}" for path in (site.ROOT / "docs").glob("*.md")} <= set(written)


def test_links_between_pages_hold(pages: Path) -> None:
    for path in pages.rglob("*.md"):
        for target in LINK.findall(re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)):
            assert (path.parent / target).resolve().is_file(), f"{path.relative_to(pages)}: {target}"


def test_lists_stand_apart_and_files_that_are_no_pages_are_text() -> None:
    text = site.site_text("CONTRIBUTING.md", {"CONTRIBUTING.md"})
    assert re.search(r"^# Contributing\n\n- ", text)
    assert "](../reverie/" not in "".join(
        site.site_text(page, {page}) for page in ("docs/README.md", "docs/adapters.md")
    )


def test_the_shim_of_the_search_comes_from_the_site(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "assets" / "javascripts").mkdir(parents=True)
    (shim := tmp_path / "shim.js").write_text("x")
    (page := tmp_path / "docs" / "cli.html").write_text('<script src="https://unpkg.com/iframe-worker/shim">')
    site.finish(tmp_path, shim)
    assert page.read_text() == '<script src="../assets/javascripts/iframe-worker.js">'


def test_screens_are_small_and_each_is_shown(pages: Path) -> None:
    from tools.screens import MOST_BYTES, SCREENS

    taken = {path.stem: path.stat().st_size for path in (site.ROOT / site.SCREENS).glob("*.png")}
    assert taken.keys() == {screen.name for screen in SCREENS} and max(taken.values()) <= MOST_BYTES
    shown = "".join(path.read_text(encoding="utf-8") for path in (pages / "docs").glob("*.md"))
    for name in taken:
        assert f"](screens/{name}.png)" in shown and (pages / "docs" / "screens" / f"{name}.png").is_file()
