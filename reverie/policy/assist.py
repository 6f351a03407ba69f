"""The `[assist]` heading: tools for a message, lessons of other sessions, items of an inbox (Agent, phases 3 and 6)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from reverie.policy.table import Count, Days, Share, Table, Weight


class ToolPolicy(Table):
    """How earlier uses of tools speak for or against a tool."""

    #: Latest turns with a tool that are looked at.
    calls: Count = 2000
    #: Uses in the most similar situations that count.
    nearest: Count = 8
    #: A situation less similar to the message says nothing.
    least_similarity: Share = 0.2
    #: What a use without an outcome counts, where a good outcome counts 1 and a bad one -1.
    unmeasured: Share = 0.5
    #: Days after which a use weighs half.
    half_life_days: Annotated[Days, Field(gt=0)] = 90.0
    #: Weight of the doubt: evidence must outweigh it.
    doubt: Share = 0.05
    #: Least score of a suggestion; below its negative a tool is advised against.
    least_score: Share = 0.15


class LessonPolicy(Table):
    """What counts as learned in another session."""

    #: A decision whose situation is less similar to the message is no lesson.
    least_similarity: Share = 0.35
    #: Decisions with an outcome that are looked at, the latest.
    decisions: Count = 500


class InboxPolicy(Table):
    """What makes an item of an inbox matter."""

    #: Memories nearest to an item that count for it.
    nearest: Count = 5
    #: A memory less similar to an item says nothing of it.
    least_similarity: Share = 0.2
    #: Relations of statements that say what the person does not want to hear of, beside those of negative polarity.
    avoiding: tuple[str, ...] = ("avoids_topic",)
    #: Weights: of the nearest memories, of instructions among them, of what is disliked, of whom or what an item names.
    near: Weight = 1.0
    instruction: Weight = 0.5
    disliked: Weight = -1.5
    named: Weight = 0.4


class AssistPolicy(Table):
    """Numbers of what memory offers an assistant (docs/assisting.md)."""

    tools: ToolPolicy = ToolPolicy()
    lessons: LessonPolicy = LessonPolicy()
    inbox: InboxPolicy = InboxPolicy()
