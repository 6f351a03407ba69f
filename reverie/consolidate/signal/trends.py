"""Trends in a subject's numbers; pure, and the same whether the numbers came in one by one or at once.

Numbers of one unit that share a word are a series: views of posts, views of recipe posts. After each number, all series
with enough numbers are tested. Of series that have mostly the same numbers, only the clearest trend is reported; it
keeps its name until its own end, even if another becomes clearer meanwhile.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from operator import attrgetter, itemgetter
from statistics import fmean, median
from uuid import UUID

import numpy as np

from reverie.consolidate.signal.rank_tests import Values, significant, trend_line, trend_p
from reverie.language.measures import topic_stem
from reverie.policy.insights import InsightsPolicy

#: Words of a topic that are given, at most.
_TOPIC_WORDS = 3
#: Share of a series' numbers that must have a word for it to be in the topic; all have the word of the series.
_OFTEN = 0.8


@dataclass(frozen=True, kw_only=True, slots=True)
class Number:
    """A number that a message reports or an outcome has."""

    #: `turn` or `outcome`, and its id.
    source: str
    source_id: UUID
    #: Its index in the source, from 0.
    place: int
    at: datetime
    #: The speaker who reports it; None: the subject.
    speaker: str | None
    metric: str
    value: float
    #: The words that say what the number is of.
    topics: Sequence[str]

    def __hash__(self) -> int:
        return hash(self.order)

    @property
    def order(self) -> tuple[datetime, UUID, int]:
        """The sort key."""
        return self.at, self.source_id, self.place


@dataclass(frozen=True, kw_only=True, slots=True)
class Trend:
    """A series that rises or falls, as of its latest number."""

    #: The word that names the series permanently, and those that say what it is of.
    key: str
    topic: Sequence[str]
    speaker: str | None
    metric: str
    #: The first and last value of the line through the values, within the least and greatest of these.
    first: float
    last: float
    p: float
    #: The numbers that were tested, in order.
    numbers: Sequence[Number]

    @property
    def change(self) -> float:
        """The change from first to last value of the line, as a share of the larger: from -1 to 1, or beyond."""
        return (self.last - self.first) / self.size

    @property
    def size(self) -> float:
        """The larger of first and last value, without sign; 1 if both are 0."""
        return max(abs(self.first), abs(self.last)) or 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class TrendChange:
    """A change that a number brings: a trend that began, a trend that changed, or one that is over."""

    trend: Trend
    #: The number that brought the change.
    by: Number
    #: Whether the trend is over; then it is the one reported before.
    is_over: bool = False


#: The key of a series: speaker, unit, word.
SeriesKey = tuple[str | None, str, str]


def trend_changes(numbers: Sequence[Number], since: datetime, policy: InsightsPolicy) -> Iterator[TrendChange]:
    """Yield the changes with each number from `since` on; `numbers` are all numbers of a subject, in order.

    A trend is new, or has moved by a step of the policy since it was last reported, or it is over: its own test,
    without those of other series, is no longer below `trend_over`.
    """
    if not policy.trend_numbers or not numbers or numbers[-1].at < since:
        return  # without a new number nothing changes
    known, told = _AllSeries(policy), dict[SeriesKey, Trend]()
    for number in numbers:
        if not known.add(number):
            continue  # no series that is long enough changed
        found = known.trends()
        changed = [key for key, trend in found.items() if key not in told or _has_moved(told[key], trend, policy)]
        over = [key for key in told if key not in found]
        if number.at >= since:
            yield from (TrendChange(trend=found[key], by=number) for key in changed)
            yield from (TrendChange(trend=told[key], by=number, is_over=True) for key in over)
        told |= {key: found[key] for key in changed}
        for key in over:
            del told[key]


def _has_moved(told: Trend, trend: Trend, policy: InsightsPolicy) -> bool:
    """Return whether the strength of a trend is another, or an end of it moved by a step.

    The strength alone is not enough: it is a share of the larger end, which stays near 1 while a series grows on.
    """
    moved = max(abs(trend.first - told.first), abs(trend.last - told.last))
    return _step(trend, policy) != _step(told, policy) or moved >= policy.trend_step * told.size


def _step(trend: Trend, policy: InsightsPolicy) -> int:
    """Return the strength of a trend in steps of the policy, with its direction as sign."""
    steps = 1 + int(abs(trend.change) / policy.trend_step)
    return steps if trend.change > 0 else -steps


def _overlap(one: Trend, other: Trend) -> bool:
    """Return whether at least half of the numbers of the shorter series are in the other."""
    first, second = ({(each.source_id, each.place) for each in trend.numbers} for trend in (one, other))
    return 2 * len(first & second) >= min(len(first), len(second))


class _Series:
    """The numbers of one unit that share a word, in order, by day."""

    def __init__(self) -> None:
        self.numbers: list[Number] = []
        #: A hash of the numbers: series with the same numbers have the same.
        self.signature = 0
        #: p-value and trend over the latest `trend_days`, once computed.
        self._p: float | None = None
        self._trend: Trend | None = None

    def add(self, number: Number) -> None:
        """Add the next number."""
        self.numbers.append(number)
        self.signature = hash((self.signature, number.order))
        self._p = self._trend = None

    def p(self, policy: InsightsPolicy) -> float | None:
        """Return the p-value of the test for a trend; None: too few days have a number."""
        if self._p is None:
            _, values, _ = self._days(policy)
            self._p = trend_p(values) if len(values) >= policy.trend_numbers else -1.0
        return self._p if self._p >= 0 else None

    def trend(self, name: SeriesKey, policy: InsightsPolicy) -> Trend:
        """Return the trend of a series that has a p-value, under a name."""
        if self._trend is None:
            times, values, counted = self._days(policy)
            # the line of a curve begins or ends where no number was
            first, last = np.clip(trend_line(times, values), values.min(), values.max()).tolist()
            self._trend = Trend(
                key="",
                topic=_topic(counted),
                speaker=counted[-1].speaker,
                metric=counted[-1].metric,
                first=first,
                last=last,
                p=trend_p(values),
                numbers=counted,
            )
        return replace(self._trend, key=" ".join(filter(None, name)))

    def _days(self, policy: InsightsPolicy) -> tuple[Values, Values, list[Number]]:
        """Return the days to test, the median of each day's numbers, and these numbers."""
        begin = self.numbers[-1].at - timedelta(days=policy.trend_days)
        counted = self.numbers[bisect_left(self.numbers, begin, key=attrgetter("at")) :]
        days: dict[int, list[float]] = defaultdict(list)
        for each in counted:
            days[each.at.toordinal()].append(each.value)
        values = [median(of_day) if len(of_day) > 1 else of_day[0] for of_day in days.values()]
        return np.array(list(days), np.float64), np.array(values, np.float64), counted


