"""`reverie reembed`: change a tenant's embedding model."""

from __future__ import annotations

from datetime import datetime

import click

from reverie.cli.options import as_of_option, json_option, tenant_option
from reverie.cli.output import print_json, say
from reverie.cli.progress import bars
from reverie.cli.session import CommandSession
from reverie.cli.signals import ending_cleanly


@click.command("reembed", short_help="Change a tenant's embedding model.")
@tenant_option
@click.option("--model", metavar="NAME", help="The new model. [default: $REVERIE_EMBEDDING_MODEL]")
@as_of_option("Embed everything up to this logical time.")
@json_option
def command(tenant: str | None, model: str | None, as_of: datetime | None, as_json: bool) -> None:
    """Compute the vectors of another embedding model beside the current ones, switch to them when they are complete,
    and remove the old ones.

    Recall works meanwhile and never mixes models. After an interruption, run the command again to continue. Afterwards
    set REVERIE_EMBEDDING_MODEL to the new model wherever this tenant is processed: runs refuse any other model, and
    recall with another model searches by words alone and says so.

    \b
    Examples:
      reverie reembed --tenant demo --model sentence-transformers/all-mpnet-base-v2
    """
    from reverie.drive.reembed import reembed
    from reverie.inference.loading import load_embedder
    from reverie.store.work import Work

    with CommandSession(tenant) as session, ending_cleanly(), bars() as shown:
        session.require_tenant()
        as_of = session.time(as_of)
        embedder = load_embedder(model, threads=session.settings.threads) if model else session.embedder
        shown.expect("reembed", None)
        work = Work(
            store=session.worker,
            scope=session.scope(),
            policy=session.policy,
            as_of=as_of,
            embedder=embedder,
            progress=lambda _stage, done: shown.advance("reembed", done),
        )
        reports = list(reembed(work))
    made = sum(report["parts"] for report in reports)
    removed = reports[-1]["removed"]
    if as_json:
        print_json({"tenant_id": session.tenant_id, "model": embedder.model, "made": made, "removed": removed})
    else:
        say(f"Tenant {session.tenant_id} now uses {embedder.model}: {made:,} vectors computed, {removed:,} removed.")
