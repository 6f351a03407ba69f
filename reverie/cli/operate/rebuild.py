"""`reverie rebuild`: build a tenant's memory again from the log, in place or beside the live one."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from reverie.cli.operate.run import consolidate
from reverie.cli.options import as_of_option, json_option, policy_option, tenant_option
from reverie.cli.output import print_json, say
from reverie.cli.progress import bars
from reverie.cli.session import CommandSession
from reverie.cli.signals import ending_cleanly

if TYPE_CHECKING:
    from reverie.store.digest import Digest


@dataclass(frozen=True, kw_only=True)
class RebuildOptions:
    """The options of the command line."""

    tenant: str | None
    as_of: datetime | None
    yes: bool
    jobs: int | None
    shadow: bool
    late: bool
    model: str | None
    without_source: str | None
    policy: str | None
    as_json: bool

    def require_sense(self) -> None:
        """Raise a usage error for options that do not go together."""
        if not self.shadow and (self.model or self.without_source):
            raise click.UsageError("--model and --without-source need --shadow.")
        if self.shadow and (self.yes or self.late):
            raise click.UsageError("--shadow empties nothing: leave --yes and --late out.")


@click.command("rebuild", short_help="Build a tenant's memory again from the log, in place or beside the live one.")
@tenant_option
@as_of_option("Logical time to bring memory to.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    metavar="NUMBER",
    help="Buckets processed in parallel. [default: 2, or 1 on one CPU]",
)
@click.option("--shadow", is_flag=True, help="Build beside the live memory, to compare and publish.")
@click.option("--late", is_flag=True, help="Only subjects whose history arrived late; in place.")
@click.option("--model", metavar="NAME", help="With --shadow: embed by this model. [default: $REVERIE_EMBEDDING_MODEL]")
@click.option(
    "--without-source",
    metavar="SOURCE",
    help="With --shadow: leave turns and events of this source out, to see what rests on them.",
)
@policy_option
@json_option
def command(**given: Any) -> None:
    """Build the memory of a tenant again from the log, in event time.

    Use it when history has arrived late or in parts, and after a change of policy or model. The log stays, and so do
    cached vectors and model replies, so nothing is paid for twice.

    A turn, event or outcome that arrives after a cycle has gone beyond its time makes its subject late. `reverie
    doctor` counts late subjects, and --late rebuilds the memory of these alone.

    Without --shadow the memory is emptied first, and recall finds only what has been rebuilt. With --shadow a
    generation is built in a database beside the live one, and recall goes on; `reverie diff` shows what would change,
    and `reverie publish` switches to it. After an interruption, run the same command again.

    \b
    Examples:
      reverie rebuild --tenant demo --as-of 2026-06-30
      reverie rebuild --tenant demo --yes --json
      reverie rebuild --tenant demo --shadow --policy mine.toml
    """
    options = RebuildOptions(**given)
    options.require_sense()
    if options.shadow:
        from reverie.cli.generations.shadow import ShadowOptions, build_shadow

        shared = {field.name: getattr(options, field.name) for field in fields(ShadowOptions)}
        build_shadow(ShadowOptions(**shared))
    else:
        _rebuild_in_place(options)


def _rebuild_in_place(options: RebuildOptions) -> None:
    from reverie.drive.late import empty_late, late_subjects
    from reverie.drive.rebuild import empty_memory
    from reverie.store.digest import digest
    from reverie.store.work import Work

    with CommandSession(options.tenant, options.policy) as session:
        jobs = options.jobs or min(2, session.settings.threads)
        session.connections = jobs
        session.require_tenant()
        as_of = session.time(options.as_of)
        before = digest(session.worker, session.tenant_id)
        work = Work(store=session.worker, scope=session.scope(), policy=session.policy, as_of=as_of)
        late = tuple(late_subjects(work)) if options.late else ()
        what = f"{len(late):,} late subjects" if options.late else f"{before.tables['memories'].rows:,} memories"
        if not options.yes:
            click.confirm(f"Empty {what} of tenant {session.tenant_id} and rebuild?", abort=True, err=True)
        scope = replace(work.scope, subjects=late) if options.late else work.scope
        (empty_late if options.late else empty_memory)(replace(work, scope=scope))
        with ending_cleanly(), bars() as shown:
            runs = sum(1 for _ in consolidate(session, scope, as_of, jobs, shown))
        after = digest(session.worker, session.tenant_id)
    _show(session.tenant_id, as_of, runs, (before, after), as_json=options.as_json)


def _show(tenant_id: str, as_of: datetime, runs: int, digests: tuple[Digest, Digest], *, as_json: bool) -> None:
    before, after = digests
    changed = [name for name, table in after.tables.items() if table != before.tables.get(name)]
    if as_json:
        print_json(
            {
                "tenant_id": tenant_id,
                "as_of": as_of,
                "runs": runs,
                "memories_before": before.tables["memories"].rows,
                "memories": after.tables["memories"].rows,
                "changed": changed,
                "sha256": after.sha256,
            }
        )
        return
    say(f"{after.tables['memories'].rows:,} memories, {before.tables['memories'].rows:,} before.")
    say(f"Changed tables: {', '.join(changed)}." if changed else "Memory is the same as before.")
