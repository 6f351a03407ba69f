"""Comparisons and ranges of the numbers of a theme: the better choice and its margin, or the range. Pure.

Numbers come from outcomes of tool calls, grouped by an argument of the call ("category": recipe or news); from texts
that are the same except for the number and one word ("Suggested recipe post → 340 views"); or from reports in people's
own words, grouped by the words that say what the number measures.
Source: docs/design-sources.md, Brain 4.4.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean, median
from typing import Any, Literal

from reverie.language.cues.quantities import quantities, written_number
from reverie.language.measures import ReportedNumber, measures, topic_stem
from reverie.language.pack import first_rewritten, language_table

#: Measurements that each side of a comparison needs.
_EACH_SIDE = 2
#: Share of reports from which a word is the topic of them all.
_SHARED = 0.8
#: Least number of measurements for which a range is stated.
_FOR_RANGE = 3
#: Longer argument values are texts, not choices.
_CHOICE_CHARACTERS = 40

#: Family of numbers that are reported in people's own words.
_REPORTED = "reported"
#: Ends of statements, which some of like texts lack.
_ENDS = ".!… "
_TOKEN = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?|[^\W\d_]+(?:['’-][^\W\d_]+)*|[^\w\s]|_")
_WORD = re.compile(r"[^\W\d_]{2,}")
_NAME_PARTS = re.compile(r"[\s_-]+|(?<=[a-z])(?=[A-Z])")
_PLURALS = language_table("quantify").pairs("plurals", re.DOTALL)
_ADJECTIVE = re.compile(r"[^\W\d_][\w'’-]*(?: [\w'’-]+)?")


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """A property that varies between comparable episodes."""

    #: Argument name, `weekday`, or the place of the word in the text.
    key: str
    value: str
    #: Plural name, in a sentence, of the episodes with this value: "recipe posts".
    group: str
    #: Whether it is computed rather than stated; then it is compared only if it separates the numbers clearly.
    derived: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """A number of an episode, with the choices made there."""

    #: A tool, or a text without its number and one word; only measurements of one family and metric are compared.
    family: str
    metric: str
    value: float
    choices: tuple[Choice, ...] = ()
    #: Stems of the topic words that the reports of its metric share; empty for other numbers.
    topics: frozenset[str] = frozenset()
    #: Whether the outcome was good; None: unknown.
    positive: bool | None = None


#: Smaller values count as zero: a ratio to them is meaningless, and they cannot be written out.
_NOTHING = 1e-9


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """Two choices whose numbers differ by the policy's ratio or more."""

    metric: str
    key: str
    high: str
    low: str
    #: The smaller of the ratios of means and of medians, so that an outlier alone makes no difference.
    ratio: float
    #: The values that the ratio compares.
    measure: Literal["average", "median"]
    high_value: float
    low_value: float
    number: int
    #: Whether every number of `high` is above every number of `low`.
    consistent: bool
    #: Whether more of the metric is better, as far as the outcomes show.
    better: bool

    def claim(self) -> str:
        """Return the result in words: "Recipe posts consistently outperform news posts by 2.8x in views"."""
        high, metric = self.high[:1].upper() + self.high[1:], self.metric.replace("_", " ")
        times = _times(float(written_number(self.high_value)) / float(written_number(self.low_value)))
        always = " consistently" if self.consistent else ""
        if self.better:
            return f"{high}{always} outperform {self.low} by {times} in {metric}"
        return f"{high}{always} bring {times} the {metric} of {self.low}"

    def sentence(self) -> str:
        """Return the claim with the figures that give its ratio: "... (median 290 against 103, over 5 outcomes)"."""
        high, low = written_number(self.high_value), written_number(self.low_value)
        return f"{self.claim()} ({self.measure} {high} against {low}, over {self.number} outcomes)"


