"""`reverie webhooks`."""

from __future__ import annotations


def test_webhooks_are_made_listed_delivered_to_and_ended(invoke, ask, world) -> None:
    assert "There are no webhooks" in invoke("webhooks", "list").stdout
    made = ask("webhooks", "add", "https://example.org/hook", "--event", "memory.forgotten")
    assert made["secret"].startswith("whsec_")
    (listed,) = ask("webhooks", "list")["webhooks"]
    assert (listed["id"], listed["events"]) == (made["id"], ["memory.forgotten"])
    assert ask("webhooks", "deliver")["filled"] == 0
    assert ask("webhooks", "replay")["messages"] == 0
    (shown,) = [line.split()[0] for line in invoke("webhooks", "list").stdout.splitlines() if "example.org" in line]
    assert invoke("webhooks", "end", shown).exit_code == 0, "the id as the table shows it"
    assert "ended" in invoke("webhooks", "list").stdout
    assert invoke("webhooks", "add", "nowhere", "--event", "trigger.due").exit_code != 0
    local = ("webhooks", "add", "http://127.0.0.1:9/hook", "--event", "trigger.due")
    refused = invoke(*local)
    assert refused.exit_code == 2 and "REVERIE_WEBHOOK_PRIVATE_HOSTS" in refused.stderr
    assert invoke(*local, env={"REVERIE_WEBHOOK_PRIVATE_HOSTS": "127.0.0.1"}).exit_code == 0
