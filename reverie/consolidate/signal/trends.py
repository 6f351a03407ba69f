"""Trends in a subject's numbers; pure, and the same whether they came in one by one or at once.

Numbers of one unit that share a word are a series: views of posts, views of recipe posts. After each number all series
are tested that have enough of them. Of series that are mostly the same numbers, the clearest trend is told.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter, itemgetter
from statistics import fmean, median
from uuid import UUID

import numpy as np

from reverie.consolidate.signal.rank_tests import Values, significant, trend_line, trend_p
from reverie.language.measures import topic_stem
from reverie.policy.insights import InsightsPolicy

#: Words of a topic that are told.
_TOPIC_WORDS = 3
#: Share of the numbers of a series from which a word is one of its topic; each has the word that makes the series.
_OFTEN = 0.8


@dataclass(frozen=True, kw_only=True, slots=True)
class Number:
    """A number that a message reports or an outcome has."""

    #: `turn` or `outcome`, and its id.
    source: str
    source_id: UUID
    #: Which of its source, from 0.
    place: int
    at: datetime
    #: Who reports it, if that is not the subject.
    speaker: str | None
    metric: str
    value: float
    #: The words that say of what it is.
    topics: Sequence[str]

    def __hash__(self) -> int:
        return hash(self.order)

    @property
    def order(self) -> tuple[datetime, UUID, int]:
        """Sort key."""
        return self.at, self.source_id, self.place


@dataclass(frozen=True, kw_only=True, slots=True)
class Trend:
    """A series that rises or falls, as of its latest number."""

    #: The word that names the series for good, and those that say of what it is.
    key: str
    topic: Sequence[str]
    speaker: str | None
    metric: str
    #: The ends of the line through the values.
    first: float
    last: float
    p: float
    #: The numbers over which it was tested, in order.
    numbers: Sequence[Number]

    @property
    def change(self) -> float:
        """Change from the first end of the line to the last, as a share of the larger: from -1 to 1, or beyond."""
        return (self.last - self.first) / (max(abs(self.first), abs(self.last)) or 1.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class TrendChange:
    """What is new once a number is known: a trend that began or became another, or one that is none any more."""

    trend: Trend
    #: The latest number, with which it changed.
    by: Number
    #: Whether it is none any more; the trend is then the one that was told.
    is_over: bool = False


#: Names a series: speaker, unit, word.
SeriesKey = tuple[str | None, str, str]


def trend_changes(numbers: Sequence[Number], since: datetime, policy: InsightsPolicy) -> Iterator[TrendChange]:
    """Yield what changes with each number from `since` on; `numbers` are all of a subject's, in order.

    A trend is new, or its change has moved by a step of the policy, or it is none any more: its test alone, without
    those of other series, is no longer below `trend_over`.
    """
    if not policy.trend_numbers or not numbers or numbers[-1].at < since:
        return  # without a new number nothing changes
    known, told = _AllSeries(policy), dict[SeriesKey, Trend]()
    for number in numbers:
        if not known.add(number):
            continue  # it changes no series that is long enough
        found = known.trends(told)
        if number.at >= since:
            for key, trend in found.items():
                if key not in told or _step(told[key], policy) != _step(trend, policy):
                    yield TrendChange(trend=trend, by=number)
            for key, trend in told.items():
                if key not in found and not any(_overlap(trend, other) for other in found.values()):
                    yield TrendChange(trend=trend, by=number, is_over=True)
        told = found


def _step(trend: Trend, policy: InsightsPolicy) -> int:
    """How strong a trend is, in steps of the policy, with its direction."""
    steps = 1 + int(abs(trend.change) / policy.trend_step)
    return steps if trend.change > 0 else -steps


def _overlap(one: Trend, other: Trend) -> bool:
    """Whether at least half of the numbers of the shorter series are in the other."""
    first, second = ({(each.source_id, each.place) for each in trend.numbers} for trend in (one, other))
    return 2 * len(first & second) >= min(len(first), len(second))


class _Series:
    """The numbers of one unit that share a word, in order, by day."""

    def __init__(self) -> None:
        self.numbers: list[Number] = []
        #: Tells series apart that do not have the same numbers.
        self.signature = 0
        #: Of the last `trend_days`: p-value and trend as of the last number, once asked for.
        self._p: float | None = None
        self._trend: Trend | None = None

    def add(self, number: Number) -> None:
        """Take the next number."""
        self.numbers.append(number)
        self.signature = hash((self.signature, number.order))
        self._p = self._trend = None

    def p(self, policy: InsightsPolicy) -> float | None:
        """Return the p-value of the test for a trend; None: on too few days there was a number."""
        if self._p is None:
            _, values, _ = self._days(policy)
            self._p = trend_p(values) if len(values) >= policy.trend_numbers else -1.0
        return self._p if self._p >= 0 else None

    def trend(self, key: SeriesKey, policy: InsightsPolicy) -> Trend:
        """Return the trend of a series that has a p-value."""
        if self._trend is None:
            times, values, counted = self._days(policy)
            first, last = trend_line(times, values)
            self._trend = Trend(
                key=" ".join(filter(None, key)),
                topic=_topic(counted),
                speaker=key[0],
                metric=counted[-1].metric,
                first=first,
                last=last,
                p=trend_p(values),
                numbers=counted,
            )
        return self._trend

    def _days(self, policy: InsightsPolicy) -> tuple[Values, Values, list[Number]]:
        """The days over which it is tested, the median of each day's numbers, and these numbers."""
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

    def add(self, number: Number) -> bool:
        """Take the next number; return whether it belongs to a series that is long enough."""
        unit, longest = topic_stem(number.metric), 0
        for stem in dict.fromkeys(map(topic_stem, number.topics)):
            series = self._series[number.speaker, unit, stem]
            series.add(number)
            longest = max(longest, len(series.numbers))
        return longest >= self._policy.trend_numbers

    def trends(self, told: Collection[SeriesKey]) -> dict[SeriesKey, Trend]:
        """Return the trends that are told, each by the first of the words that could name it; `told` were before."""
        numbers, tested = self._policy, list(self._tested())
        clear = significant([p for _, p in tested], numbers.trend_level)
        found = [
            (key, self._series[key].trend(key, numbers))
            for (key, p), is_clear in zip(tested, clear, strict=True)
            if is_clear or (key in told and p <= numbers.trend_over)
        ]
        kept: list[tuple[SeriesKey, Trend]] = []
        for key, trend in sorted(found, key=lambda each: (each[1].p, -len(each[1].numbers), each[1].key)):
            if abs(trend.change) < numbers.trend_change:
                continue
            place = next(
                (place for place, (at, other) in enumerate(kept) if at[:2] == key[:2] and _overlap(other, trend)), None
            )
            if place is None:
                kept.append((key, trend))
            else:
                kept[place] = (min(kept[place][0], key, key=itemgetter(2)), kept[place][1])
        return dict(kept)

    def _tested(self) -> Iterator[tuple[SeriesKey, float]]:
        """Yield the series that are long enough; words that always come together name one."""
        together: dict[tuple[str | None, str, int], list[str]] = defaultdict(list)
        for (speaker, unit, stem), series in self._series.items():
            if len(series.numbers) >= self._policy.trend_numbers:
                together[speaker, unit, series.signature].append(stem)
        for (speaker, unit, _), stems in together.items():
            key = (speaker, unit, min(stems))
            p = self._series[key].p(self._policy)
            if p is not None:
                yield key, p


def _topic(numbers: Sequence[Number]) -> list[str]:
    """The words of most numbers as they are mostly written, in the order in which they mostly stand."""
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    places: dict[str, list[int]] = defaultdict(list)
    for number in numbers:
        for place, word in enumerate(number.topics):
            forms[topic_stem(word)][word] += 1
            places[topic_stem(word)].append(place)
    often = [stem for stem in places if len(places[stem]) >= _OFTEN * len(numbers)]
    in_order = sorted(often, key=lambda stem: (fmean(places[stem]), stem))[:_TOPIC_WORDS]
    return [min(forms[stem], key=lambda word: (-forms[stem][word], word)) for stem in in_order]
