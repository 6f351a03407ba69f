"""The composition root of the API: the objects that requests share, opened at startup and closed at the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

from reverie.api.flusher import Flusher
from reverie.api.journal import Journal
from reverie.api.metrics import Metrics
from reverie.api.replica import ReadReplica
from reverie.api.turn_reader import TurnReader
from reverie.capture.live.mood_model import MoodModel, asking
from reverie.errors import InferenceError
from reverie.inference.embedder import Embedder
from reverie.inference.hosted import HostedEmbedder, Patience
from reverie.inference.loading import load_embedder, load_reranker, mood_model_of
from reverie.inference.reranker import Reranker
from reverie.inference.tokens import plain_count
from reverie.policy import load_policy
from reverie.recall.subject_cache import SubjectCache
from reverie.settings import Settings
from reverie.store.database import AsyncStore, Store
from reverie.store.server.address import database_url
from reverie.store.session import TenantSession

#: Connections for the mood model. Each is held for a few statements, never while the model works.
_MOOD_CONNECTIONS = 4


@dataclass(frozen=True, kw_only=True)
class Services:
    """The database in both roles, the models and the threads that they run in."""

    settings: Settings
    metrics: Metrics
    #: A reader on the primary. It logs answers, and serves reads if no replica does.
    reader: AsyncStore
    #: None: no replica is configured.
    replica: ReadReplica | None
    worker: AsyncStore
    #: None: recall searches by words and entities only and says so.
    embedder: Embedder | None
    #: None: the weighed signals rank the hits, as they do if the reranker fails.
    reranker: Reranker | None
    #: None: moods are determined without a language model.
    mood_model: MoodModel | None
    #: Counts tokens as the embedder does; every stage splits long texts by this count.
    count_tokens: Callable[[str], int]
    #: Applies the rules to long requests.
    turn_reader: TurnReader
    #: Configured parts that cannot be used, in sentences.
    missing: tuple[str, ...]
    #: A synchronous pool for operations that move batches.
    batches: Store
    flusher: Flusher
    journal: Journal
    #: The latest row of each subject that recalls read.
    subject_cache: SubjectCache
    #: As many threads as models may run at once; later calls wait.
    threads: ThreadPoolExecutor

    def read_session(self, tenant_id: str) -> TenantSession:
        """Return a session in the role that may read."""
        store = self.replica.store if self.replica else None
        return (store or self.reader).session(tenant_id, executor=self.threads)

    def read_notes(self) -> tuple[str, ...]:
        """Return the notes on the age of an answer of `read_session`; () without a replica."""
        return self.replica.notes() if self.replica else ()

    def question_session(self, tenant_id: str) -> TenantSession:
        """Return a session for an operation that embeds a question: a reader, unless the cost must be booked."""
        return self.write_session(tenant_id) if self._books_questions() else self.read_session(tenant_id)

    def question_notes(self) -> tuple[str, ...]:
        """Return the notes on the age of an answer of `question_session`."""
        return () if self._books_questions() else self.read_notes()

    def write_session(self, tenant_id: str, *, on_commit: Callable[[], None] | None = None) -> TenantSession:
        """Return a session in the role that may write; `on_commit` is called before each commit is sent."""
        return self.worker.session(tenant_id, executor=self.threads, on_commit=on_commit)

    def _books_questions(self) -> bool:
        return self.embedder is not None and bool(self.embedder.price_per_token)


@asynccontextmanager
async def open_services(settings: Settings, metrics: Metrics) -> AsyncIterator[Services]:
    """Connect and load the models; the rest works without them. Raises DatabaseError if there is no database."""
    url = await asyncio.to_thread(database_url, settings)
    open_store = partial(AsyncStore.open, url, size=settings.api_connections, statement_seconds=settings.api_seconds)
    async with AsyncExitStack() as closing:
        threads = closing.enter_context(ThreadPoolExecutor(settings.threads, thread_name_prefix="model"))
        reader = await closing.enter_async_context(await open_store(role="reader"))
        worker = await closing.enter_async_context(await open_store(role="worker"))
        metrics.watch_pool("reader", reader.figures)
        metrics.watch_pool("worker", worker.figures)
        replica = await _open_read_replica(settings, reader, closing)
        if replica is not None:
            metrics.watch_pool("replica", replica.figures)
            metrics.watch_replica(lambda: replica.lag, lambda: replica.store is not None)
        journal = Journal(reader, metrics)
        closing.push_async_callback(journal.end)
        missing: list[str] = []
        reranker = await asyncio.to_thread(_reranker, settings, missing)
        embedder = await asyncio.to_thread(_embedder, settings, missing)
        if replica is not None and embedder is not None and embedder.price_per_token:
            missing.append("Recalls and contexts use the primary database, which records the cost of their embeddings.")
        mood_model = await _open_mood_model(settings, url, closing, missing)
        count_tokens = plain_count(embedder)
        batches = closing.enter_context(await asyncio.to_thread(Store.open, url, size=2))
        turn_reader = TurnReader(settings.embedding_model)
        closing.push_async_callback(asyncio.to_thread, turn_reader.end)
        flusher = Flusher(batches, metrics, count_tokens, await asyncio.to_thread(load_policy, settings.policy))
        closing.push_async_callback(asyncio.to_thread, flusher.end)
        flusher.start()
        yield Services(
            settings=settings,
            metrics=metrics,
            reader=reader,
            replica=replica,
            worker=worker,
            embedder=embedder,
            reranker=reranker,
            mood_model=mood_model,
            turn_reader=turn_reader,
            missing=tuple(missing),
            count_tokens=count_tokens,
            batches=batches,
            flusher=flusher,
            journal=journal,
            subject_cache=SubjectCache(),
            threads=threads,
        )


async def _open_read_replica(settings: Settings, primary: AsyncStore, closing: AsyncExitStack) -> ReadReplica | None:
    if settings.read_url is None:
        return None
    replica = ReadReplica(
        settings.read_url.get_secret_value(),
        primary,
        connections=settings.api_connections,
        statement_seconds=settings.api_seconds,
        lag_limit=settings.read_lag_seconds,
    )
    closing.push_async_callback(replica.end)
    await replica.start()
    return replica


def _embedder(settings: Settings, missing: list[str]) -> Embedder | None:
    """Return the embedder, warmed up, since its first call loads shared parts. Each call uses one thread.

    A hosted model is asked once, for a third of a request's time, so that the request can be answered by words if the
    provider is down. Its first call may take longer: a server may load the model then.
    """
    try:
        embedder = load_embedder(settings.embedding_model, threads=1)
        embedder.encode(["warm"])
        embedder.count_tokens("warm")
    except InferenceError as error:
        missing.append(str(error))
        return None
    if isinstance(embedder, HostedEmbedder):
        return embedder.with_patience(Patience(attempts=1, timeout_s=settings.api_seconds / 3))
    return embedder


def _reranker(settings: Settings, missing: list[str]) -> Reranker | None:
    """Return the reranker, warmed up. One that cannot be loaded is kept, so that each answer says so."""
    reranker = load_reranker(settings.reranker)
    if reranker is not None:
        try:
            reranker.score("warm", ["warm"])
        except InferenceError as error:
            missing.append(str(error))
    return reranker


async def _open_mood_model(
    settings: Settings, url: str, closing: AsyncExitStack, missing: list[str]
) -> MoodModel | None:
    """Return the mood model, warmed up: its library takes seconds to load, and no request should wait for that."""
    try:
        model = mood_model_of(settings)
        if model is None:
            return None
        await asyncio.to_thread(model.warm)
    except InferenceError as error:
        missing.append(str(error))
        return None
    store = closing.enter_context(await asyncio.to_thread(Store.open, url, size=_MOOD_CONNECTIONS))
    mood_model = MoodModel(asking(store, model), calls=settings.mood_model_concurrency)
    closing.push_async_callback(asyncio.to_thread, mood_model.close, settings.mood_model_seconds)
    return mood_model
