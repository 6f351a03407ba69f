"""`reverie reembed`: a tenant's memory under another embedding model."""

from __future__ import annotations

from datetime import datetime

import click

from reverie.cli.options import as_of_option, json_option, tenant_option
from reverie.cli.output import print_json, say
from reverie.cli.progress import bars
from reverie.cli.session import Session
from reverie.cli.signals import ending_cleanly


@click.command("reembed", short_help="Embed a tenant's memory by another model.")
@tenant_option
@click.option("--model", metavar="NAME", help="Model to change to. [default: $REVERIE_EMBEDDING_MODEL]")
@as_of_option("Logical time up to which everything is embedded.")
@json_option
def command(tenant: str | None, model: str | None, as_of: datetime | None, as_json: bool) -> None:
    """Make the vectors of another embedding model beside the live ones, switch when none is missing, remove the old.

    Recall goes on meanwhile and never mixes models. Interrupted, it is run again and goes on. Afterwards set
    REVERIE_EMBEDDING_MODEL to the new model wherever this tenant is worked on: another one is refused there, and recall
    answers by words alone and says so.

    \b
    Examples:
      reverie reembed --tenant demo --model sentence-transformers/all-mpnet-base-v2
    """
    from reverie.drive.reembed import reembed
    from reverie.inference.loading import load_embedder
    from reverie.store.work import Work

    with Session(tenant) as session, ending_cleanly(), bars() as shown:
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
        say(
            f"{session.tenant_id} is embedded by {embedder.model}: {made:,} vectors made, {removed:,} old ones removed."
        )
