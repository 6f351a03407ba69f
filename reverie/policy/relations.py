"""The table of relations: what statements mean, how long they last, and how they are worded."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, model_validator

from reverie.model import Phase
from reverie.policy.table import Regex, Share, Table

FactCategory = Literal["identity", "preference", "constraint", "instruction"]
RuleKind = Literal["fact", "preference", "instruction"]
StatedKind = Literal["fact", "preference", "instruction", "episode"]
#: Cases with a wording of their own: a phase, a denial, an object that is a name.
WordingCase = Literal["holds", "affirmed", "denied", "named", "adds", "ends", "past", "planned", "wished"]


class Relation(Table):
    """A relation between a person and the object of a statement, such as `lives_in`."""

    kind: StatedKind = "fact"
    #: How many objects it has at a time. `one`: a new statement ends the one before; `many`: only a statement about the
    #: same object does.
    values: Literal["one", "many"] = "many"
    #: `durable`: it does not fade until something ends it. `fading`: it fades as its kind does. `expiring`: it ends at
    #: the time that it names, else fades. `dated`: it ends at the time that it names, else is durable.
    lasts: Literal["durable", "fading", "expiring", "dated"] = "fading"
    #: Meaning of its topic. `which`: tells several objects apart (the kind of phone). `thing`: the thing that it is
    #: about ("the rate for workshops"); without one, values hold side by side. `role`: held by one person at a time
    #: ("our accountant"), unless several can ("a client"). `use`: the purpose; a change ends the object that served it.
    #: `detail`: a date or figure of the object, which a later one replaces. `sort`: the sort of the object.
    topic: Literal["which", "thing", "role", "use", "detail", "sort"] = "which"
    #: `many`: several denials hold side by side even if it has one value: closed on Sundays, and on Mondays.
    denials: Literal["one", "many"] = "one"
    #: Pattern, ignoring case, of the objects of which one holds at a time; others hold side by side: a vegetarian who
    #: eats meat again is none, but still keeps kosher.
    scale: Regex | None = None
    #: Text of the memory, in the third person: "Lives in {object}". A rule's own template comes first.
    wording: Annotated[str, Field(min_length=1)]
    #: Wording of a denial: "Doesn't like {object}".
    opposite: str | None = None
    #: Wordings, by case, of a statement that no rule read. Of alternatives separated by |, the first whose slots all
    #: have values is taken. Other cases follow from `wording` and phase (language/statements/stated.py).
    says: dict[WordingCase, str] = Field(default_factory=dict)
    #: Type of entity of an object with a name: `pet`, `person`.
    entity: Annotated[str, Field(pattern=r"^[a-z]+$")] | None = None
    #: Pattern, ignoring case, that no object may match: a time zone is not a distance.
    never: Regex | None = None
    #: Whether an object that is an activity is worded as one: "draws in the evenings".
    deeds: bool = True
    #: Whether an activity after "to" can be its object: "wants to see Japan".
    infinitive: bool = False
    #: Category of the structured fact that it also becomes.
    category: FactCategory | None = None
    #: Key of that structured fact; `{object}` and `{topic}` in it become slugs.
    key: Annotated[str, Field(pattern=r"^[a-z][a-z_]*(?::?\{(?:object|topic)\})?$")] | None = None
    #: Whether a statement that is no denial has polarity 1, as likes do; else polarity 0 is the opposite of a denial.
    polar: bool = False
    #: Whether an end may name a value by one of its words ("the Altona thing"), or mean the latest ("that is off").
    refers: bool = False
    #: Whether its ends also end plans of other relations: "Zoho fell through".
    ends_planned: bool = False
    #: Relations whose values an end also ends if its object names them: "we lost Pickle" ends "has a cat Pickle".
    ends: tuple[str, ...] = ()
    #: Importance, in place of that of the kind.
    importance: Share | None = None

    def admits(self, said: str) -> bool:
        """Return whether these words may be the object of a statement (`never`)."""
        return self.never is None or re.search(self.never, said, re.IGNORECASE) is None

    def holds_beside(self, said: str, polarity: int) -> bool:
        """Return whether a value holds beside all others though the relation has one (`denials`, `scale`)."""
        is_off_scale = self.scale is not None and re.search(self.scale, said, re.IGNORECASE) is None
        return is_off_scale or (self.denials == "many" and polarity != 0)

    def is_lasting(self, phase: Phase) -> bool:
        """Return whether a statement in this phase without an end of its own lasts until something ends it."""
        return self.lasts in ("durable", "dated") and phase in ("holds", "begins", "adds")

    def is_expiring(self, phase: Phase) -> bool:
        """Return whether a statement in this phase ends at the time that it names."""
        return self.lasts in ("expiring", "dated") or phase == "planned"

    @model_validator(mode="after")
    def _coherent(self) -> Relation:
        if (self.category is None) != (self.key is None):
            raise ValueError("category and key must be set together")
        return self
