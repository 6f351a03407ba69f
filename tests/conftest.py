"""A real Postgres for every test, cheaply: one server a run, one migrated template, a clone of it per test.

The embedded server is started by the first test that needs it, shared by all pytest-xdist workers and stopped when the
run ends. REVERIE_TEST_DATABASE_URL names another server to use; its user must be allowed to create databases and roles.
"""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from filelock import BaseFileLock, FileLock, Timeout
from hypothesis import HealthCheck, settings
from psycopg.sql import SQL, Identifier

from reverie.capture.history.importing import import_file
from reverie.errors import ReverieError
from reverie.inference import load_embedder
from reverie.policy import load_policy
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.server.embedded import EmbeddedPostgres
from reverie.testing import SERVER_VARIABLE, DatabaseFactory, fast_directory

#: The directory of this run, made by the main process; its name starts every database that the run creates.
RUN_DIRECTORY = pytest.StashKey[Path]()
#: Held by the main process as long as it lives, so that a later run can clean up after a killed one.
ALIVE = pytest.StashKey[BaseFileLock]()
#: When the demo looks at the sample history: two days after its last turn, between two cycles.
SAMPLE_AT = datetime(2026, 6, 30, 9, tzinfo=UTC)
#: What the models of this process gave before.
KNOWN = pytest.StashKey["Known"]()
PREFIX = "reverie_test_"
#: What a run begins with, in this order: tests of half a minute, and folders that import Dagster, dbt and Great
#: Expectations, which take twenty seconds. Side by side in the order of names, all processes would import them.
FIRST = (
    "test_quickstart.py",
    "test_readme.py",
    "tests/doors/",
    "cli/test_check.py",
    "tests/quality/",
    "tests/orchestration/",
    "tests/marts/",
    "tests/fuzz/",
    "test_on_ray.py",
    "test_recorded_sample.py",
    "test_server_crash.py",
)
#: Makes a database for a `with` block.
Databases = Callable[[], AbstractContextManager[str]]
EXTERNAL_SERVER = os.environ.get(SERVER_VARIABLE)