class _AllSeries:
    """All series of a subject up to a number."""

    def __init__(self, policy: InsightsPolicy) -> None:
        self._policy = policy
        self._series: dict[SeriesKey, _Series] = defaultdict(_Series)
        #: The name of each reported trend, by the keys of its series.
        self._names: dict[SeriesKey, SeriesKey] = {}

    def add(self, number: Number) -> bool:
        """Add the next number; return whether it belongs to a series that is long enough."""
        unit, longest = topic_stem(number.metric), 0
        for stem in dict.fromkeys(map(topic_stem, number.topics)):
            series = self._series[number.speaker, unit, stem]
            series.add(number)
            longest = max(longest, len(series.numbers))
        return longest >= self._policy.trend_numbers

    def trends(self) -> dict[SeriesKey, Trend]:
        """Return the trends to report by name, which stays the same as long as the series has a trend."""
        numbers, tested = self._policy, list(self._tested())
        clear = significant([p for _, p in tested], numbers.trend_level)
        found: list[tuple[bool, SeriesKey, Trend, list[SeriesKey]]] = []
        for (keys, p), is_clear in zip(tested, clear, strict=True):
            name = next((self._names[key] for key in keys if key in self._names), None)
            if is_clear or (name is not None and p <= numbers.trend_over):
                trend = self._series[keys[0]].trend(name or keys[0], numbers)
                if abs(trend.change) >= numbers.trend_change:
                    found.append((name is None, name or keys[0], trend, keys))
        found.sort(key=lambda each: (each[0], each[2].p, -len(each[2].numbers), each[2].key, each[3][0][2]))
        kept: dict[SeriesKey, Trend] = {}
        told = set(self._names.values())
        self._names = {}
        for is_new, name, trend, keys in found:
            rivals = (other for at, other in kept.items() if at[:2] == name[:2])
            # words that were one series may now be two; the clearer keeps the name, and the other waits for its end
            if name in kept or (is_new and (name in told or any(_overlap(other, trend) for other in rivals))):
                continue
            kept[name] = trend
            self._names |= dict.fromkeys(keys, name)
        return kept

    def _tested(self) -> Iterator[tuple[list[SeriesKey], float]]:
        """Yield the keys and p-value of the series that are long enough; words that always come together are one."""
        together: dict[tuple[str | None, str, int], list[SeriesKey]] = defaultdict(list)
        for key, series in self._series.items():
            if len(series.numbers) >= self._policy.trend_numbers:
                together[key[0], key[1], series.signature].append(key)
        for keys in together.values():
            keys.sort(key=itemgetter(2))
            p = self._series[keys[0]].p(self._policy)
            if p is not None:
                yield keys, p


def _topic(numbers: Sequence[Number]) -> list[str]:
    """Return the words that most of the numbers have, in their usual spelling and order."""
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    places: dict[str, list[int]] = defaultdict(list)
    for number in numbers:
        for place, word in enumerate(number.topics):
            forms[topic_stem(word)][word] += 1
            places[topic_stem(word)].append(place)
    often = [stem for stem in places if len(places[stem]) >= _OFTEN * len(numbers)]
    in_order = sorted(often, key=lambda stem: (fmean(places[stem]), stem))[:_TOPIC_WORDS]
    return [min(forms[stem], key=lambda word: (-forms[stem][word], word)) for stem in in_order]
