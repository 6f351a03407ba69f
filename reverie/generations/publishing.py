"""publish and revert: make a generation the live memory, or the memory that it replaced live again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from psycopg import Connection

from reverie.errors import ConflictError, InputError, SettingsError
from reverie.generations.building import bring_up, note_build, work_by
from reverie.generations.catalog import COMPLETE, Generation, LiveMemory, find_generation, opened
from reverie.generations.following import bring_home, follow_log
from reverie.generations.gates import require_publishable
from reverie.generations.switching import Held, StagedTable, apply_difference, hold, stage_difference
from reverie.inference import Embedder
from reverie.policy import Policy, load_policy
from reverie.store.connect import connect
from reverie.store.database import Store
from reverie.store.failures import release_failures
from reverie.store.queries import queries
from reverie.store.runs import run
from reverie.store.server.copying import copied_tables, copy_rows

#: Attempts to switch while stages run; after these, stages wait during the last attempt.
_ATTEMPTS = 3

Verb = Literal["publish", "revert"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Publisher:
    """The parameters of publishing, besides the live memory."""

    #: The logical time now, by the tenant's clock.
    clock: Callable[[], datetime]
    #: Loads an embedding model by its name.
    embedder_of: Callable[[str], Embedder]
    #: Whether a generation must pass the gates of the policy.
    gated: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Switched:
    """The result of a publish or revert."""

    tenant_id: str
    number: int
    verb: Verb
    #: Rows of the live memory that were deleted or written.
    rows: int
    #: Tables with such rows.
    tables: int
    #: Number of attempts; another one is needed if a stage wrote in the meantime. 0: it had been switched before.
    attempts: int
    #: Time for which stages and corrections of the tenant waited; recalls never wait.
    lock_seconds: float
    kept_until: datetime
    counts: dict[str, int]


def publish(live: LiveMemory, generation: Generation, publisher: Publisher) -> Switched:
    """Make a generation the live memory, with everything logged since it was built.

    If it is live already, complete its publication, which may have stopped after the switch: the ledger then lacks the
    runs that wrote the memory.

    Raises:
        QualityError: the gates of the tenant's policy refuse it.
        InputError: it leaves a source out, which the next run would read from the log again, or it was published and
            another generation was published or reverted since.
        ConflictError: the log lost rows since the generation was begun, or it was dropped meanwhile.
    """
    if generation.state == "published":
        latest = find_generation(live.work.store, live.tenant_id, None, *COMPLETE).number
        if latest != generation.number:
            raise InputError(
                f"Generation {generation.number} was published, and generation {latest} was published or reverted "
                "since."
            )
        return _Switch(live, generation, publisher, "publish", live.work.policy).complete()
    if generation.without_source:
        raise InputError(
            f"Generation {generation.number} leaves out the source {generation.without_source}, and the next run would "
            "read it again: it can be compared but not published."
        )
    policy = _policy_of(generation.policy)
    if policy.hash != generation.policy_hash:
        raise SettingsError(
            f"The policy {generation.policy} has changed since generation {generation.number} was built: "
            "build another one."
        )
    return _Switch(live, generation, publisher, "publish", policy).run()


def revert(live: LiveMemory, generation: Generation, publisher: Publisher) -> Switched:
    """Make the memory that a published generation replaced live again, with everything logged since.

    Raises:
        ConflictError: the replaced memory is no longer kept, the log lost rows since the generation was begun, or the
            generation was dropped meanwhile.
        SettingsError: the replaced memory has another embedding model than the live work and the generation.
    """
    if generation.kept_until is None or generation.kept_until < datetime.now(UTC):
        raise ConflictError(
            f"Generation {generation.number} can no longer be reverted: the memory that it replaced was kept until "
            f"{generation.kept_until}."
        )
    assert generation.replaced_policy is not None
    return _Switch(live, generation, publisher, "revert", _policy_of(generation.replaced_policy)).run()


def _policy_of(name: str) -> Policy:
    load_policy.cache_clear()  # a file may have changed since this process read it
    return load_policy(name)


class _Switch:
    """One publish or revert."""

    def __init__(
        self, live: LiveMemory, generation: Generation, publisher: Publisher, verb: Verb, policy: Policy
    ) -> None:
        self._live, self._generation, self._publisher, self._verb = live, generation, publisher, verb
        self._policy, self._tenant_id = policy, live.tenant_id
        replaced = generation.replaced_model if verb == "revert" else None
        #: The model that embeds the wanted memory; the replaced memory has none if it was empty.
        self._model = replaced or generation.model
        self._embedder = self._embedder_of_memory()
        self._name = generation.policy if verb == "publish" else str(generation.replaced_policy)

    def run(self) -> Switched:
        live, held = self._live, _HELD[self._verb]
        with opened(live, self._generation) as there:
            with there.transaction(self._tenant_id) as conn:
                hold(conn, self._tenant_id, held)
                # the memory that it now holds is brought up by its own model
                conn.execute(queries("switching")["set_tenant"], self._tenant())
            with there.transaction(self._tenant_id) as writing, live.work.transaction() as reading:
                self._follow(reading, writing)
            self._bring_up(there)
            if self._verb == "publish" and self._publisher.gated:
                generation = note_build(live, self._generation, there, seconds=0.0)
                require_publishable(live, generation, there, self._policy, self._embedder)
            with ExitStack() as closing:
                writer, snapshot = (closing.enter_context(self._connected()) for _ in range(2))
                for attempt in range(1, _ATTEMPTS + 2):
                    found = self._attempt(there, writer, snapshot, attempt)
                    if found is not None:
                        break
            assert found is not None
            self._share(there)
            if self._verb == "publish":  # after a revert the database holds the replaced memory, which is not counted
                note_build(live, self._generation, there, seconds=0.0)
        return found

    def complete(self) -> Switched:
        """Do what follows a switch, again if it was done; no row of the live memory changes."""
        live, generation = self._live, self._generation
        with opened(live, generation) as there:
            with there.transaction(self._tenant_id) as conn:
                hold(conn, self._tenant_id, _HELD[self._verb])
            self._share(there)
            # not the present time: it may have been published long ago
            at = replace(live, work=replace(live.work, as_of=generation.as_of))
            note_build(at, generation, there, seconds=0.0)
        assert generation.kept_until is not None
        return Switched(
            tenant_id=self._tenant_id,
            number=generation.number,
            verb=self._verb,
            rows=0,
            tables=0,
            attempts=0,
            lock_seconds=generation.lock_seconds or 0.0,
            kept_until=generation.kept_until,
            counts={},
        )

    def _embedder_of_memory(self) -> Embedder:
        """Return the embedder of the wanted memory. Raises SettingsError if only its model's key is known."""
        own, generation = self._live.work.embedder, self._generation
        if own.model == self._model:
            return own
        if generation.model == self._model:
            return self._publisher.embedder_of(generation.embedder)
        raise SettingsError(
            f"The memory that generation {generation.number} replaced is embedded by {self._model}, and this process "
            f"has {own.model}: set REVERIE_EMBEDDING_MODEL to the former, for this command and afterwards."
        )

    def _tenant(self) -> dict[str, str]:
        """Return the tenant with the policy and model of the wanted memory, as query parameters."""
        return {"tenant": self._tenant_id, "policy": self._name, "model": self._model}

    @contextmanager
    def _connected(self) -> Iterator[Connection[Any]]:
        """Yield a connection of the tenant's worker; its private tables outlive a transaction."""
        with connect(self._live.url, role="worker", tenant=self._tenant_id) as conn:
            yield conn

    def _follow(self, reading: Connection[Any], writing: Connection[Any]) -> None:
        follow_log(reading, writing, self._tenant_id, replace(self._generation, policy=self._name, model=self._model))

    def _bring_up(self, there: Store) -> None:
        work = work_by(self._live, self._policy, self._embedder, there)
        for _ in bring_up(self._live, replace(work, as_of=self._publisher.clock())):
            pass

    def _attempt(
        self, there: Store, writer: Connection[Any], snapshot: Connection[Any], attempt: int
    ) -> Switched | None:
        """Find the differences and switch; None if a stage wrote meanwhile. Stages wait during the last attempt."""
        sql, params = queries("switching"), {"tenant": self._tenant_id}
        is_last = attempt > _ATTEMPTS
        with writer.transaction() if is_last else nullcontext():
            began = time.perf_counter()
            if is_last:
                writer.execute(sql["lock_tenant"], params)
            snapshot.execute("begin isolation level repeatable read")
            standing = self._standing(snapshot)
            with there.transaction(self._tenant_id) as writing:
                self._follow(snapshot, writing)
            self._bring_up(there)
            with there.transaction(self._tenant_id) as writing:
                writing.execute(sql["outlive_crash"])
                staged = stage_difference(snapshot, writing, writer, self._tenant_id)
            snapshot.execute("rollback")
            with writer.transaction() if not is_last else nullcontext():
                if not is_last:
                    writer.execute(sql["lock_tenant"], params)
                    began = time.perf_counter()
                    if self._standing(writer) != standing:
                        return None
                return self._switch(there, writer, staged, attempt, began)

    def _standing(self, conn: Connection[Any]) -> Any:
        """Return a value that changes with every change of memory. Raises ConflictError if the generation is gone."""
        number = self._generation.number
        found = conn.execute(queries("switching")["standing"], {"tenant": self._tenant_id, "number": number}).fetchone()
        if found is None or found[0] == "dropped":
            raise ConflictError(
                f"Generation {number} was dropped meanwhile, as every erasure does: build another one with "
                "`reverie rebuild --shadow`."
            )
        return found

    def _switch(
        self, there: Store, writer: Connection[Any], staged: list[StagedTable], attempt: int, began: float
    ) -> Switched:
        sql, tenant_id, live = queries("switching"), self._tenant_id, self._live
        now = datetime.now(UTC)
        kept_until = now + live.work.policy.publish.kept
        work = replace(live.work, policy=self._policy, as_of=self._publisher.clock())
        with run(work, self._verb) as ledger:
            before = writer.execute(sql["read_tenant"], {"tenant": tenant_id}).fetchone() or (None, None)
            rows = apply_difference(writer, tenant_id, staged)
            writer.execute(sql["set_tenant"], self._tenant())
            writer.execute(sql["forgive"], {"tenant": tenant_id})
            self._keep_late(writer, there)
            release_failures(writer, tenant_id)
            waited = time.perf_counter() - began
            writer.execute(
                sql["note_switch"],
                {
                    "tenant": tenant_id,
                    "number": self._generation.number,
                    "state": "published" if self._verb == "publish" else "reverted",
                    "now": now,
                    "kept_until": kept_until,
                    "lock_seconds": waited,
                    "replaced_policy": before[0],
                    "replaced_model": before[1],
                },
            )
            ledger.report.add("rows", rows)
            ledger.report.add("tables", len(staged))
            ledger.report.add("attempts", attempt)
            ledger.record(writer)
        return Switched(
            tenant_id=tenant_id,
            number=self._generation.number,
            verb=self._verb,
            rows=rows,
            tables=len(staged),
            attempts=attempt,
            lock_seconds=waited,
            kept_until=kept_until,
            counts={each.table.name: each.gone + each.added for each in staged},
        )

    def _keep_late(self, writer: Connection[Any], there: Store) -> None:
        """Move the notes of late subjects to the replaced memory, which they concern; a revert then makes them again.

        They are written there before the switch is committed. If it is not, these subjects of the generation are made
        again for nothing.
        """
        sql = queries("switching")
        notes = writer.execute(sql["take_late"], {"tenant": self._tenant_id}).fetchall()
        if notes:
            subjects, times = (list(column) for column in zip(*notes, strict=True))
            with there.transaction(self._tenant_id) as conn:
                conn.execute(sql["outlive_crash"])
                conn.execute(sql["keep_late"], {"tenant": self._tenant_id, "subjects": subjects, "times": times})

    def _share(self, there: Store) -> None:
        """Copy the runs that wrote the memory, and the vectors made for it, to the live database."""
        with there.transaction(self._tenant_id) as reading, self._live.work.transaction() as writing:
            (runs,) = copied_tables(reading, "ops", some=("runs",))
            copy_rows(reading, writing, self._tenant_id, runs, write=queries("generations")["share_runs"])
            bring_home(reading, writing, self._tenant_id)


#: Memory that the generation's database must hold before a switch to it, by verb.
_HELD: dict[Verb, Held] = {"publish": "generation", "revert": "replaced"}