# a busy machine is slow at drawing examples, and that is no fault of the code
settings.register_profile(
    "reverie",
    deadline=None,
    max_examples=int(os.environ.get("REVERIE_EXAMPLES", "40")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("reverie")


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        config.stash[RUN_DIRECTORY] = Path(config.workerinput["run_directory"])
        return
    parent = fast_directory()
    _sweep(parent)
    directory = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    config.stash[ALIVE] = FileLock(directory / "alive")
    config.stash[ALIVE].acquire()
    directory.chmod(0o711)  # pytest's own temporary directories are closed to the user whom root runs the server as
    config.stash[RUN_DIRECTORY] = directory
    if sys.dont_write_bytecode:  # the many processes of a run compile what they import once, and it goes with the run
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = str(directory / "bytecode")
        sys.dont_write_bytecode = False


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: object) -> None:
    """Tell an xdist worker where the run's directory is."""
    node.workerinput["run_directory"] = str(node.config.stash[RUN_DIRECTORY])


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect without the garbage collector, which takes a third of the time, and let it pass by what was collected.

    Afterwards it looks once in 10,000 new objects instead of 700: it took a tenth of the processor time of tests.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(10_000, 10, 10)
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest: at the end of the run one worker would wait for the other."""
    items.sort(key=lambda item: next((place for place, part in enumerate(FIRST) if part in str(item.path)), len(FIRST)))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Put what is known before the models; they were imported with the tests."""
    from tests.known import Known

    session.config.stash[KNOWN] = Known()


def pytest_runtest_setup(item: pytest.Item) -> None:
    item.config.stash[KNOWN].use_in(str(item.path))


def pytest_unconfigure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput") or RUN_DIRECTORY not in config.stash:
        return
    directory = config.stash[RUN_DIRECTORY]
    config.stash[ALIVE].release()
    if EXTERNAL_SERVER:
        with connect(EXTERNAL_SERVER) as admin:
            for (left,) in admin.execute(
                "select datname from pg_database where starts_with(datname, %s)", [directory.name]
            ).fetchall():
                admin.execute(SQL("drop database {} with (force)").format(Identifier(left)))
    else:
        EmbeddedPostgres(directory / "postgres").stop()
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(scope="session")
def run_directory(pytestconfig: pytest.Config) -> Path:
    """A directory shared by all workers of this run, which the embedded server's user can enter."""
    return pytestconfig.stash[RUN_DIRECTORY]


@pytest.fixture(scope="session")
def server_url(run_directory: Path) -> str:
    """A user who may create databases, in a database that no test uses."""
    if EXTERNAL_SERVER:
        return EXTERNAL_SERVER
    server = EmbeddedPostgres(run_directory / "postgres", durable=False)
    server.start()
    return server.url("postgres")


@pytest.fixture(scope="session")
def database_factory(server_url: str, run_directory: Path) -> DatabaseFactory:
    """Creates the databases of this run; the first worker that asks migrates the template."""
    return DatabaseFactory(server_url, prefix=run_directory.name)


@pytest.fixture(scope="session")
def template(database_factory: DatabaseFactory) -> str:
    """The name of the migrated, empty database that tests clone."""
    return database_factory.template


@pytest.fixture(scope="session")
def databases(database_factory: DatabaseFactory) -> Databases:
    """Makes a migrated, empty database, each of a name of its own, that lives as long as a `with` block."""
    return database_factory.migrated


@pytest.fixture(scope="session")
def sample(database_factory: DatabaseFactory) -> str:
    """The name of a database where tenant `demo` remembers the sample as the demo does, at `SAMPLE_AT`: to copy."""
    from tests.promises.world import SAMPLE, consolidate

    def make(url: str) -> None:
        with Store.open(url, size=1) as store:
            import_file(store, SAMPLE, tenant_id="demo", policy="reverie", now=SAMPLE_AT)
            consolidate(store, "demo", load_policy("reverie"), SAMPLE_AT, load_embedder("minilm", threads=1))

    return database_factory.prepared("sample", make)


@pytest.fixture(scope="session")
def templates() -> dict[str, str]:
    """By a fixture that tests ask for, the fixture that names the database to copy; modules have theirs."""
    return {}


@pytest.fixture
def database_url(
    request: pytest.FixtureRequest, database_factory: DatabaseFactory, templates: dict[str, str]
) -> Iterator[str]:
    """A database of this test's own: a copy of the one in `templates` for a fixture that it asks for, else empty."""
    source = next((source for asked, source in templates.items() if asked in request.fixturenames), "template")
    with database_factory.copy(request.getfixturevalue(source)) as url:
        yield url


@pytest.fixture
def empty_database_url(database_factory: DatabaseFactory) -> Iterator[str]:
    """A database of this test's own without a schema."""
    with database_factory.empty() as url:
        yield url


@pytest.fixture
def conn(database_url: str) -> Iterator[psycopg.Connection]:
    """A connection to `database_url` in autocommit, as the user who migrated: a superuser sees every tenant's rows."""
    with connect(database_url) as connection:
        yield connection


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The public data sets beside the checkout; they are not part of the repository."""
    directory = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not directory.is_dir():
        pytest.skip("needs the public data sets in ../shared/data")
    return directory


def _sweep(parent: Path) -> None:
    """Stop the servers of earlier runs that were killed, and remove their directories."""
    for directory in parent.glob(f"{PREFIX}*"):
        with suppress(OSError, Timeout, ReverieError):  # another user's, or a run that lives
            # a run that begins just now has made its directory and not its lock
            if (directory / "alive").exists() and time.time() - directory.stat().st_mtime > 60:
                with FileLock(directory / "alive", blocking=False):
                    EmbeddedPostgres(directory / "postgres").stop()
                    shutil.rmtree(directory)
