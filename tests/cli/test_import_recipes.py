"""Each recipe of docs/importing.md, run as it is written there on a small file of its format."""

from __future__ import annotations

import json
import re
import shlex
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.capture.test_chatgpt import CHATGPT
from tests.capture.test_field_names import OTHERS
from tests.capture.test_foreign import MEM0, ZENDESK, ZEP
from tests.capture.test_slack import SLACK

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "importing.md").read_text(encoding="utf-8")
RECIPES = re.findall(r"<!-- test: (\S+) -->\n```bash\nreverie (.*?)\n```", PAGE)

MESSAGES = {"messages": [{"role": "user", "content": "I like tea."}, {"role": "assistant", "content": "Noted."}]}
LOGGED = {"request": MESSAGES | {"user": "ana"}, "created": 1772352000, "metadata": {"session_id": "s1"}}
DESK = "requester_email,ticket_id,author_role,created_at,body\nana@x.nl,7,klant,2026-03-01 09:00,Ik woon in Breda.\n"


def packed(files: dict[str, object]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, json.dumps(content))

    return write


#: What lies at each name, and how many turns it has.
FILES: dict[str, tuple[Callable[[Path], object], int]] = {
    "chatgpt.zip": (packed({"conversations.json": CHATGPT}), 2),
    "slack.zip": (packed({name: days for name, days in SLACK.items() if not name.startswith("general")}), 1),
    "fine_tuning.jsonl": (lambda path: path.write_text(json.dumps(MESSAGES)), 2),
    "completions.jsonl": (lambda path: path.write_text(json.dumps(LOGGED)), 2),
    "chats.json": (lambda path: path.write_text(json.dumps([OTHERS], indent=2)), 1),
    "mem0.json": (lambda path: path.write_text(json.dumps(MEM0["results"][:2])), 0),  # type: ignore[index]
    "zep.json": (lambda path: path.write_text(json.dumps(ZEP)), 2),
    "tickets.json": (lambda path: path.write_text(json.dumps(ZENDESK)), 3),
    "desk.csv": (lambda path: path.write_text(DESK), 1),
}


def test_every_recipe_is_tried() -> None:
    assert {name for name, _ in RECIPES} == set(FILES)


@pytest.mark.parametrize(("name", "command"), RECIPES)
def test_recipe(invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, command: str) -> None:
    write, turns = FILES[name]
    write(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    result = invoke(*shlex.split(command), "--json")
    assert result.exit_code == 0, result.output
    (found,) = json.loads(result.stdout)["files"]
    assert (found["imported"], found["dead"]) == (turns, 0)
