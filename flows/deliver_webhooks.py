"""deliver_webhooks: sends due triggers and changes of memories to the webhooks that subscribed to them."""

from datetime import UTC, datetime
from functools import partial

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from pydantic import AwareDatetime

from resources.artifacts import show_table
from resources.connections import connected, is_worth_a_retry, policy_name_of
from resources.failures import checked, in_one_sentence
from reverie.drive.deliver.delivering import deliver
from reverie.drive.deliver.sending import send_by_http
from reverie.drive.tenants import failure
from reverie.errors import ReverieError
from reverie.store.clock import tenant_time
from reverie.store.connect import database_errors


@task(retries=2, retry_delay_seconds=10, retry_condition_fn=is_worth_a_retry, cache_policy=NO_CACHE)
@in_one_sentence
def deliver_messages(tenant: str | None = None, as_of: datetime | None = None) -> dict[str, int]:
    """Deliver to the webhooks of one tenant, or of all.

    Raises NotFoundError for an unknown tenant, and StageError, which names the tenants that failed.
    """
    rows: list[dict[str, str | int]] = []
    failed: dict[str, str] = {}
    with connected() as reverie:
        if tenant:
            policy_name_of(reverie, tenant)
        store, now = reverie.worker, datetime.now(UTC)
        send = partial(send_by_http, private_hosts=reverie.settings.webhook_private_hosts)
        for name in [tenant] if tenant else [each for each, _ in store.tenants()]:
            try:
                with database_errors():
                    at = tenant_time(store, name, as_of or now)
                    counts = deliver(store, name, as_of=at, clock=lambda: datetime.now(UTC), send=send)
                rows.append({"tenant": name} | counts)
            except Exception as error:  # the other tenants get theirs
                failed[name] = str(error) if isinstance(error, ReverieError) else type(error).__name__
    show_table("delivered", "What became of the messages of each tenant.", rows)
    if failed:
        raise failure(failed, of=len(rows) + len(failed))
    return {name: sum(int(row[name]) for row in rows) for name in ("filled", "delivered", "failed", "dead")}


@flow(log_prints=True)
@in_one_sentence
def deliver_webhooks(tenant: str | None = None, as_of: AwareDatetime | None = None) -> dict[str, int]:
    """Send triggers that are due at `as_of` (default: now) and changes of memories, for one tenant or all."""
    return checked(deliver_messages(tenant, as_of))
