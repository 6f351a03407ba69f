"""replay_session: extracts the turns of one session again with the current rules."""

from datetime import UTC, datetime

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from pydantic import AwareDatetime

from resources.artifacts import show_stages
from resources.connections import connected, is_worth_a_retry
from resources.failures import checked, in_one_sentence
from reverie.drive.replay import replay
from reverie.drive.tenants import policies
from reverie.model import Scope


@task(retries=2, retry_delay_seconds=10, retry_condition_fn=is_worth_a_retry, cache_policy=NO_CACHE)
@in_one_sentence
def read_again(tenant: str, subject: str, session: str, as_of: datetime | None) -> dict[str, int | float]:
    """Extract, embed and consolidate the session. Earlier candidates stay."""
    with connected() as reverie:
        policy = policies(reverie.worker)(tenant)
        work = reverie.work(Scope(tenant_id=tenant), policy, as_of or datetime.now(UTC), driver="prefect")
        reports = replay(work, subject_id=subject, session_id=session)
        return show_stages("replayed", reports)


@flow(log_prints=True, flow_run_name="replay for {tenant}")
@in_one_sentence
def replay_session(
    tenant: str, subject: str, session: str, as_of: AwareDatetime | None = None
) -> dict[str, int | float]:
    """Extract one session again, after a rule was fixed or if the session became a dead letter."""
    return checked(read_again(tenant, subject, session, as_of))
