"""Takes the screenshots of the documentation: `make screens` writes docs/screens/*.png.

They show the sample history with its clock stopped, in a browser of a fixed size, time zone and language, so that a
second run differs only in the names and times of Dagster's runs. Needs Chromium on the path (`chromium`). With a folder
as its argument, it keeps the sample there, and a later call with that folder uses it again.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page, ViewportSize, sync_playwright

from reverie.store.server.programs import free_port
from reverie.testing import fast_directory

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "screens"
#: Pixels of the browser's window.
WINDOW: ViewportSize = {"width": 1200, "height": 750}
#: The most bytes of a screenshot, since it is part of every clone.
MOST_BYTES = 150 << 10
#: The key for every tenant in the inspector. It is constant, because the pages show the first digits of its hash.
_KEY = "key-of-the-screens-of-the-documentation"
_ARGUMENTS = ["--lang=en-GB", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]
#: Seconds that a server may take to start, and a page to render.
_START_SECONDS, _PAGE_SECONDS = 300, 90


@dataclass(frozen=True, kw_only=True)
class Addresses:
    """The addresses of the user interfaces."""

    dagster: str
    inspector: str
    #: The folder of pages written to files.
    folder: Path


@dataclass(frozen=True, kw_only=True)
class Screen:
    """A screenshot: a function that opens its page, and a text that the page shows when it is rendered."""

    name: str
    open: Callable[[Page, Addresses], object]
    shows: str
    #: Selector of the element that is drawn last; empty: the text.
    drawn: str = ""


def main() -> None:
    """Process the sample and take every screenshot."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        sys.exit("Error: Chromium is not installed: install it (apt-get install chromium).")
    with ExitStack() as stack:
        kept = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
        addresses = stack.enter_context(_shown(kept or Path(stack.enter_context(_temporary()))))
        TARGET.mkdir(exist_ok=True)
        browser = stack.enter_context(sync_playwright()).chromium.launch(executable_path=program, args=_ARGUMENTS)
        context = browser.new_context(
            viewport=WINDOW, timezone_id="UTC", locale="en-GB", color_scheme="light", reduced_motion="reduce"
        )
        context.set_default_timeout(_PAGE_SECONDS * 1000)
        page = context.new_page()
        _sign_in(page, addresses)
        for screen in SCREENS:
            screen.open(page, addresses)
            page.get_by_text(screen.shows).first.wait_for()
            if screen.drawn:
                page.locator(screen.drawn).first.wait_for()
            page.wait_for_timeout(2_000)  # for elements that still move
            path = TARGET / f"{screen.name}.png"
            page.screenshot(path=path, animations="disabled")
            size = path.stat().st_size
            print(f"{path.relative_to(ROOT)}  {size / 1024:.0f} KB", flush=True)
            if size > MOST_BYTES:
                sys.exit(f"Error: {path.name} has more than {MOST_BYTES >> 10} KB.")
        browser.close()


def _temporary() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="reverie_screens_", dir=fast_directory(), ignore_cleanup_errors=True)


@contextmanager
def _shown(home: Path) -> Iterator[Addresses]:
    """Consolidate the sample, write a report and an evaluation, and run Dagster and the inspector."""
    home.chmod(0o711)  # when root starts Postgres, it runs as another user
    port = free_port()
    variables = os.environ | {"REVERIE_HOME": str(home), "PORT": str(port), "DO_NOT_TRACK": "1", "BROWSER": "true"}
    variables |= {"REVERIE_INSPECTOR_KEY": _KEY}
    command = [sys.executable, "-m", "reverie"]
    try:
        report, evaluation = home / "report.html", home / "evaluation.html"
        if not report.exists():
            _run([sys.executable, "examples/demo.py", "--marts"], variables)
            _run([*command, "report", str(report), "--tenant", "demo"], variables)
        if not evaluation.exists():
            _run([*command, "evaluate", "--tenant", "demo", "--html", str(evaluation)], variables)
        with (
            _started([sys.executable, "-m", "deployments.ui"], variables, "Dagster is ready"),
            _started([*command, "serve", "--inspector", "--port", "0", "--json"], variables, "}\n") as said,
        ):
            yield Addresses(dagster=f"http://127.0.0.1:{port}", inspector=json.loads(said)["inspector"], folder=home)
    finally:
        _run([*command, "db", "stop"], variables)


