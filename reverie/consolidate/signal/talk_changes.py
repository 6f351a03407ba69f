"""Topics that a subject talks about more or less than before; pure, and the same for live and imported messages.

At the subject's first message of each week, the days before its Monday are compared: on how many of the latest days on
which the subject wrote did it talk about a topic, and on how many of the days before? Days are counted, not messages,
since the messages of a conversation are about one thing. A topic is a word in the place of a noun.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import fmean
from uuid import UUID

import numpy as np
import numpy.typing as npt

from reverie.consolidate.signal.rank_tests import significant
from reverie.consolidate.signal.share_tests import dependent_p, share_p
from reverie.language.measures import topic_stem
from reverie.language.talk_words import is_everyday
from reverie.policy.insights import InsightsPolicy

Places = npt.NDArray[np.int64]

#: The least share of its uses in which a topic must stand in the place of a noun.
_NAMED = 0.4
#: Share and number of a topic's messages from which another word is given with it, and the most words given.
_OFTEN, _OFTEN_MESSAGES, _TOPIC_WORDS = 0.6, 3, 3
#: A number above the ordinal of any date.
_DAYS = 10_000_000


@dataclass(frozen=True, slots=True)
class TalkMessage:
    """A message of the subject with its possible topics; `named`: whether each stands in the place of a noun."""

    turn_id: UUID
    at: datetime
    words: Sequence[str]
    named: Sequence[bool]


@dataclass(frozen=True, slots=True)
class Look:
    """The first message of a week, at which the days before its Monday are compared."""

    at: datetime
    #: Ordinals of days: the first of the earlier days, the first of the latest days, and the Monday.
    before: int
    recent: int
    monday: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TalkChange:
    """A topic that the subject talks about more or less than before, or no longer does."""

    look: Look
    #: The stem that names the topic permanently, and its words as shown.
    key: str
    topic: Sequence[str]
    is_more: bool
    p: float
    #: Days on which the topic came up and days on which the subject wrote, lately and before.
    recent_days: tuple[int, int]
    before_days: tuple[int, int]
    #: Recent messages about it, and all recent messages.
    recent_messages: tuple[int, int]
    #: All messages about it, lately and before.
    turn_ids: Sequence[UUID]
    #: Whether the change is over; then the other fields are those of the change reported before.
    is_over: bool = False


def looks_at(times: Sequence[datetime], policy: InsightsPolicy) -> list[Look]:
    """Return the messages at which days are compared; `times` are those of all messages of the subject, in order."""
    found: list[Look] = []
    if not policy.topic_days or not times:
        return found
    window, before = timedelta(days=policy.topic_window), timedelta(days=policy.topic_before)
    begin = times[0].toordinal()
    for at in times:
        monday = at.toordinal() - at.weekday()
        if found and found[-1].monday >= monday:
            continue
        recent = monday - window.days
        # the days before must be known for at least as long as the latest ones
        if begin <= recent - window.days:
            found.append(Look(at=at, before=recent - before.days, recent=recent, monday=monday))
    return found


def talk_changes(
    messages: Sequence[TalkMessage], times: Sequence[datetime], since: datetime, policy: InsightsPolicy
) -> Iterator[TalkChange]:
    """Yield the changes at each look from `since` on.

    `messages` are those of the subject with possible topics, `times` those of all its messages, both in order.
    """
    looks = looks_at(times, policy)
    if not looks or looks[-1].at < since:
        return
    topics, told = _Topics(messages, times, policy), dict[str, TalkChange]()
    for look in looks:
        found = topics.found(look, told)
        if look.at >= since:
            for key, change in found.items():
                if key not in told or told[key].is_more != change.is_more:
                    yield change
            for key, change in told.items():
                if key not in found:
                    yield _over(change, look)
        told = {key: told[key] if _same(told.get(key), change) else change for key, change in found.items()}


def _same(told: TalkChange | None, change: TalkChange) -> bool:
    return told is not None and told.is_more == change.is_more


def _over(told: TalkChange, look: Look) -> TalkChange:
    return TalkChange(
        look=look, key=told.key, topic=told.topic, is_more=told.is_more, p=told.p, recent_days=told.recent_days,
        before_days=told.before_days, recent_messages=told.recent_messages, turn_ids=told.turn_ids, is_over=True,
    )  # fmt: skip


class _Topics:
    """All topics of a subject that came up on enough days to be tested."""

    def __init__(self, messages: Sequence[TalkMessage], times: Sequence[datetime], policy: InsightsPolicy) -> None:
        self._policy = policy
        self._messages = messages
        self._days = np.array([message.at.toordinal() for message in messages], np.int64)
        every = np.array([at.toordinal() for at in times], np.int64)
        self._written, self._active = every, np.unique(every)
        self._stems, self._of = _messages_of(messages, self._days, policy.topic_days)
        #: Uses of each topic, its distinct days, and whether uses are in the place of a noun; keyed by topic and day.
        uses = [place * _DAYS + self._days[of] for place, (of, _) in enumerate(self._of)]
        self._uses = np.concatenate(uses) if uses else np.empty(0, np.int64)
        self._on = np.unique(self._uses)
        named = [each for _, each in self._of]
        self._named = np.concatenate([[0], np.cumsum(np.concatenate(named))]) if named else np.zeros(1, np.int64)

    def found(self, look: Look, told: Mapping[str, TalkChange]) -> dict[str, TalkChange]:
        """Return the topics with a change at a look; `told` has those with a change at the look before."""
        policy, first = self._policy, np.searchsorted(self._active, (look.before, look.recent, look.monday))
        of_before, of_recent = int(first[1] - first[0]), int(first[2] - first[1])
        if not of_before or not of_recent or not self._stems:
            return {}
        before, recent = (
            self._counts(self._on, look.before, look.recent),
            self._counts(self._on, look.recent, look.monday),
        )
        places = np.nonzero((before + recent >= policy.topic_days) & self._are_named(look))[0]
        p, least = share_p(recent[places], of_recent, before[places], of_before)
        places, p = places[least <= policy.topic_level], p[least <= policy.topic_level]
        for at in np.nonzero(p <= max(policy.topic_level, policy.topic_over))[0].tolist():
            p[at] = dependent_p(float(p[at]), self._has(int(places[at]), look), of_before)
        clear = significant(p.tolist(), policy.topic_level)
        kept: dict[str, TalkChange] = {}
        order = sorted(
            range(len(p)), key=lambda at: (self._stems[places[at]] not in told, p[at], self._stems[places[at]])
        )
        for at in order:
            place = int(places[at])
            counts = (int(recent[place]), of_recent), (int(before[place]), of_before)
            stem = self._stems[place]
            is_more, is_enough = self._change(*counts, is_everyday(stem))
            was = told.get(stem)
            stays = was is not None and was.is_more == is_more and p[at] <= policy.topic_over
            if not stays and not (clear[at] and is_enough):
                continue
            change = self._told(place, look, is_more, float(p[at]), counts)
            ids = set(change.turn_ids)
            if not any(
                2 * len(ids & set(each.turn_ids)) >= min(len(ids), len(each.turn_ids)) for each in kept.values()
            ):
                kept[change.key] = change
        return kept

    def _counts(self, keys: Places, begin: int, end: int) -> Places:
        topics = np.arange(len(self._stems), dtype=np.int64) * _DAYS
        return np.searchsorted(keys, topics + end) - np.searchsorted(keys, topics + begin)

    def _are_named(self, look: Look) -> npt.NDArray[np.bool_]:
        topics = np.arange(len(self._stems), dtype=np.int64) * _DAYS
        first, last = (
            np.searchsorted(self._uses, topics + look.before),
            np.searchsorted(self._uses, topics + look.monday),
        )
        return np.asarray(self._named[last] - self._named[first] >= _NAMED * (last - first))

    def _has(self, place: int, look: Look) -> npt.NDArray[np.bool_]:
        """Return for each day on which the subject wrote whether it has the topic."""
        days = self._active[slice(*np.searchsorted(self._active, (look.before, look.monday)))]
        return np.isin(days, self._days[self._of[place][0]])

    def _change(self, recent: tuple[int, int], before: tuple[int, int], is_common: bool) -> tuple[bool, bool]:
        """Return whether a topic came up more often than before, and whether the change is large enough to report."""
        now, then = recent[0] * before[1], before[0] * recent[1]
        is_more, least = now > then, self._policy.topic_everyday_days if is_common else self._policy.topic_days
        if is_more:
            return True, recent[0] >= least and now >= self._policy.topic_change * then
        return False, before[0] >= least and then >= self._policy.topic_change * now

    def _told(
        self, place: int, look: Look, is_more: bool, p: float, counts: tuple[tuple[int, int], tuple[int, int]]
    ) -> TalkChange:
        of, _ = self._of[place]
        begin, recent, end = np.searchsorted(self._days[of], (look.before, look.recent, look.monday))
        about = [self._messages[at] for at in of[begin:end]]
        written = np.searchsorted(self._written, (look.recent, look.monday))
        return TalkChange(
            look=look, key=self._stems[place], topic=_topic(about, self._stems[place]), is_more=is_more, p=p,
            recent_days=counts[0], before_days=counts[1], turn_ids=[each.turn_id for each in about],
            recent_messages=(int(end - recent), int(written[1] - written[0])),
        )  # fmt: skip


def _messages_of(
    messages: Sequence[TalkMessage], days: Places, least: int
) -> tuple[list[str], list[tuple[Places, Places]]]:
    """Return the stems of topics on at least `least` days, and for each the places of its messages, and which named it.

    Words that always come together are one topic.
    """
    uses: dict[str, dict[int, bool]] = defaultdict(dict)
    for place, message in enumerate(messages):
        for word, named in zip(message.words, message.named, strict=True):
            uses[topic_stem(word.lower())][place] = named
    kept: dict[bytes, tuple[str, tuple[Places, Places]]] = {}
    for stem in sorted(uses):
        if len(uses[stem]) < least:
            continue
        places = np.fromiter(uses[stem], np.int64)
        if len(np.unique(days[places])) >= least:
            kept.setdefault(places.tobytes(), (stem, (places, np.fromiter(uses[stem].values(), np.int64))))
    return [stem for stem, _ in kept.values()], [each for _, each in kept.values()]


def _topic(about: Sequence[TalkMessage], stem: str) -> list[str]:
    """Return a topic's word and those that mostly come with it, in their usual spelling and order."""
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    places: dict[str, list[int]] = defaultdict(list)
    for message in about:
        for place, (word, named) in enumerate(zip(message.words, message.named, strict=True)):
            each = topic_stem(word.lower())
            if named or each == stem:
                forms[each][word] += 1
                places[each].append(place)
    often = [each for each in places if each == stem or len(places[each]) >= max(_OFTEN * len(about), _OFTEN_MESSAGES)]
    often.sort(key=lambda each: (each != stem, -len(places[each]), each))
    in_order = sorted(often[:_TOPIC_WORDS], key=lambda each: (fmean(places[each]), each))
    return [min(forms[each], key=lambda word: (-forms[each][word], word)) for each in in_order]
