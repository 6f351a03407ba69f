"""The `[assist]` heading: tools for a message, lessons of other sessions, items of an inbox (Agent, phases 3 and 6)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from reverie.policy.table import Count, Days, Share, Table, Weight


class ToolPolicy(Table):
    """The evidence of earlier uses for or against a tool."""

    #: Number of the latest turns with a tool that are considered.
    calls: Count = 2000
    #: Number of uses, those in the most similar situations, that count.
    nearest: Count = 8
    #: Minimum similarity of a situation to the message; less similar ones do not count.
    least_similarity: Share = 0.2
    #: Value of a use without an outcome; a good outcome counts 1, a bad one -1.
    unmeasured: Share = 0.5
    #: Days after which the weight of a use has halved.
    half_life_days: Annotated[Days, Field(gt=0)] = 90.0
    #: Added to the weight of all evidence, so that little evidence gives a low score.
    doubt: Share = 0.05
    #: Minimum score of a suggestion; at or below its negative, the tool is discouraged.
    least_score: Share = 0.15


class LessonPolicy(Table):
    """The choice of decisions of other sessions as lessons."""

    #: Minimum similarity of a decision's situation to the message.
    least_similarity: Share = 0.35
    #: Number of the latest decisions with an outcome that are considered.
    decisions: Count = 500


class InboxPolicy(Table):
    """The ranking of the items of an inbox."""

    #: Number of the nearest memories that count for an item.
    nearest: Count = 5
    #: Minimum similarity of a memory to an item; less similar ones do not count.
    least_similarity: Share = 0.2
    #: Relations of topics that the person does not want to hear of, besides statements of negative polarity.
    avoiding: tuple[str, ...] = ("avoids_topic",)
    #: Weight of a near memory.
    near: Weight = 1.0
    #: Added to the weight of a near instruction.
    instruction: Weight = 0.5
    #: Weight of a near memory of something disliked.
    disliked: Weight = -1.5
    #: Weight of a person or thing that the item names.
    named: Weight = 0.4


class AssistPolicy(Table):
    """Suggestions for an assistant: tools, lessons and inboxes (docs/assisting.md)."""

    tools: ToolPolicy = ToolPolicy()
    lessons: LessonPolicy = LessonPolicy()
    inbox: InboxPolicy = InboxPolicy()
