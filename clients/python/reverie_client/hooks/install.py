"""Writes, removes and shows the hooks of a coding agent; other entries of the same file stay unchanged."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reverie_client.environment import Environment
from reverie_client.errors import ReverieClientError
from reverie_client.hooks.agents import AGENTS, Agent, hooks_file

SCRIPT = Path(__file__).with_name("script.py")
#: Seconds that the script waits for the server; its own start takes the rest of 0.3 seconds.
SECONDS = 0.25
#: Seconds after which the agent stops the script if it hangs.
LIMIT = 5


class HooksError(ReverieClientError):
    """The hooks cannot be written. The message gives the reason."""


def install(
    agent: str,
    environment: Environment,
    *,
    home: Path,
    project: Path | None = None,
    token_budget: int = 800,
    top_k: int = 8,
    stores: bool = True,
) -> Path:
    """Write the hooks of an agent and their settings, and return the file of the hooks. A second call changes nothing.

    Raises HooksError: no subject, an unknown agent, or a file that is not the agent's JSON.
    """
    known = _known(agent)
    if environment.subject_id is None:
        raise HooksError("REVERIE_SUBJECT is not set: whose memory is it? Name it with --subject.")
    path = hooks_file(known, home=home, project=project)
    found = _without_ours(_read(path))
    settings = _settings_file(known, home, project)
    _write_settings(
        settings,
        {
            "url": environment.url,
            "key": environment.key,
            "subject_id": environment.subject_id,
            "token_budget": token_budget,
            "top_k": top_k,
            "seconds": SECONDS,
            "store": stores,
            "folder": str(_waiting(settings)),
        },
    )
    events = ((known.recall, "recall"), (known.store, "store")) if stores else ((known.recall, "recall"),)
    hooks = found.setdefault("hooks", {})
    for event, action in events:
        hooks.setdefault(event, []).append(known.entry(_command(action, known, settings), LIMIT))
    _write(path, {**known.header, **found})
    return path


def uninstall(agent: str, *, home: Path, project: Path | None = None) -> list[Path]:
    """Remove the hooks of an agent, their settings with the key, and waiting prompts; return the files changed."""
    known = _known(agent)
    path, settings = hooks_file(known, home=home, project=project), _settings_file(known, home, project)
    changed = []
    named: set[str] = set()
    if path.exists() and (commands := _ours(_read(path))):
        named = {shlex.split(command)[-1] for command in commands if command}
        left = _without_ours(_read(path))
        if left in ({}, known.header) and not path.is_symlink():
            path.unlink()
        else:
            _write(path, left)
        changed.append(path)
    before = _settings_file_of_before(known, home, project)
    for file in (settings, before):
        # the earlier name is shared by projects of one folder name: only the hooks tell whose the file is
        if file.exists() and (file == settings or str(file) in named):
            file.unlink()
            changed.append(file)
    shutil.rmtree(_waiting(settings), ignore_errors=True)
    if not list(settings.parent.glob("*.json")):  # earlier versions had one folder for all
        for prompt in _waiting(settings).parent.glob("*.json*"):
            prompt.unlink()
    return changed


def show(*, home: Path, project: Path | None = None) -> list[dict[str, Any]]:
    """Return each agent with its file and our commands in it."""
    rows = []
    for agent in AGENTS.values():
        path = hooks_file(agent, home=home, project=project)
        rows.append(
            {
                "agent": agent.name,
                "file": str(path),
                "commands": _ours(_read(path)) if path.exists() else [],
                "documentation": agent.documentation,
            }
        )
    return rows


def _known(agent: str) -> Agent:
    if agent not in AGENTS:
        raise HooksError(f"{agent!r} is no agent with hooks: {', '.join(AGENTS)}.")
    return AGENTS[agent]


def _settings_file(agent: Agent, home: Path, project: Path | None) -> Path:
    """Return the file of the settings, whose name has a hash of the project's path: folders may have one name."""
    if project is None:
        return home / ".reverie" / "hooks" / f"{agent.name}.json"
    known = hashlib.sha256(os.fsencode(project.resolve())).hexdigest()[:12]
    return home / ".reverie" / "hooks" / f"{agent.name}-{project.resolve().name}-{known}.json"


def _waiting(settings: Path) -> Path:
    """Return the folder of waiting prompts, apart from other hooks of the same agent, which have the same sessions."""
    return settings.parent / "waiting" / settings.stem


def _settings_file_of_before(agent: Agent, home: Path, project: Path | None) -> Path:
    """Return the file that earlier versions wrote, without the hash."""
    name = agent.name if project is None else f"{agent.name}-{project.resolve().name}"
    return home / ".reverie" / "hooks" / f"{name}.json"


def _command(action: str, agent: Agent, settings: Path) -> str:
    """Return the command for the agent's shell; -I and -S skip the user's packages, which no hook needs."""
    return shlex.join([sys.executable, "-I", "-S", str(SCRIPT), action, agent.name, str(settings)])


def _is_ours(handler: Any) -> bool:
    return f"{SCRIPT.parent.name}/{SCRIPT.name}" in json.dumps(handler) and "reverie" in json.dumps(handler)


def _handlers(entry: Any) -> list[Any]:
    """Return the handlers of an event's entry, which may be a group that others share."""
    handlers = entry.get("hooks") if isinstance(entry, dict) else None
    return handlers if isinstance(handlers, list) else [entry]


def _ours(found: Mapping[str, Any]) -> list[str]:
    entries = [entry for each in found.get("hooks", {}).values() for entry in each]
    handlers = [handler for entry in entries for handler in _handlers(entry) if _is_ours(handler)]
    return [handler.get("command") or handler.get("bash") for handler in handlers]


def _entry_without_ours(entry: Any) -> Any:
    """Return an entry without our handlers; None if nothing is left of it."""
    handlers = _handlers(entry)
    left = [handler for handler in handlers if not _is_ours(handler)]
    if len(left) == len(handlers):
        return entry
    return {**entry, "hooks": left} if left else None


def _without_ours(found: dict[str, Any]) -> dict[str, Any]:
    kept = {
        event: [left for entry in entries if (left := _entry_without_ours(entry)) is not None]
        for event, entries in found.get("hooks", {}).items()
    }
    hooks = {event: entries for event, entries in kept.items() if entries}
    others = {name: value for name, value in found.items() if name != "hooks"}
    return others | ({"hooks": hooks} if hooks else {})


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8") or "{}")
    except ValueError as error:
        raise HooksError(f"{path} is not JSON; nothing was changed: {error}.") from None
    hooks = found.get("hooks", {}) if isinstance(found, dict) else None
    if not isinstance(hooks, dict) or not all(isinstance(entries, list) for entries in hooks.values()):
        raise HooksError(f"{path} does not hold hooks by event; nothing was changed.")
    return dict(found)


def _write(path: Path, value: Mapping[str, Any]) -> None:
    """Replace the agent's file, or the one that it links to, and keep its mode: it may contain keys."""
    file = path.resolve()
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f"{file.name}.new")
    new.unlink(missing_ok=True)
    mode = 0o600 if file.exists() else 0o666  # a new file gets the user's usual mode
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as opened:
        opened.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
    if file.exists():
        shutil.copymode(file, new)
    os.replace(new, file)


def _write_settings(path: Path, value: Mapping[str, Any]) -> None:
    """Write the settings so that only their owner can read them, since they contain a key."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(value, file, indent=2)
