"""Recall by a policy that is chosen."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest

from reverie.inspector.drawing import stacked_bar
from reverie.inspector.views.playground import signals_shown
from reverie.policy import SIGNALS
from tests.inspector.conftest import Site, command, token_of

pytestmark = pytest.mark.xdist_group("inspector")


def test_a_policy_that_is_not_shipped_is_refused(admin: httpx.Client) -> None:
    form = {"token": token_of(admin.get("recall").text), "subject": "eve", "question": "Who?"}
    for first in ("/etc/passwd", "none"):
        assert admin.post("recall", data=form | {"first": first}).status_code == 422
    assert "No hits." in admin.post("recall", data=form | {"subject": "nobody"}).text


def test_a_pasted_name_may_have_a_space_unless_it_is_a_subjects(site: Site, tmp_path: Path) -> None:
    turn = {"session_id": "s1", "role": "user", "said_at": "2026-03-01T10:00Z"}
    said = ({"subject_id": "kim", "text": "I live in Lima."}, {"subject_id": "kim ", "text": "I live in Quito."})
    file = tmp_path / "said.jsonl"
    file.write_text("\n".join(json.dumps(turn | each) for each in said))
    command(site.database, "import", str(file), "--tenant", "globex")
    command(site.database, "run", "--tenant", "globex")
    with site.signed_in("other") as client:
        for page in ("recall", "context"):
            form = {"token": token_of(client.get(page).text), "question": "Where do you live?"}
            for name, place in (("kim\t", "Lima"), ("kim ", "Quito")):
                shown = client.post(page, data=form | {"subject": name}).text
                assert [each for each in ("Lima", "Quito") if each in shown] == [place], (page, name)
    for name in ("kim", "kim "):
        command(site.database, "erase", name, "--tenant", "globex", "--yes")


def test_signals_of_one_bar_differ_in_colour() -> None:
    parts = {SIGNALS[0]: 0.5, SIGNALS[12]: 0.3, SIGNALS[3]: -0.1}
    hit = SimpleNamespace(signals={name: SimpleNamespace(contribution=part) for name, part in parts.items()})
    names = signals_shown([cast("Any", SimpleNamespace(hits=[hit]))])
    assert names == [SIGNALS[0], SIGNALS[12]]
    assert [bar.colour for bar in stacked_bar(parts, names, 1.0)] == [0, 1]
