"""One `reverie serve --inspector` for all tests of the inspector, with two tenants and a generation."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from reverie.api.keys import KeyScope, add_key
from reverie.cli.root import reverie
from reverie.store.database import Store
from reverie.store.session import perform
from reverie.testing import DatabaseFactory
from tests.doors.conftest import clean_environment

OPERATOR = "operator-key-of-the-tests-0123456789"
#: Subject, session, minute, who, what.
SAID: list[tuple[str, ...]] = [
    ("ann", "s1", "2026-03-01T10:00", "user", "Hi! My name is Ann and I live in Oslo."),
    ("ann", "s1", "2026-03-01T10:01", "assistant", "Nice to meet you, Ann."),
    ("ann", "s1", "2026-03-01T10:02", "user", "I have a golden retriever named Bruno."),
    ("ann", "s2", "2026-03-08T18:00", "user", "I work at Acme as a nurse."),
    ("ann", "s2", "2026-03-08T18:05", "user", "I love jazz and I'm allergic to peanuts."),
    ("ann", "s3", "2026-04-02T09:00", "user", "I moved, I live in Bergen now."),
    ("ann", "s3", "2026-04-02T09:02", "user", "Bruno ate my shoes on Monday."),
    ("bob", "b1", "2026-03-05T12:00", "user", "My name is Bob and I live in Paris."),
    ("bob", "b1", "2026-03-05T12:01", "user", "My sister Zelda plays the violin."),
    ("gus", "g1", "2026-04-20T09:00", "user", "The results of my scan come on Friday."),
    ("gus", "g2", "2026-04-22T09:00", "user", "The scan was clear, I cried in the car."),
    ("gus", "g3", "2026-04-24T09:00", "user", "I've got choir on Mondays at 8."),
]
#: The same of two other subjects: one that no test changes, and one whose memory is corrected and undone.
SAID += [(name, *rest) for name in ("eve", "ida") for subject, *rest in SAID if subject == "ann"]
CAROL = ("carol", "c1", "2026-03-05T12:00", "user", "I live in Rome.")
#: One message in each of 21 sessions.
DAN = [("dan", f"d{day:02d}", f"2026-03-{day:02d}T12:00", "user", "Good morning.") for day in range(1, 22)]
UNTIL = "2026-05-01T00:00:00+00:00"


@dataclass(frozen=True, kw_only=True)
class Site:
    """The served inspector."""

    address: str
    database: str
    keys: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def signed_in(self, key: str) -> Iterator[httpx.Client]:
        """Yield a client that signed in with a key."""
        with httpx.Client(base_url=self.address, follow_redirects=True, timeout=60) as client:
            page = client.get("sign-in")
            answer = client.post("sign-in", data={"key": self.keys[key], "token": token_of(page.text)})
            assert answer.status_code == 200, answer.text
            yield client


def token_of(page: str) -> str:
    """The token of the forms of a page."""
    found = re.search(r'name="token" value="([^"]+)"', page)
    assert found, page
    return found[1]


def command(database: str, *arguments: str) -> str:
    """Run a command in this process."""
    result = CliRunner(env={"DATABASE_URL": database, "REVERIE_THREADS": "1"}).invoke(reverie, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="session")
def site(database_factory: DatabaseFactory, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server of its own process, on any free port."""
    folder = tmp_path_factory.mktemp("inspector")
    with database_factory.migrated() as url:
        _remember(url, folder)
        command(url, "rebuild", "--shadow", "--tenant", "acme", "--policy", "chat")
        keys = {"operator": OPERATOR} | _keys(url)
        environment = clean_environment(DATABASE_URL=url, REVERIE_INSPECTOR_KEY=OPERATOR, REVERIE_API_SECONDS="60")
        program = [sys.executable, "-m", "reverie", "serve", "--inspector", "--port", "0", "--json"]
        printed = folder / "printed"
        with printed.open("wb") as output:
            process = subprocess.Popen(program, env=environment, stdout=output, stderr=subprocess.STDOUT)
        try:
            yield Site(address=_address(process, printed), database=url, keys=keys)
        finally:
            process.terminate()
            process.wait(30)
            for generation in json.loads(command(url, "generations", "--tenant", "acme", "--json"))["generations"]:
                if generation["state"] != "dropped":
                    command(url, "generations", "--tenant", "acme", "--drop", str(generation["number"]))


def _remember(url: str, folder: Path) -> None:
    for tenant, said in (("acme", SAID), ("globex", [CAROL, *DAN])):
        names = ("subject_id", "session_id", "said_at", "role", "text")
        rows = [
            dict(zip(names, each, strict=True)) | {"source_id": str(n), "said_at": f"{each[2]}:00Z"}
            for n, each in enumerate(said)
        ]
        file = folder / f"{tenant}.jsonl"
        file.write_text("\n".join(map(json.dumps, rows)))
        command(url, "import", str(file), "--tenant", tenant)
    command(url, "clock", "--tenant", "acme", "--stop-at", UNTIL)
    command(url, "run", "--tenant", "acme")


def _keys(url: str) -> dict[str, str]:
    made: dict[str, str] = {}
    wanted: list[tuple[str, str, KeyScope]] = [
        ("admin", "acme", "admin"),
        ("reader", "acme", "read"),
        ("other", "globex", "admin"),
    ]
    with Store.open(url, size=1) as store:
        for name, tenant, scope in wanted:
            session = store.session(tenant)
            key = add_key(session, name=name, scopes=[scope], policy="reverie", made_at=datetime.now(UTC))
            made[name] = perform(key)[1]
    return made


def _address(process: subprocess.Popen[bytes], printed: Path) -> str:
    until = time.monotonic() + 60
    while not (text := printed.read_text(errors="replace")).strip().endswith("}"):
        assert process.poll() is None and time.monotonic() < until, text
        time.sleep(0.1)
    address: str = json.loads(text)["inspector"]
    return address


@pytest.fixture(scope="session")
def admin(site: Site) -> Iterator[httpx.Client]:
    """Signed in with the admin key of acme."""
    with site.signed_in("admin") as client:
        yield client
