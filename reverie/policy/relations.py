"""The table of relations: what people state of themselves, how long it lasts, and how it is worded."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from reverie.model import Phase
from reverie.policy.table import Share, Table, common

FactCategory = Literal["identity", "preference", "constraint", "instruction"]
RuleKind = Literal["fact", "preference", "instruction"]
StatedKind = Literal["fact", "preference", "instruction", "episode"]
#: How a statement may be worded: in a phase, as a denial, and of an object that is a name.
WordingCase = Literal["holds", "denied", "named", "adds", "ends", "past", "planned", "wished"]


class Relation(Table):
    """What a statement says of whom it is about, such as `lives_in`."""

    kind: StatedKind = "fact"
    #: How many objects it has at a time. Of `one`, a new statement ends what held before; of `many`, only a statement
    #: about the same object does.
    values: Literal["one", "many"] = "many"
    #: `durable`: it does not fade while nothing ends it. `fading`: as its kind does. `expiring`: it ends by the time
    #: that it names, and fades otherwise. `dated`: it ends by the time that it names, and is durable otherwise.
    lasts: Literal["durable", "fading", "expiring", "dated"] = "fading"
    #: What its topic is. `which`: which of several (the phone of which kind). `thing`: of what it is told ("the rate
    #: for workshops"); without one, values stand beside each other. `role`: what one person is at a time ("our
    #: accountant"), unless several are ("a client"). `use`: what it serves; a change ends what served it. `detail`: a
    #: date or figure of the object, which a later one replaces. `sort`: of what sort the object is.
    topic: Literal["which", "thing", "role", "use", "detail", "sort"] = "which"
    #: Whether denials stand beside each other where it has one value: closed on Sundays, and on Mondays.
    denials: Literal["one", "many"] = "one"
    #: The memory in the third person: "Lives in {object}". A rule's own template comes first.
    wording: Annotated[str, Field(min_length=1)]
    #: Instead of `wording`, of what is denied: "Doesn't like {object}".
    opposite: str | None = None
    #: How a statement that no rule read is worded, instead of `wording`: alternatives between |, of which the first
    #: that has all its slots is taken. What it lacks follows from wording and phase (language/statements/stated.py).
    says: dict[WordingCase, str] = Field(default_factory=dict)
    #: Type of the entity that a named object is: `pet`, `person`.
    entity: Annotated[str, Field(pattern=r"^[a-z]+$")] | None = None
    #: What no object of it matches, whatever its case: a time zone is no distance.
    never: Annotated[str, AfterValidator(common)] | None = None
    #: Whether what somebody does is worded as such: "draws in the evenings".
    deeds: bool = True
    #: Whether a deed after "to" is its object as well: "wants to see Japan".
    infinitive: bool = False
    #: Structured fact that it also is; `{object}` and `{topic}` stand in the key as slugs.
    category: FactCategory | None = None
    key: Annotated[str, Field(pattern=r"^[a-z][a-z_]*(?::?\{(?:object|topic)\})?$")] | None = None
    #: Whether what is not denied has a polarity of 1, as likes have; else one without is the opposite of a denial.
    polar: bool = False
    #: Whether an end may name a value by a word of it ("the Altona thing"), or mean the latest ("that is off").
    refers: bool = False
    #: Whether its ends also drop what is planned in other relations: "Zoho fell through".
    ends_planned: bool = False
    #: Relations of which it ends the values that its object names: "we lost Pickle" ends that there is a cat Pickle.
    ends: tuple[str, ...] = ()
    #: Instead of the importance of the kind.
    importance: Share | None = None

    def is_lasting(self, phase: Phase) -> bool:
        """Return whether a statement in this phase that has no end of its own stays as it is while nothing ends it."""
        return self.lasts in ("durable", "dated") and phase in ("holds", "begins", "adds")

    def is_expiring(self, phase: Phase) -> bool:
        """Return whether a statement in this phase ends by the time that it names."""
        return self.lasts in ("expiring", "dated") or phase == "planned"

    @model_validator(mode="after")
    def _coherent(self) -> Relation:
        if (self.category is None) != (self.key is None):
            raise ValueError("category and key must be set together")
        return self
