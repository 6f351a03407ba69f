"""`reverie fit-ranking`: fit the weights of recall."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from reverie.cli.options import json_option, policy_option, require_folder, tenant_option
from reverie.cli.output import heading, note, print_json, say, table, write_file
from reverie.cli.session import CommandSession
from reverie.cli.signals import ending_cleanly

if TYPE_CHECKING:
    from reverie.evaluate.ranking.fitting import FittedKind
    from reverie.evaluate.ranking.weights import Example


@click.command("fit-ranking", short_help="Fit the weights of recall, and test them on held-out folds.")
@tenant_option
@policy_option
@click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of labelled sets to fit on, instead of the tenant's recall log and outcomes.",
)
@click.option("--set", "sets", multiple=True, metavar="NAME", help="Only this set of the folder; can be repeated.")
@click.option(
    "--work",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder that keeps the database of the sets, so that the next fit loads nothing. [default: temporary]",
)
@click.option(
    "--write", type=click.Path(dir_okay=False, path_type=Path), help="Write the adopted weights to this policy file."
)
@json_option
def command(
    tenant: str | None,
    policy: str | None,
    data: Path | None,
    sets: tuple[str, ...],
    work: Path | None,
    write: Path | None,
    as_json: bool,
) -> None:
    """Fit the weights of each kind of query (question, message, request) on a tenant's recall log and outcomes, or on
    labelled sets.

    Weights are fitted on some conversations and tested on others. They are adopted only if no set's held-out queries
    find less than with the present weights. The policy does not change: --write makes a policy file based on it, which
    `reverie policy use` adopts.

    \b
    Examples:
      reverie fit-ranking --tenant acme --write acme.toml
      reverie fit-ranking --data ../shared/data --set prefeval --set memaware --work /var/tmp/fit
    """
    from reverie.evaluate.ranking.fitting import fit_kinds, weights_toml
    from reverie.policy import policy_reference

    if write:
        require_folder(write, "--write")
    with CommandSession(tenant, policy) as session, ending_cleanly():
        if write:
            _require_no_base(write, session.policy_name)
        examples = _of_sets(session, data, sets, work) if data else _of_tenant(session)
        base, numbers = session.policy_name, session.policy.recall
        fitted = list(fit_kinds(examples, numbers, progress=lambda kind: note(f"Fitting {kind} weights.")))
    if as_json:
        print_json({"examples": len(examples), "kinds": [_as_json(each) for each in fitted]})
    else:
        _show(fitted)
    adopted = [each for each in fitted if each.is_adopted]
    if write and adopted:
        write_file(write, weights_toml(policy_reference(base), adopted))
        note(f"Wrote {write}.")
    elif write:
        note("No weights were adopted: no file was written.")


def _require_no_base(write: Path, policy: str) -> None:
    """Raise BadParameter if the file to write is the policy on which it would be based, or a base of that policy."""
    from reverie.policy.files import read_files

    if str(write.resolve()) in (each.identity for each in read_files(policy)):
        reason = f"{write} is the policy in use or one of its bases: write the weights to another file."
        raise click.BadParameter(reason, param_hint="--write")


def _of_tenant(session: CommandSession) -> list[Example]:
    from reverie.evaluate.ranking.examples import examples_of
    from reverie.evaluate.ranking.recall_log import logged_queries

    session.require_tenant()
    store, tenant_id = session.worker, session.tenant_id
    asked = logged_queries(store, tenant_id)
    return list(examples_of(store, tenant_id, asked, policy=session.policy, embedder=session.embedder))


def _of_sets(session: CommandSession, data: Path, names: tuple[str, ...], work: Path | None) -> list[Example]:
    from reverie.evaluate.ranking.examples import examples_of, load_set
    from reverie.evaluate.ranking.scratch import scratch_database
    from reverie.evaluate.ranking.sets import SETS, read_set

    examples: list[Example] = []
    with scratch_database(work) as store:
        for name in names or SETS:
            note(f"Reading {name}.")
            labelled = read_set(name, data)
            load_set(store, labelled, policy=session.policy, embedder=session.embedder)
            examples += examples_of(store, name, labelled.queries, policy=session.policy, embedder=session.embedder)
    return examples


def _as_json(fitted: FittedKind) -> dict[str, object]:
    return {
        "kind": fitted.kind,
        "queries": fitted.queries,
        "adopted": fitted.is_adopted,
        "worse": fitted.worse,
        "before": fitted.before,
        "after": fitted.after,
        "folds": [
            {
                "source": fold.source,
                "fold": fold.name,
                "queries": fold.queries,
                "before": fold.before._asdict(),
                "after": fold.after._asdict(),
            }
            for fold in (*fitted.folds, *fitted.by_source)
        ],
    }


def _show(fitted: list[FittedKind]) -> None:
    if not fitted:
        say("No labelled queries: nothing that was recalled has an outcome yet.")
    for each in fitted:
        heading(f"{each.kind.capitalize()}: {each.queries:,} queries")
        if not each.folds:
            say("Too few queries or conversations: the weights stay.")
            continue
        table(
            ("set", "held-out fold", "queries", "R@10 before", "R@10 after", "NDCG@10 before", "NDCG@10 after"),
            [
                (
                    fold.source, fold.name, fold.queries, f"{fold.before.recall_10:.3f}", f"{fold.after.recall_10:.3f}",
                    f"{fold.before.ndcg_10:.3f}", f"{fold.after.ndcg_10:.3f}",
                )
                for fold in (*each.folds, *each.by_source)
            ],
            right=("queries", "R@10 before", "R@10 after", "NDCG@10 before", "NDCG@10 after"),
        )  # fmt: skip
        table(
            ("signal", "before", "after"),
            [(name, f"{each.before[name]:.2f}", f"{weight:.2f}") for name, weight in each.after.items()],
            right=("before", "after"),
        )
        if each.is_adopted:
            say("Adopted.")
        elif each.worse:
            say(f"Not adopted: held-out queries of {', '.join(each.worse)} find less.")
        else:
            say("Nothing changes.")
