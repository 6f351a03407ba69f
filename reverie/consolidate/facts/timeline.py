"""The statements of one place, which can end one another, processed in event order; pure.

See docs/currency.md for the rules in words.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from datetime import timedelta
from uuid import UUID

from reverie.consolidate.facts.references import referred
from reverie.consolidate.facts.statements import StatedValue, Stint
from reverie.language.objects import (
    is_of_another_sort,
    names_nothing,
    narrower,
    place_of_work,
    read_object,
    recounted,
    same,
)
from reverie.language.topics import topic_words

#: Conflicts that are resolved when one of the two values is repeated.
_RESOLVED_BY_REPEATING = frozenset(("same_session", "same_time"))

#: The reason why a value stands beside a lasting one: it soon ends by itself.
_PASSING = "passing"
#: Relations in which any end ends the value, whatever it names: "I no longer smoke for three weeks". In the second
#: group, only an end that names nobody.
_ALWAYS_MEANT, _MEANT_UNNAMED = frozenset(("smokes", "drinks_alcohol")), frozenset(("partner",))


class Timeline:
    """The values of one relation of one person, and what became of each."""

    def __init__(self, apart: Collection[frozenset[UUID]], together: timedelta) -> None:
        self._apart = apart
        self._together = together
        #: All values that ever held, in the order in which they began.
        self.stints: list[Stint] = []
        #: Statements that are not values, such as ends, each with the statement that made it untrue.
        self.others: list[tuple[StatedValue, StatedValue | None]] = []
        #: Values in force beside each other or beside a statement that may end them, with the reason.
        self.undecided: dict[tuple[Stint, Stint | StatedValue], str] = {}
        #: Pairs of values that were said to hold at once.
        self._beside: set[frozenset[Stint]] = set()
        #: Values in force: all, and by their object.
        self._in_force: dict[Stint, None] = {}
        self._about: dict[Hashable, list[Stint]] = {}
        #: Ends that are true, by their object and those of the values that they ended: index in `others`, statement.
        self._ends: dict[Hashable, list[tuple[int, StatedValue]]] = {}
        #: Plans in force, by index in `others`.
        self._plans: dict[int, StatedValue] = {}

    def take(self, value: StatedValue) -> None:
        """Process the next statement in event order."""
        if value.phase == "ends":
            self._end(value)
        elif value.phase == "past":
            self._look_back(value)
        elif value.phase == "planned":
            if value.needs_topic:  # the rent will be 320; it will be 340
                self._come_true(value, lambda plan: not _same(plan, value))
            self._plans[len(self.others)] = value
            self.others.append((value, None))
        else:
            self._come_true(value, lambda plan: _same(plan, value))
            self._state(value)

    def _come_true(self, value: StatedValue, is_meant: Callable[[StatedValue], bool]) -> None:
        """End the plans that a value puts out of date: they came true, or the plan changed."""
        for place, plan in list(self._plans.items()):
            is_apart = frozenset((plan.bearer_id, value.bearer_id)) in self._apart
            if is_meant(plan) and not is_apart and plan.turn_id != value.turn_id:
                self.others[place] = (self._plans.pop(place), value)

    def _begin(self, stint: Stint) -> None:
        self.stints.append(stint)
        self._in_force[stint] = None
        self._about.setdefault(stint.opened.about, []).append(stint)

    def _finish(self, stint: Stint, by: StatedValue) -> None:
        stint.ended_by = by
        self._in_force.pop(stint, None)
        self._about[stint.opened.about].remove(stint)

    def _alike(self, value: StatedValue) -> list[Stint]:
        """Return the values in force about the same object."""
        return [stint for stint in self._about.get(value.about, ()) if _touches(stint.opened, value)]

    def _changed(self, value: StatedValue) -> list[Stint]:
        """Return the values in force that a change ends although it is about another object.

        They are about something narrower ("can't stand coffee any more"), or served the same topic ("edits in").
        """
        if value.phase != "begins":
            return []
        return [
            each
            for each in self._in_force
            if (_opposed(each.opened, value) and _narrower(each.opened, value)) or _serves_the_same(each.opened, value)
        ]

    # ------------------------------------------------------------------------------------------------ what holds
    def _state(self, value: StatedValue) -> None:
        rivals = (
            list(self._in_force)
            if value.is_single
            else list(dict.fromkeys([*self._alike(value), *self._changed(value)]))
        )
        known = next((stint for stint in rivals if _repeats(value, stint.opened)), None)
        surest = max((stint.opened.sure for stint in rivals if not stint.is_weak), default=0.0)
        if known and not (known.is_weak and value.sure >= surest):
            self._repeat(known, value, rivals)
            return
        wider = next((stint for stint in rivals if not stint.is_weak and _narrower(stint.opened, value)), None)
        if wider and value.phase != "begins" and not known:
            wider.stated.append(value)
            return
        opened = Stint(value, [value], is_weak=value.sure < surest)
        if known:
            known.continued = opened
            self._finish(known, value)
            rivals.remove(known)
        self._untrue(value)
        if opened.is_weak:
            self.undecided |= {(stint, opened): "less_sure" for stint in rivals if not stint.is_weak}
        else:
            several = any(pair <= set(rivals) for pair in self._beside)
            for stint in rivals:
                self._meet(stint, opened, several=several)
        self._begin(opened)

    def _repeat(self, known: Stint, value: StatedValue, rivals: list[Stint]) -> None:
        """Process a value that is already in force: it may be more certain now, and resolve a conflict."""
        self._untrue(value)
        if value.sure > known.opened.sure:
            opened = Stint(value, [value], is_weak=known.is_weak)
            known.continued = opened
            self._succeed(known, opened)
            known = opened
        else:
            known.stated.append(value)
        for stint in rivals:
            reason = self.undecided.get((stint, known)) or self.undecided.get((known, stint))
            if (
                reason in _RESOLVED_BY_REPEATING
                and value.phase != "adds"
                and not value.is_said_with(stint.stated[-1], self._together)
                and value.valid_from > stint.stated[-1].valid_from
            ):
                self._close(stint, value)

    def _succeed(self, known: Stint, opened: Stint) -> None:
        """Replace a stint by another one of the same value, also in its pairs with others."""
        self._finish(known, opened.opened)
        self.undecided = {
            tuple(opened if each is known else each for each in pair): reason  # type: ignore[misc]
            for pair, reason in self.undecided.items()
        }
        self._beside = {frozenset(opened if each is known else each for each in pair) for pair in self._beside}
        self._begin(opened)

    def _meet(self, stint: Stint, opened: Stint, *, several: bool) -> None:
        """Let a new value replace one in force, or stand beside it."""
        value = opened.opened
        reason = self._why_beside(stint, value, several=several)
        if reason is None:
            self._close(stint, value)
        elif reason == _PASSING:
            return
        elif reason == "":
            self._beside.add(frozenset((stint, opened)))
        else:
            self.undecided[stint, opened] = reason
            if reason == "alternating":
                self._beside.add(frozenset((stint, opened)))

    def _why_beside(self, stint: Stint, value: StatedValue, *, several: bool) -> str | None:
        """Return why a value stands beside the one in force (empty: both hold); None: it replaces that one."""
        before = stint.stated[-1]
        if self._kept_apart(stint, value):
            return ""
        if value.is_passing and not before.is_passing:
            return _PASSING
        if value.is_keyed or _opposed(before, value) or _narrower(value, before):
            return None
        if value.phase == "adds":
            return ""
        is_of_one_message = value.turn_id is not None and value.turn_id == before.turn_id
        if not value.is_single:  # recounted: two dogs, three dogs
            return "" if is_of_one_message else None
        if value.phase == "begins":  # "I work at Zoho now. I'm on the mail team": both began
            return "" if is_of_one_message and before.phase == "begins" else None
        if is_of_one_message:
            return ""
        if value.is_said_with(before, self._together):
            return "same_session"
        if value.valid_from == before.valid_from:
            return "same_time"
        if self._alternates(stint, value):
            return "alternating"
        return "several" if several else None

    def _alternates(self, stint: Stint, value: StatedValue) -> bool:
        """Return whether both were repeated, each after the other, without a word of change: A, B, A, B."""

        def returned(object_of: StatedValue) -> bool:
            return any(
                not earlier.is_open
                and earlier.continued is None
                and earlier.opened.phase == "holds"
                and earlier.ended_by is not None
                and earlier.ended_by.phase == "holds"
                and _same(earlier.opened, object_of)
                for earlier in self.stints
            )

        return stint.opened.phase == "holds" and returned(stint.opened) and returned(value)

    # ------------------------------------------------------------------------------------------------- what ends
    def _end(self, value: StatedValue) -> None:
        if value.ends_memory is not None:
            self._end_memory(value)
            return
        if value.drops_plan:
            self._drop_plan(value)
            return
        ended = self._meant(value)
        closed: list[Stint] = []
        if not ended and value.ends_words is None:
            self._drop_plan(value)
        if len(ended) == 1 or value.ends_words is not None:
            for stint in ended:
                if stint.opened.sure > value.sure:
                    self.undecided[stint, value] = "less_sure"
                else:
                    self._close(stint, value)
                    closed.append(stint)
        else:
            self.undecided |= {(stint, value): "ambiguous_end" for stint in ended}
        if value.ends_words is None:
            for each in (value, *(stint.opened for stint in closed)):
                self._ends.setdefault(each.about, []).append((len(self.others), each))
        self.others.append((value, None))

    def _end_memory(self, value: StatedValue) -> None:
        """End what one memory states: its value in force, its plan, or its own end."""
        said = [stint for stint in self.stints if any(value.ends_memory == each.bearer_id for each in stint.stated)]
        for stint in dict.fromkeys(stint.latest() for stint in said):
            if stint.is_open:
                self._end_said(stint, value)
        for place, (other, by) in enumerate(self.others):
            is_meant = by is None and other.ends_words is None and value.ends_memory == other.bearer_id
            if is_meant and frozenset((other.bearer_id, value.bearer_id)) not in self._apart:
                self.others[place] = (other, value)
                self._plans.pop(place, None)

    def _end_said(self, stint: Stint, value: StatedValue) -> None:
        """End the statements of a value from before a message; those of the message itself still hold.

        "Back in Berlin" takes the place of "I live in Berlin", and so does a new price that was taken for the old one.
        """
        again = [each for each in stint.stated if each.turn_id == value.turn_id]
        if any(each.bearer_id == value.ends_memory for each in again):
            return
        if not again:
            self._close(stint, value)
        elif stint.opened in again:
            for earlier in self.stints:
                if earlier.continued is stint:
                    earlier.continued = None
        elif not self._kept_apart(stint, value):
            opened = Stint(again[0], again, is_weak=stint.is_weak)
            stint.stated = [each for each in stint.stated if each not in again]
            self._succeed(stint, opened)

    def _drop_plan(self, value: StatedValue) -> None:
        """Process the end of a plan: "I won't run the marathon after all"."""
        plans = {
            place: plan
            for place, plan in self._plans.items()
            if frozenset((plan.bearer_id, value.bearer_id)) not in self._apart
        }
        meant = [
            place
            for place, plan in plans.items()
            if _same(plan, value) or _narrower(plan, value) or _narrower(value, plan)
        ]
        if not meant and value.refers:
            meant = referred(value, list(plans), plans.__getitem__)
        if len(meant) == 1:
            self.others[meant[0]] = (self._plans.pop(meant[0]), value)

    def _meant(self, value: StatedValue) -> list[Stint]:
        """Return the values that an end may mean: the same, else those that it describes, else the only one."""
        in_force = [stint for stint in self._in_force if not self._kept_apart(stint, value)]
        if value.ends_words is not None:
            words = value.ends_words
            return [
                stint
                for stint in in_force
                if stint.opened.turn_id != value.turn_id or value.turn_id is None
                if _has_words(stint.opened, words, value)
            ]
        near = in_force if value.is_single else [stint for stint in self._alike(value) if stint in in_force]
        if exact := [stint for stint in near if any(_same(each, value) for each in stint.stated)]:
            return exact
        if alike := [stint for stint in in_force if _narrower(stint.opened, value) or _narrower(value, stint.opened)]:
            return alike
        if value.refers and (meant := referred(value, in_force, lambda stint: stint.stated[-1])):
            return meant
        if value.relation in _ALWAYS_MEANT:
            return in_force
        if value.relation in _MEANT_UNNAMED and not read_object(value.object).is_proper:
            return in_force
        if not names_nothing(value.object):
            return []
        if value.is_single:
            return in_force
        if not read_object(value.object).words:
            return []
        return [stint for stint in in_force if not is_of_another_sort(stint.opened.object, value.object)]

    def _look_back(self, value: StatedValue) -> None:
        """Process a statement about the past: it ends the same value if that is still in force."""
        for stint in self._alike(value):
            is_earlier = stint.stated[-1].turn_id != value.turn_id
            if _same(stint.opened, value) and is_earlier and stint.opened.sure <= value.sure:
                self._close(stint, value)
        self.others.append((value, None))

    def _untrue(self, value: StatedValue) -> None:
        """Mark the ends of a value as no longer true, since the value holds again."""
        for place, ended in self._ends.get(value.about, ()):
            end, by = self.others[place]
            is_apart = frozenset((end.bearer_id, value.bearer_id)) in self._apart
            is_later = end.turn_id != value.turn_id or value.turn_id is None
            if by is None and _same(ended, value) and is_later and not is_apart:
                self.others[place] = (end, value)

    # -------------------------------------------------------------------------------------------------- in common
    def _close(self, stint: Stint, by: StatedValue) -> None:
        if not self._kept_apart(stint, by):
            self._finish(stint, by)

    def _kept_apart(self, stint: Stint, value: StatedValue) -> bool:
        if not self._apart:
            return False
        theirs = {id_ for each in stint.stated for id_ in (each.memory_id, each.bearer_id)}
        return any(frozenset((id_, own)) in self._apart for id_ in theirs for own in (value.memory_id, value.bearer_id))


def _has_words(value: StatedValue, words: frozenset[str], end: StatedValue) -> bool:
    """Return whether a value matches the words of an end, in the way that the end requires."""
    if end.ends_elsewhere:
        place = value.object if value.relation == "works_at" else place_of_work(value.object)
        return bool(place) and words.isdisjoint(read_object(place).words)
    own = frozenset(read_object(value.object).words)
    if end.ends_named:
        return bool(words and own) and (words <= own or own <= words)
    return not words or not words.isdisjoint(own)


def _same(one: StatedValue, other: StatedValue) -> bool:
    if one.is_keyed or other.is_keyed:
        return one.object.casefold() == other.object.casefold()
    return same(one.object, other.object)


def _repeats(one: StatedValue, other: StatedValue) -> bool:
    return _same(one, other) and not _opposed(one, other) and not _is_moved(one, other)


def _is_moved(one: StatedValue, other: StatedValue) -> bool:
    """Return whether both give different details of one object: the wedding in June, the wedding in September."""
    return one.is_detailed and bool(one.topic and other.topic) and not same(one.topic, other.topic)


def _serves_the_same(one: StatedValue, other: StatedValue) -> bool:
    """Return whether both serve one topic: edits in, runs the shop on."""
    words = topic_words(other.topic) if other.is_use else frozenset()
    return bool(words) and words == topic_words(one.topic)


def _narrower(one: StatedValue, other: StatedValue) -> bool:
    return not one.is_keyed and narrower(one.object, other.object)


def _opposed(one: StatedValue, other: StatedValue) -> bool:
    if one.is_polar:
        return one.polarity * other.polarity < 0
    return (one.polarity < 0) != (other.polarity < 0)


def _touches(one: StatedValue, other: StatedValue) -> bool:
    """Return whether two values of a relation with many values are about the same object."""
    return _same(one, other) or (recounted(one.object, other.object) and not _opposed(one, other))
