"""Alerts outside Dagster: failed runs and checks, and changes of policies and models.

Messages go to REVERIE_ALERT_URL as `{"text": ...}`, the form of Slack's incoming webhooks, which Mattermost, Discord
(`/slack`) and others accept too. They hold names, ids and numbers, never a user's text or an error's message.
"""

import json
import urllib.request
from collections.abc import Iterator

import dagster as dg
from dagster._core.storage.asset_check_execution_record import (
    AssetCheckExecutionRecord,
    AssetCheckExecutionRecordStatus,
)

from reverie.errors import ReverieError, SettingsError
from reverie.policy import load_policy
from reverie.settings import Settings, load_settings
from reverie.store.connect import database_errors
from reverie.store.database import Store
from reverie.store.server.address import database_url

#: Seconds that a webhook may take.
_TIMEOUT = 10
_UNSET = "REVERIE_ALERT_URL is not set."
#: The sensors run by default only if an alert URL is set.
_STATUS = dg.DefaultSensorStatus.RUNNING if load_settings().alert_url else dg.DefaultSensorStatus.STOPPED


def alert(text: str) -> bool:
    """Post a message; return False if no URL is set. Raises OSError if the webhook does not accept it."""
    url = load_settings().alert_url
    if url is None:
        return False
    address = url.get_secret_value()
    if not address.startswith(("https://", "http://")):
        raise SettingsError(
            "REVERIE_ALERT_URL cannot be used: a URL like https://hooks.slack.com/services/... is needed."
        )
    body = json.dumps({"text": f"Reverie: {text}"}).encode()
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=_TIMEOUT):
        return True


@dg.run_failure_sensor(
    name="alert_on_failed_runs",
    minimum_interval_seconds=30,
    default_status=_STATUS,
    description="Posts to REVERIE_ALERT_URL when a run has failed after its retries.",
)
def failed_runs(context: dg.RunFailureSensorContext) -> None:
    """Alert when a run has failed after all its retries, with its job, partition, steps and id."""
    run = context.dagster_run
    if run.tags.get("dagster/will_retry") == "true":
        return
    partition = run.tags.get("dagster/partition")
    steps = sorted({event.step_key for event in context.get_step_failure_events() if event.step_key})
    alert(
        f"the run {run.run_id} of {run.job_name}"
        + (f", partition {partition}," if partition else "")
        + " failed"
        + (f" in {', '.join(steps)}." if steps else ".")
    )


@dg.sensor(
    name="alert_on_failed_checks",
    minimum_interval_seconds=60,
    default_status=_STATUS,
    description="Posts to REVERIE_ALERT_URL when an asset check fails, once for each failure.",
)
def failed_checks(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Alert when a check has failed, with its name, its asset and its numbers."""
    if load_settings().alert_url is None:
        return dg.SkipReason(_UNSET)
    keys = [] if context.repository_def is None else sorted(context.repository_def.asset_graph.asset_check_keys)
    latest = context.instance.event_log_storage.get_latest_asset_check_execution_by_key(keys)
    seen: dict[str, int] = json.loads(context.cursor) if context.cursor else {}
    told = 0
    for key, record in latest.items():
        name = key.to_user_string()
        event = record.event.dagster_event if record.event and _is_done(record) else None
        evaluation = event.asset_check_evaluation_data if event else None
        if evaluation is None or seen.get(name) == record.id:
            continue
        # the first evaluation does not report past failures
        if context.cursor and not evaluation.passed:
            numbers = {each: value.value for each, value in evaluation.metadata.items()}
            listed = ", ".join(
                f"{each} {number}" for each, number in numbers.items() if isinstance(number, int | float)
            )
            asset, level = evaluation.asset_key.to_user_string(), evaluation.severity.value.lower()
            alert(f"the check {evaluation.check_name} of {asset} failed ({level}). {listed}".rstrip())
            told += 1
        seen[name] = record.id
    context.update_cursor(json.dumps(seen))
    return dg.SkipReason(f"Alerts were sent for {told} failed checks.")


def _is_done(record: AssetCheckExecutionRecord) -> bool:
    return record.status in (AssetCheckExecutionRecordStatus.SUCCEEDED, AssetCheckExecutionRecordStatus.FAILED)


@dg.sensor(
    name="alert_on_changes",
    minimum_interval_seconds=60,
    default_status=_STATUS,
    description="Posts to REVERIE_ALERT_URL when a tenant's policy, the numbers of a policy or a model has changed.",
)
def changes(context: dg.SensorEvaluationContext) -> dg.SkipReason:
    """Alert when a tenant's policy, the numbers in a policy file or a model of the settings has changed."""
    settings = load_settings()
    if settings.alert_url is None:
        return dg.SkipReason(_UNSET)
    try:
        with database_errors(), Store.open(database_url(settings), size=1) as store:
            now = dict(_in_force(settings, store))
    except ReverieError as error:
        return dg.SkipReason(str(error))
    before: dict[str, str] = json.loads(context.cursor) if context.cursor else now
    changed = [
        f"{name} was {before[name]} and is {now[name]}"
        for name in sorted(before.keys() & now.keys())
        if before[name] != now[name]
    ]
    if changed:
        alert(f"{'; '.join(changed)}. Memory follows at the next cycle; a new embedding model needs `reverie reembed`.")
    context.update_cursor(json.dumps(now))
    return dg.SkipReason(f"Changes since the last tick: {len(changed)}.")


def _in_force(settings: Settings, store: Store) -> Iterator[tuple[str, str]]:
    """Yield the models, and each tenant's policy with the hash of its numbers, each with its name for the message."""
    yield "the embedding model", settings.embedding_model
    yield "the language model", settings.language_model
    for tenant_id, policy in store.tenants():
        try:
            yield f"the policy of {tenant_id}", f"{policy} ({load_policy(policy).hash[:12]})"
        except ReverieError:
            yield f"the policy of {tenant_id}", f"{policy} (cannot be read)"


alerts = [failed_runs, failed_checks, changes]
