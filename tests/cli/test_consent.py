"""`reverie consent`: what a subject does not agree to is not done, and the answer says so."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def said(invoke, tmp_path):
    """A function that imports one turn of ana's."""

    def say(source: str, day: str, text: str = "I have a golden retriever called Rex.") -> dict:
        file = tmp_path / f"{source}.jsonl"
        turn = {"subject_id": "ana", "session_id": "s1", "source_id": source, "role": "user", "text": text}
        file.write_text(json.dumps(turn | {"said_at": f"{day}T09:00:00Z"}))
        result = invoke("import", str(file), "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)["files"][0]

    return say


def test_what_is_not_captured_is_refused_and_counted(ask, said) -> None:
    said("t1", "2026-03-01")
    changed = ask("consent", "ana", "--capture", "off", "--actor", "sam")["consents"]
    assert [(each["capture"], each["recall"], each["actor"]) for each in changed] == [(False, True, "sam")]
    refused = said("t2", "2026-03-02")
    assert (refused["imported"], refused["dead_capture_off"], refused["cure"]) == (0, 1, None)
    assert [each["size"] for each in ask("dead-letters", "list", "--each")["dead_letters"]] == [0], "without content"
    ask("consent", "ana", "--capture", "on")
    assert said("t2", "2026-03-02")["imported"] == 1


def test_no_words_of_who_is_not_captured_are_kept(invoke, ask, said, tmp_path) -> None:
    said("t1", "2026-03-01")
    ask("consent", "ana", "--capture", "off")
    assert said("t1", "2026-03-01")["repeated"] == 1
    assert said("t1", "2026-03-01", "Other words.")["dead_capture_off"] == 1, "it is no conflict"
    turn = {"subject_id": "ana", "session_id": "s1", "source_id": "t2", "role": "user", "text": "Hidden words"}
    turn |= {"said_at": "2026-03-02T09:00:00Z"}
    wrong = [turn | {"role": "klant"}, turn | {"said_at": "2026-03-02T09:00"}, turn | {"subject_id": "", "who": "ana"}]
    file = tmp_path / "wrong.jsonl"
    lines = [*map(json.dumps, wrong), json.dumps(turn)[:-9], json.dumps(wrong[0] | {"subject_id": "ben"})]
    file.write_text("\n".join(lines))
    assert "5 became dead letters" in invoke("import", str(file)).stdout
    found = ask("dead-letters", "list", "--each")["dead_letters"]
    assert [bool(each["size"]) for each in found] == [False] * 5 + [True], "only ben's words are kept"


def test_what_is_not_recalled_is_empty_and_says_so(invoke, ask, said) -> None:
    said("t1", "2026-03-01")
    assert invoke("run", "--as-of", "2026-03-02").exit_code == 0
    asked = ("recall", "what dog?", "--subject", "ana", "--as-of", "2026-03-02")
    assert ask(*asked)["hits"]
    ask("consent", "ana", "--recall", "off")
    found = ask(*asked)
    assert (found["hits"], found["notes"]) == (
        [],
        ["Recall is off for ana by consent: nothing from memory is returned."],
    )
    context = ask("context", "ana", "what dog?", "--as-of", "2026-03-02")
    assert "Rex" not in context["text"] and context["notes"][0].startswith("Recall is off for ana")
    ask("consent", "ana", "--recall", "on")
    assert ask(*asked)["hits"]


def test_what_is_too_old_is_erased_by_a_run(invoke, ask, said) -> None:
    said("t1", "2026-03-01")
    said("t2", "2026-03-20", "I can't stand coffee.")
    ask("consent", "ana", "--retain-days", "10")
    assert invoke("run", "--as-of", "2026-03-10").exit_code == 0
    assert "Rex" in json.dumps(ask("show", "ana", "--as-of", "2026-03-10"))
    result = invoke("run", "--as-of", "2026-03-21")
    assert result.exit_code == 0 and "expire" in result.stdout
    shown = json.dumps(ask("show", "ana", "--as-of", "2026-03-21"))
    assert "Rex" not in shown and "coffee" in shown
    assert [each["kind"] for each in ask("receipts", "--verify")["receipts"]] == ["retention"]
    assert said("t1", "2026-03-01")["dead_erased"] == 1
    ask("consent", "ana", "--retain-days", "0")
    assert ask("consent", "ana")["consents"][0]["retain_days"] is None


def test_maintenance_alone_erases_nothing_that_is_too_old(invoke, ask, said) -> None:
    said("t1", "2026-03-01")
    assert invoke("run", "--as-of", "2026-03-02").exit_code == 0
    ask("consent", "ana", "--retain-days", "10")
    assert invoke("maintain").exit_code == 0
    assert "Rex" in json.dumps(ask("show", "ana", "--as-of", "2026-03-02"))
    told = " ".join(invoke("consent", "--help").stdout.split())
    assert "each `reverie run` and each cycle in Dagster erases what is older" in told
    assert "`reverie maintain` and `reverie worker` do not." in told


def test_a_consent_of_an_unknown_name_is_set_with_a_note(invoke, said) -> None:
    said("t1", "2026-03-01")
    result = invoke("consent", "Ana", "--recall", "off")
    assert result.exit_code == 0 and "Did you mean 'ana'?" in result.stderr
    assert invoke("consent", "ana", "--recall", "off").stderr == ""


def test_consents_are_listed(invoke, ask, said) -> None:
    said("t1", "2026-03-01")
    assert invoke("consent").stdout == "No subject of tenant acme has restricted its consent.\n"
    assert ask("consent", "ana")["consents"][0]["changed_at"] is None
    ask("consent", "ana", "--recall", "off")
    assert "ana" in invoke("consent").stdout and "off" in invoke("consent", "ana").stdout
    ask("consent", "ana", "--recall", "on")
    assert ask("consent")["consents"] == [], "she agrees to everything again"
    ask("consent", "ana", "--retain-days", "90")
    assert [each["subject_id"] for each in ask("consent")["consents"]] == ["ana"]
    result = invoke("consent", "--recall", "off")
    assert result.exit_code == 2 and "Name the subject" in result.stderr
