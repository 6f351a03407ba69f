"""Exports of the data kept about a subject, for administrators (spec E4)."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir, mkdtemp
from threading import Event
from typing import Annotated, Literal

from fastapi import Query
from starlette.responses import FileResponse
from starlette.types import Message, Receive, Scope, Send

from reverie.api.access import Admin, Caller
from reverie.api.deadline import deadline_of
from reverie.api.fields import Name, now
from reverie.api.problems import documented
from reverie.api.routing import routes_of
from reverie.drive.exporting import export
from reverie.drive.readable import write_readable
from reverie.interruption import Interrupted
from reverie.store.server.address import database_url

router = routes_of("exports")

_PREFIX = "reverie-export-"
#: Seconds after which no request needs a folder any more: a download goes on although its file is removed.
_OLD_SECONDS = 3_600.0

ExportPart = Literal["log", "memory", "person"]
#: The file of each part, and its media type.
_FILES: dict[ExportPart, tuple[str, str]] = {
    "log": ("log.jsonl", "application/x-ndjson"),
    "memory": ("memory.jsonl", "application/x-ndjson"),
    "person": ("person.md", "text/markdown; charset=utf-8"),
}


class ExportResponse(FileResponse):
    """A file whose folder is removed after the answer, even if the answer is another one or was not sent.

    The request's deadline is for the time before the answer: a large file may take longer to send.
    """

    def __init__(self, folder: Path, part: ExportPart) -> None:
        name, media_type = _FILES[part]
        super().__init__(folder / "files" / name, media_type=media_type, filename=name)
        self._folder = folder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file, and remove it."""

        async def unhurried(message: Message) -> None:
            if message["type"] == "http.response.start":
                deadline_of(scope).lift()
            await send(message)

        try:
            await super().__call__(scope, receive, unhurried)
        finally:
            await asyncio.to_thread(rmtree, self._folder, ignore_errors=True)


@router.get(
    "/exports",
    response_class=FileResponse,
    responses=documented(404, 422) | {200: {"content": {"application/x-ndjson": {}, "text/markdown": {}}}},
    summary="Export what is kept about a subject",
    name="export_subject",
)
async def get_export(
    caller: Admin,
    subject_id: Annotated[Name, Query()],
    part: Annotated[
        ExportPart,
        Query(
            description="log: what was said, observed and corrected, for `reverie import`; memory: what is remembered, "
            "with its lineage; person: a page to read."
        ),
    ] = "log",
) -> FileResponse:
    """Return one file of an export: one table row per line, or a page to read. Requires the scope admin."""
    folder = Path(await asyncio.to_thread(mkdtemp, prefix=_PREFIX))
    ended = Event()
    try:
        await asyncio.to_thread(_write, caller, folder, subject_id, ended)
    except BaseException:
        ended.set()
        await asyncio.to_thread(rmtree, folder, ignore_errors=True)
        raise
    return ExportResponse(folder, part)


def remove_old_exports() -> None:
    """Remove the folders of processes that were killed. Other processes on this machine may be using later ones."""
    for folder in Path(gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > _OLD_SECONDS:
                rmtree(folder, ignore_errors=True)


def _write(caller: Caller, folder: Path, subject_id: str, ended: Event) -> None:
    """Write the files. `ended`: the request has ended, and has removed the folder."""

    def check() -> None:
        if ended.is_set():
            raise Interrupted

    try:
        url = database_url(caller.services.settings)
        export(url, caller.tenant_id, folder / "files", subject_id=subject_id, at=now(), check=check)
        check()
        write_readable(folder / "files", subject_id)
    finally:
        if ended.is_set():  # writing may have made it again
            rmtree(folder, ignore_errors=True)
