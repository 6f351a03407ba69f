"""The inspector in a browser: a memory is explained and corrected, a person erased, a generation published."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, sync_playwright

from tests.doors.browser import chromium_or_skip
from tests.inspector.conftest import Site, command

pytestmark = pytest.mark.xdist_group("inspector")


@pytest.fixture(scope="module")
def tab(site: Site) -> Iterator[Page]:
    """A tab in which the admin of acme is signed in."""
    program = chromium_or_skip()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page()
        _sign_in(page, site, "admin")
        yield page
        browser.close()


@pytest.fixture
def errors(tab: Page) -> Iterator[list[str]]:
    """What the console says; nothing is expected."""
    said: list[str] = []

    def listen(message: Any) -> None:
        if message.type in ("error", "warning"):
            said.append(message.text)

    tab.on("console", listen)
    yield said
    tab.remove_listener("console", listen)
    assert said == []


def _sign_in(page: Page, site: Site, key: str) -> None:
    page.goto(f"{site.address}sign-in")
    page.get_by_label("API key").fill(site.keys[key])
    page.get_by_role("button", name="Sign in").click()


def _ask(tab: Page, site: Site, question: str) -> str:
    tab.goto(f"{site.address}recall?tenant=acme&subject=ann")
    tab.get_by_label("Question or message").fill(question)
    tab.get_by_role("button", name="Recall").click()
    return tab.get_by_role("region", name="A: reverie").inner_text()


VIEWS = (
    "tenant",
    "subjects",
    *(f"subject?subject=ann&view={view}" for view in ("now", "history", "relations", "sessions", "signals", "profile")),
    "session?subject=ann&session=s1",
    "recall?subject=ann",
    "erase?kind=subject&subject=ann",
    "context?subject=ann",
    "conflicts",
    "triggers?all=yes",
    "reviews?seen=yes",
    "letters",
    "runs",
    "costs",
    "generations",
    "audit",
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_accessible_and_fit_a_telephone(tab: Page, site: Site, errors: list[str], scheme: Any) -> None:
    tab.emulate_media(color_scheme=scheme)
    wide, narrow = {"width": 1280, "height": 900}, {"width": 390, "height": 900}
    for view in VIEWS if scheme == "light" else VIEWS[::3]:  # the dark pages differ by colours alone
        tab.set_viewport_size(wide if scheme == "light" else narrow)  # type: ignore[arg-type]
        tab.goto(site.address + view)
        found = Axe().run(tab, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "best-practice"]})
        assert found.violations_count == 0, f"{view} {scheme}: {found.generate_report()}"
        tab.set_viewport_size(narrow)  # type: ignore[arg-type]
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390, f"{view} is too wide"
    tab.emulate_media(color_scheme="light")
    tab.set_viewport_size({"width": 1280, "height": 900})


def test_the_keyboard_reaches_the_content_first(tab: Page, site: Site) -> None:
    tab.goto(f"{site.address}subjects")
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "Skip to the content"
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.id") == "main"


def test_a_wrong_memory_is_found_explained_and_corrected(tab: Page, site: Site, errors: list[str]) -> None:
    assert "Bruno" in _ask(tab, site, "Which dog does she have?")
    tab.goto(f"{site.address}subjects")
    tab.get_by_label("Name or speaker contains").fill("an")
    tab.get_by_role("button", name="Search").click()
    tab.get_by_role("link", name="ann", exact=True).click()
    tab.get_by_role("link", name="Has a golden retriever named Bruno").first.click()
    assert "golden retriever named Bruno" in tab.locator("mark").first.inner_text()
    assert tab.get_by_role("img").get_attribute("aria-label").startswith("Importance was ")  # type: ignore[union-attr]
    tab.get_by_label("Correct text").fill("Has a beagle named Otto")
    tab.get_by_role("button", name="Replace").click()
    assert "Replaced." in tab.get_by_role("status").inner_text()
    corrections = tab.get_by_role("region", name="Corrections").inner_text()
    assert "admin (key " in corrections and "inspector)" in corrections
    answer = _ask(tab, site, "Which dog does she have?")
    assert "Otto" in answer and "golden retriever" not in answer
    tab.goto(f"{site.address}audit")
    assert "admin (key " in tab.get_by_role("region", name="Corrections").first.inner_text()


def test_two_policies_answer_side_by_side(tab: Page, site: Site, errors: list[str]) -> None:
    tab.goto(f"{site.address}recall?subject=ann")
    tab.get_by_label("Question or message").fill("Where does she live?")
    tab.get_by_label("As of").fill("2026-03-20T00:00")
    tab.get_by_label("Policy B").select_option("brain")
    tab.get_by_role("button", name="Recall").click()
    first = tab.get_by_role("region", name="A: reverie")
    assert "Oslo" in first.inner_text() and "Bergen" not in first.inner_text()
    assert tab.get_by_role("region", name="B: brain").locator(".stackbar").count() > 0
    first.locator("summary").first.click()
    assert "similarity" in first.locator("details").first.inner_text()


def test_each_line_of_a_context_leads_to_its_source(tab: Page, site: Site, errors: list[str]) -> None:
    tab.goto(f"{site.address}context?subject=ann")
    tab.get_by_label("Message").fill("What music should I play?")
    tab.get_by_role("button", name="Build the context").click()
    assert "Bergen" in tab.locator("pre").inner_text()
    tab.get_by_role("region", name="Each line and its source").get_by_role("link").first.click()
    assert tab.get_by_role("heading", name="Sources").is_visible()


def test_a_generation_is_compared_and_published(tab: Page, site: Site, errors: list[str]) -> None:
    tab.goto(f"{site.address}generations")
    tab.get_by_role("button", name="Compare").click()
    heading = tab.get_by_role("heading", name="How generation 1 differs")
    heading.or_(tab.get_by_role("alert")).wait_for(timeout=60_000)
    assert heading.is_visible(), tab.inner_text("main")
    tab.get_by_label("replace the live memory").check()
    tab.get_by_role("button", name="Publish").click()
    tab.get_by_text("Generation 1 is live").or_(tab.get_by_role("alert")).wait_for(timeout=60_000)
    assert "Generation 1 is live" in tab.inner_text("main")
    assert "inspector, key " in command(site.database, "runs", "--tenant", "acme", "--stage", "publish", "--json")
    tab.get_by_label("bring back what it replaced").check()
    tab.get_by_role("button", name="Revert").click()
    tab.get_by_text("Generation 1 is reverted").wait_for(timeout=60_000)


def test_a_subject_is_erased(tab: Page, site: Site, errors: list[str]) -> None:
    tab.goto(f"{site.address}subject?subject=bob")
    tab.get_by_role("link", name="Erase …").click()
    assert "2 turns" in tab.inner_text("main")
    tab.get_by_label("To confirm, write bob").fill("bob")
    tab.get_by_role("button", name="Erase for good").click()
    assert "Receipt 1" in tab.get_by_role("status").inner_text()
    with httpx.Client() as client:
        client.cookies.update({each["name"]: each["value"] for each in tab.context.cookies()})  # type: ignore[typeddict-item]
        assert client.get(f"{site.address}subject", params={"subject": "bob"}).status_code == 404
    tab.goto(f"{site.address}audit")
    assert "admin (key " in tab.get_by_role("region", name="Receipts of erasures").first.inner_text()


def test_signing_out_ends_the_session(tab: Page, site: Site) -> None:
    tab.get_by_role("button", name="Sign out").click()
    tab.goto(f"{site.address}subjects")
    assert tab.get_by_role("heading", name="Sign in").is_visible()