def call_measurement(
    tool: str, arguments: Mapping[str, Any], at: datetime, metric: str, value: float, positive: bool | None
) -> Measurement:
    """Return the outcome of one tool call; its choices are the call's short arguments and the weekday."""
    things = _things(tool)
    choices = [
        Choice(key=key, value=text.casefold(), group=_group(key, text, things, isinstance(argument, str)))
        for key, argument in sorted(arguments.items())
        if isinstance(argument, (str, int, float, bool))
        and 0 < len(text := str(argument).strip()) <= _CHOICE_CHARACTERS
    ]
    if "weekday" not in arguments:
        day = f"{at:%A}"
        choices.append(Choice(key="weekday", value=day, group=f"{things} decided on a {day}", derived=True))
    return Measurement(family=tool, metric=metric, value=value, choices=tuple(choices), positive=positive)


def text_measurements(texts: Iterable[str]) -> Iterator[Measurement]:
    """Yield the number of each text that has exactly one with a unit, once for each word in which like texts differ."""
    alike: dict[tuple[str, int], list[tuple[float, list[str]]]] = defaultdict(list)
    for text in texts:
        counted = [each for each in quantities(text) if each.unit]
        if len(counted) == 1:
            tokens = ["#" if token[0].isdigit() else token for token in _TOKEN.findall(text.rstrip(_ENDS))]
            alike[counted[0].unit, len(tokens)].append((counted[0].value, tokens))
    for (metric, _), rows in alike.items():
        folded = [[token.casefold() for token in tokens] for _, tokens in rows]
        differs = [place for place, column in enumerate(zip(*folded, strict=True)) if len(set(column)) > 1]
        for (value, tokens), words in zip(rows, folded, strict=True):
            yield Measurement(family=" ".join(words), metric=metric, value=value)
            for place in differs:
                if _WORD.match(tokens[place]):
                    family = " ".join([*words[:place], "*", *words[place + 1 :]])
                    choice = Choice(key=f"word {place}", value=words[place], group=_named_after(tokens, place))
                    yield Measurement(family=family, metric=metric, value=value, choices=(choice,))


def reported_measurements(texts: Iterable[str]) -> list[Measurement]:
    """Return the numbers that texts report in their own words; the choices are the words for what is measured."""
    by_metric: dict[str, list[ReportedNumber]] = defaultdict(list)
    for text in texts:
        for each in measures(text):
            by_metric[each.metric].append(each)
    found = []
    for metric, alike in by_metric.items():
        often = Counter(topic_stem(word) for each in alike for word in each.topics)
        shared = frozenset(stem for stem, number in often.items() if number >= _SHARED * len(alike))
        forms = Counter(word for each in alike for word in each.topics if topic_stem(word) in shared)
        noun = _plural(forms.most_common(1)[0][0]) if forms else None
        for each in alike:
            words = {topic_stem(word): word for word in each.topics}
            choices = tuple(
                Choice(key="word", value=stem, group=f"{word} {noun}" if noun else f"those with {word}", derived=True)
                for stem, word in words.items()
                if stem not in shared
            )
            found.append(Measurement(family=_REPORTED, metric=metric, value=each.value, choices=choices, topics=shared))
    return found