def _run(command: list[str], variables: Mapping[str, str]) -> None:
    print("$", *command[1:], flush=True)
    subprocess.run(command, env=variables, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def _started(command: list[str], variables: Mapping[str, str], until: str) -> Iterator[str]:
    """Start a process, wait until it has printed `until`, and yield its output; interrupt it at the end."""
    print("$", *command[1:], flush=True)
    printed = Path(variables["REVERIE_HOME"]) / f"printed-{len(command)}"
    with printed.open("wb") as output:
        process = subprocess.Popen(command, env=variables, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
    try:
        ends = time.monotonic() + _START_SECONDS
        while until not in (text := printed.read_text(errors="replace")):
            if process.poll() is not None or time.monotonic() > ends:
                sys.exit(f"Error: {' '.join(command[1:])} did not start:\n{text}")
            time.sleep(0.5)
        yield text
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def _sign_in(page: Page, addresses: Addresses) -> None:
    page.goto(f"{addresses.inspector}sign-in")
    page.get_by_label("API key").fill(_KEY)
    page.get_by_role("button", name="Sign in").click()


def _dagster(path: str) -> Callable[[Page, Addresses], object]:
    return lambda page, addresses: page.goto(f"{addresses.dagster}{path}")


def _inspector(path: str) -> Callable[[Page, Addresses], object]:
    return lambda page, addresses: page.goto(f"{addresses.inspector}{path}")


def _file(name: str, scroll_to: str = "") -> Callable[[Page, Addresses], object]:
    def open_file(page: Page, addresses: Addresses) -> None:
        page.goto((addresses.folder / name).as_uri())
        if scroll_to:
            page.get_by_role("heading", name=scroll_to).first.evaluate("heading => heading.scrollIntoView()")

    return open_file


def _latest_cycle(page: Page, addresses: Addresses) -> None:
    """Open the longest run of the job `cycle`, that of the sample's fullest bucket."""
    query = '{runsOrError(filter: {pipelineName: "cycle"}) {... on Runs {results {id startTime endTime}}}}'
    request = urllib.request.Request(
        f"{addresses.dagster}/graphql",
        data=json.dumps({"query": query}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        runs = json.load(answer)["data"]["runsOrError"]["results"]
    longest = max(runs, key=lambda run: run["endTime"] - run["startTime"])
    page.goto(f"{addresses.dagster}/runs/{longest['id']}")


def _health(page: Page, addresses: Addresses) -> None:
    page.goto(f"{addresses.dagster}/assets/memory_health?view=overview")
    page.get_by_text("Plots", exact=True).click()
    page.locator("canvas").first.wait_for()
    page.get_by_text("Forgotten", exact=True).first.evaluate("title => title.scrollIntoView()")


def _recall(page: Page, addresses: Addresses) -> None:
    page.goto(f"{addresses.inspector}recall?tenant=demo&subject=arjun")
    page.get_by_label("Question or message").fill("Does he still drink coffee?")
    page.get_by_role("button", name="Recall").click()
    page.get_by_role("heading", name="A: reverie").evaluate("heading => heading.scrollIntoView()")


def _memory(page: Page, addresses: Addresses) -> None:
    page.goto(f"{addresses.inspector}subject?tenant=demo&subject=arjun")
    page.get_by_role("main").get_by_role("link", name="acid reflux").first.click()


SCREENS = (
    Screen(
        name="dagster-assets",
        open=_dagster("/locations/reverie/asset-groups/memory/list"),
        shows="deduplicated_memories",
    ),
    Screen(name="dagster-run", open=_latest_cycle, shows="RUN_SUCCESS"),
    Screen(name="dagster-health", open=_health, shows="Memories per subject", drawn="canvas"),
    Screen(name="inspector-subject", open=_inspector("subject?tenant=demo&subject=arjun"), shows="True now"),
    Screen(name="inspector-memory", open=_memory, shows="Rests on"),
    Screen(name="inspector-recall", open=_recall, shows="reverie"),
    Screen(name="report", open=_file("report.html"), shows="demo", drawn=".main-svg"),
    Screen(name="evaluation", open=_file("evaluation.html", "Ablations"), shows="demo", drawn=".main-svg"),
)


if __name__ == "__main__":
    main()
