"""One memory: its text, the turns it is based on, its lineage, the recalls that returned it, and its future."""

from __future__ import annotations

from starlette.responses import Response

from reverie.inspector.drawing import FadingMemory, FadingPlot, fading_plot
from reverie.inspector.marking import marked_pieces
from reverie.inspector.reading import locate, recalls_with
from reverie.inspector.views.page import InspectorPage
from reverie.inspector.visits import Visit
from reverie.recall.inspect import Explanation, explain

#: Most turns shown; the first ones.
_TURNS = 30


async def show_memory(visit: Visit) -> Response:
    """Explain a memory, in force or forgotten."""
    found = await explain(visit.caller.reader(), visit.name("memory"))
    wanted = (found.memory.get("object"), found.memory.get("content"))
    turns = [(turn, marked_pieces(turn.text, wanted)) for turn in found.turns[:_TURNS]]
    policy = visit.caller.policy
    return visit.render(
        "memory.html",
        found=found,
        memory=found.memory,
        turns=turns,
        is_pinned=found.is_pinned,
        recalls=await recalls_with(visit.caller.reader(), found.subject_id, found.id),
        plot=None if found.forgotten else _plot(visit, found),
        fading=policy.fading,
        is_withheld=any(turn.mark for turn in found.turns if turn.direct),
    )


async def show_item(visit: Visit) -> Response:
    """Redirect to the page of the item with an id: a memory, the memory of a fact, or a turn in its session."""
    found = await locate(visit.caller.reader(), visit.uuid("id"))
    if found.item == "turn":
        return visit.redirect("session", subject=found.subject_id, session=found.session_id, turn=found.id)
    if found.item == "entry":
        return visit.redirect("subject", subject=found.subject_id, view="profile")
    return visit.redirect("memory", memory=found.id)


def _plot(visit: Visit, found: Explanation) -> FadingPlot:
    row = found.memory
    memory = FadingMemory(
        kind=found.kind,
        base=row["base"],
        peak=row["peak"],
        happened_at=row["happened_at"],
        accessed_at=row["accessed_at"],
        forget_at=None if found.is_pinned else row["forget_at"],
        valid_to=row["valid_to"],
        keeps=row["lasting"] or found.is_pinned,
    )
    return fading_plot(memory, visit.caller.policy.fading, visit.at)


PAGES = (InspectorPage("memory", show_memory), InspectorPage("item", show_item))