def compare_choices(measurements: Iterable[Measurement], least_ratio: float) -> list[Comparison]:
    """Compare the best and worst choice by family, metric and key; return those from `least_ratio`, widest first."""
    groups: dict[tuple[str, str, str], dict[str, list[tuple[Measurement, Choice]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for each in measurements:
        for choice in each.choices:
            groups[each.family, each.metric, choice.key][choice.value].append((each, choice))
    comparisons = [
        comparison
        for (_, metric, key), by_value in groups.items()
        if (comparison := _comparison(metric, key, by_value)) is not None and comparison.ratio >= least_ratio
    ]
    return sorted(comparisons, key=lambda each: (-each.ratio, each.metric, each.key, each.high, each.low))


def describe_ranges(measurements: Sequence[Measurement], texts: Sequence[str] = ()) -> list[str]:
    """Return "views from 95 to 340, 223 on average" for each metric with enough measurements in one family.

    If a metric has several such families, the largest one counts: others may count something else in the same unit.
    `texts`: turns of which no episode is left. They may be about other things too, so only those of their numbers count
    that are told as the measurements are: in the same words, or with the topic words that the measurements share.
    """
    largest = _largest(measurements)
    values = {metric: [each.value for each in members] for metric, members in largest.items()}
    for metric, value in _told_alike({metric: members[0] for metric, members in largest.items()}, texts):
        values[metric].append(value)
    return [
        f"{metric.replace('_', ' ')} from {written_number(min(numbers))} to {written_number(max(numbers))}, "
        f"{written_number(fmean(numbers))} on average"
        for metric, numbers in values.items()
    ]


def _told_alike(examples: Mapping[str, Measurement], texts: Sequence[str]) -> Iterator[tuple[str, float]]:
    """Yield metric and value of the numbers that texts tell as the example of their metric is told."""
    for each in text_measurements(texts):
        if each.metric in examples and each.family == examples[each.metric].family:
            yield each.metric, each.value
    for text in texts:
        for report in measures(text):
            topics = examples[report.metric].topics if report.metric in examples else ()
            if topics and topics <= {topic_stem(word) for word in report.topics}:
                yield report.metric, report.value


def _largest(measurements: Iterable[Measurement]) -> dict[str, list[Measurement]]:
    """Return the members of the largest family of each metric, if it is large enough for a range."""
    seen: dict[tuple[str, str], list[Measurement]] = defaultdict(list)
    for each in measurements:
        if "*" not in each.family:
            seen[each.metric, each.family].append(each)
    largest: dict[str, list[Measurement]] = {}
    for (metric, _), members in sorted(seen.items()):
        if len(members) >= max(_FOR_RANGE, len(largest.get(metric, ())) + 1):
            largest[metric] = members
    return largest


def _comparison(metric: str, key: str, by_value: dict[str, list[tuple[Measurement, Choice]]]) -> Comparison | None:
    sides = [
        (fmean(each.value for each, _ in members), value)
        for value, members in by_value.items()
        if len(members) >= _EACH_SIDE
    ]
    if len(sides) < 2:
        return None
    (low_mean, low_value), (high_mean, high_value) = min(sides), max(sides)
    high, low = by_value[high_value], by_value[low_value]
    highs, lows = [each.value for each, _ in high], [each.value for each, _ in low]
    low_median, high_median = median(lows), median(highs)
    if min(low_mean, low_median) < _NOTHING:
        return None
    by_median = high_median / low_median < high_mean / low_mean
    consistent = min(highs) > max(lows)
    if high[0][1].derived and not consistent:
        return None
    return Comparison(
        metric=metric,
        key=key,
        high=min(choice.group for _, choice in high),
        low=min(choice.group for _, choice in low),
        ratio=high_median / low_median if by_median else high_mean / low_mean,
        measure="median" if by_median else "average",
        high_value=high_median if by_median else high_mean,
        low_value=low_median if by_median else low_mean,
        number=len(high) + len(low),
        consistent=consistent,
        better=_share_positive(high) >= _share_positive(low),
    )


def _share_positive(members: Sequence[tuple[Measurement, Choice]]) -> float:
    return fmean(bool(each.positive) for each, _ in members)


def _things(tool: str) -> str:
    """Return the objects of a tool, in the plural: posts for `schedule_post`, issues for `jira.create_issue`."""
    service, _, action = tool.rpartition(".")
    words = _NAME_PARTS.split(action)
    return _plural((words[-1] if len(words) > 1 else service or words[-1]).lower())


def _group(key: str, value: str, things: str, is_text: bool) -> str:
    if is_text and _ADJECTIVE.fullmatch(value):
        return f"{value} {things}"
    return f"{things} with {key.replace('_', ' ')} {value}"


def _named_after(tokens: Sequence[str], place: int) -> str:
    """Return "recipe posts" if the next word must be the noun: nothing, or a punctuation mark, follows it."""
    word, rest = tokens[place], tokens[place + 1 : place + 3]
    if rest and _WORD.fullmatch(rest[0]) and (len(rest) == 1 or not re.match(r"\w", rest[1])):
        return f"{word.lower()} {_plural(rest[0].lower())}"
    return f"those with {word}"


def _plural(noun: str) -> str:
    return first_rewritten(noun, _PLURALS)


def _times(ratio: float) -> str:
    return f"{ratio:.1f}".removesuffix(".0") + "x"
