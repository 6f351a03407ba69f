"""What fits into a section and into the whole: budgets hold, order holds, what is left out is named."""

from __future__ import annotations

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from reverie.language.text import CountTokens
from reverie.recall.contexts.sections import Block, Line, Section, fit, trim

LETTERS = st.text("ab c\n", min_size=1, max_size=40)
COUNTERS: st.SearchStrategy[CountTokens] = st.sampled_from(
    [
        lambda text: len(text.split()),
        lambda text: -(-len(text) // 4),
        # the whole may count for more than its parts
        lambda text: len(text.split()) + text.count("\n"),
        len,
    ]
)


def lines(texts: list[tuple[str, float]], start: int = 0) -> list[Line]:
    return [
        Line(text=text, id=UUID(int=start + n), label=f"line {start + n}", worth=worth)
        for n, (text, worth) in enumerate(texts)
    ]


TEXTS = st.lists(st.tuples(LETTERS, st.floats(0, 1)), max_size=8)


@given(
    st.lists(st.tuples(st.sampled_from(["", "HEAD:", "# A long head"]), TEXTS), max_size=3),
    st.integers(0, 60),
    COUNTERS,
)
def test_a_section_keeps_its_budget_its_order_and_names_what_it_leaves_out(
    given_: list[tuple[str, list[tuple[str, float]]]], budget: int, count: CountTokens
) -> None:
    blocks = [
        Block(head=head, lines=lines(texts, 100 * n), foot="END" if n else "") for n, (head, texts) in enumerate(given_)
    ]
    everything = [line for block in blocks for line in block.lines]
    section = fit("memories", blocks, budget, count)
    assert section.tokens == (count(section.text) if section.text else 0) <= budget
    kept = [line.id for line in section.lines]
    dropped = [one.id for one in section.dropped]
    assert kept == [line.id for line in everything if line.id in kept]
    assert sorted([*kept, *dropped], key=str) == sorted((line.id for line in everything), key=str)
    place = 0
    for line in section.lines:
        place = section.text.index(line.text, place) + len(line.text)
    if not section.lines:
        assert section.text == ""


@given(TEXTS, st.integers(0, 60))
def test_a_lower_line_never_takes_the_place_of_a_higher_one_of_its_size(
    texts: list[tuple[str, float]], budget: int
) -> None:
    section = fit("memories", [Block(lines=lines(texts))], budget, len)
    sizes = {line.id: (len(line.text), line.worth) for line in lines(texts)}
    for gone in section.dropped:
        for line in section.lines:
            size, worth = sizes[gone.id]
            assert line.worth >= worth or len(line.text) < size


@given(
    st.lists(st.tuples(st.sampled_from(["memories", "profile", "tools", "history"]), TEXTS), max_size=5),
    st.integers(0, 4),
    COUNTERS,
)
def test_the_whole_keeps_its_budget(
    given_: list[tuple[str, list[tuple[str, float]]]], buffer: int, count: CountTokens
) -> None:
    sections: list[Section] = [fit(name, [Block(lines=lines(texts))], 20, count) for name, texts in given_]  # type: ignore[arg-type]
    total = 20 * len(sections) + buffer
    kept, text, tokens = trim(sections, total=total, buffer=buffer, count=count)
    assert tokens == (count(text) if text else 0) <= total
    assert text == "\n\n".join(one.text for one in kept if one.text)
    assert [one.name for one in kept] == [one.name for one in sections]
    for before, after in zip(sections, kept, strict=True):
        gone = {line.id for line in before.lines} - {line.id for line in after.lines}
        assert gone <= {one.id for one in after.dropped}
        assert after.tokens <= after.budget


def test_the_lowest_memory_goes_first() -> None:
    """Brain 6: slightly over, drop lowest memory."""
    sections = [
        fit("profile", [Block(lines=lines([("who", 0.0)]))], 3, len),
        fit("memories", [Block(lines=lines([("low", 0.1), ("high", 0.9)]))], 8, len),
    ]
    kept, text, tokens = trim(sections, total=12, buffer=2, count=len)
    assert (text, tokens, [one.label for one in kept[1].dropped]) == ("who\n\nhigh", 9, ["line 0"])
    assert kept[0].dropped == ()
