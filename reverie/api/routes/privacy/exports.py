"""Exports of the data kept about a subject, for administrators (spec E4)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Annotated, Literal

from fastapi import Query
from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from reverie.api.access import Admin, Caller
from reverie.api.fields import Name, now
from reverie.api.problems import documented
from reverie.api.routing import routes_of
from reverie.drive.exporting import export
from reverie.drive.readable import write_readable
from reverie.store.server.address import database_url

router = routes_of("exports")

ExportPart = Literal["log", "memory", "person"]
#: The file of each part, and its media type.
_FILES: dict[ExportPart, tuple[str, str]] = {
    "log": ("log.jsonl", "application/x-ndjson"),
    "memory": ("memory.jsonl", "application/x-ndjson"),
    "person": ("person.md", "text/markdown; charset=utf-8"),
}


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
    folder = Path(await asyncio.to_thread(mkdtemp, prefix="reverie-export-"))
    name, media_type = _FILES[part]
    try:
        await asyncio.to_thread(_write, caller, folder / "files", subject_id)
    except BaseException:
        await asyncio.to_thread(rmtree, folder, ignore_errors=True)
        raise
    return FileResponse(
        folder / "files" / name,
        media_type=media_type,
        filename=name,
        background=BackgroundTask(rmtree, folder, ignore_errors=True),
    )


def _write(caller: Caller, folder: Path, subject_id: str) -> None:
    url = database_url(caller.services.settings)
    export(url, caller.tenant_id, folder, subject_id=subject_id, at=now())
    write_readable(folder, subject_id)
