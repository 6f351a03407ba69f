"""The report of `make demo`: what went in, what is remembered, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rich.console import Console, Group
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from reverie.capture.history.importing import ImportSummary
from reverie.cli.operate.importing import assumption_sentence
from reverie.evaluate.funnel import Funnel
from reverie.evaluate.worded import Worded
from reverie.recall.inspect import SubjectMemory
from reverie.recall.result import RecallResult

REASONS = {
    "role": "assistant, system and tool turns (not extracted)",
    "low_content": "says nothing (lol, ok)",
    "question": "only asks a question",
    "quoted": "quotes somebody else",
    "no_rule": "no rule found anything to remember",
}
KIND_ORDER = ("fact", "preference", "instruction", "pattern", "summary", "episode")
SHOWN_A_KIND = 5
SHOWN_WORDED = 3
#: US dollars a million tokens in and out at which a small hosted model is had.
PRICE = (0.15, 0.60)
SHOWN_HITS = 4
SHOWN_SIGNALS = 3


def print_import(console: Console, summary: ImportSummary, in_make: Callable[[str], str]) -> None:
    """What was assumed about the file, and what is wrong with it."""
    if summary.assumed:
        console.print(f"[dim]Import: {escape(in_make(assumption_sentence(summary.assumed)))}[/]")
    if summary.cure:
        console.print(f"[yellow]Import:[/] {escape(in_make(summary.cure))}")


def print_funnel(console: Console, summary: ImportSummary, funnel: Funnel) -> None:
    """From turns to memories, with every discard and its reason."""
    table = Table(title="From what was said to what is remembered", title_justify="left", show_header=False, box=None)
    table.add_column(justify="right", style="bold")
    table.add_column()
    said = sum(turns for turns, _ in funnel.turns.values())
    import_of = f"{summary.imported:,} new, {summary.repeated:,} repeated, {summary.dead:,} dead letters"
    table.add_row(f"{said:,}", f"turns of {len(funnel.subjects)} subjects (this import: {import_of})")
    for verdict, (turns, _) in funnel.turns.items():
        if verdict != "kept":
            table.add_row(f"[dim]-{turns:,}[/]", f"[dim]{REASONS.get(verdict, verdict)}[/]")
    made = sum(found for _, found in funnel.turns.values())
    table.add_row(f"{made:,}", "candidates extracted: facts, preferences, instructions, episodes")
    table.add_row(
        f"[dim]-{funnel.in_state('merged'):,}[/]", "[dim]merged into the memory that they repeat (both kept)[/]"
    )
    table.add_row(
        f"[dim]-{funnel.in_state('compressed'):,}[/]", "[dim]episodes compressed into patterns and summaries[/]"
    )
    table.add_row(f"[dim]-{funnel.in_state('forgotten'):,}[/]", "[dim]forgotten: faded, and nobody asked[/]")
    kinds = ", ".join(
        f"{number} {kind}{'s' if number != 1 else ''}".replace("summarys", "summaries")
        for kind in KIND_ORDER
        if (number := funnel.memories.get((kind, "active"), 0))
    )
    table.add_row(f"[green]{funnel.in_state('active'):,}[/]", f"[green]memories[/]: {kinds}")
    console.print(table)


def print_subject(console: Console, memory: SubjectMemory) -> None:
    """One subject's memory, the most important of each kind."""
    table = Table(title=f"What is remembered about {memory.subject_id}", title_justify="left", box=None, pad_edge=False)
    for name in ("kind", "importance", "memory", "forgotten on"):
        table.add_column(name, style="dim" if name in ("kind", "forgotten on") else "", header_style="dim")
    for kind in KIND_ORDER:
        of_kind = sorted((one for one in memory.memories if one.kind == kind), key=lambda one: -one.importance)
        for one in of_kind[:SHOWN_A_KIND]:
            when = f"{one.forget_at:%Y-%m-%d}" if one.forget_at else "never"
            table.add_row(kind, f"{one.importance:.2f}", escape(_short(one.content, console.width - 40)), when)
        if len(of_kind) > SHOWN_A_KIND:
            table.add_row(kind, "", f"[dim]and {len(of_kind) - SHOWN_A_KIND} more[/]", "")
    console.print(table)
    spoken_of = "  ".join(f"{one.id} x{one.memories}" for one in memory.entities[:10] if one.memories)
    console.print(Text(f"speaks of  {spoken_of}", style="dim"))


def print_recall(console: Console, result: RecallResult) -> None:
    """One recall, with the reason for each hit."""
    lines: list[Text] = []
    width = console.width - 10
    for place, hit in enumerate(result.hits[:SHOWN_HITS], start=1):
        lead = f"{place}. {hit.kind} {hit.happened_at:%Y-%m-%d}  "
        lines.append(Text.assemble((lead, "cyan"), _short(hit.content, width - len(lead))))
        given = sorted(hit.signals.items(), key=lambda pair: -abs(pair[1].contribution))[:SHOWN_SIGNALS]
        reasons = "  ".join(
            f"{_words(name)} {signal.contribution:+.2f}" for name, signal in given if signal.contribution
        )
        arms = ", ".join(f"{arm} #{rank}" for arm, rank in hit.ranks.items())
        why = f"   {hit.score:.2f}  {arms}: {reasons}"
        lines.append(Text(_short(why, width, indent="   "), style="dim"))
    dropped: dict[str, int] = {}
    for one in result.dropped:
        dropped[one.reason] = dropped.get(one.reason, 0) + 1
    left_out = ", ".join(f"{number} by {reason}" for reason, number in sorted(dropped.items()))
    lines.append(
        Text(
            f"{len(result.hits)} hits, {result.total_tokens} of {result.token_budget} tokens; left out: {left_out}",
            "dim",
        )
    )
    console.print(Panel(Group(*lines), title=f"“{escape(result.question)}”  [dim]about {result.subject_id}[/]",
                        title_align="left", border_style="blue"))  # fmt: skip


def print_worded(console: Console, found: Worded) -> None:
    """How much of the memory is in the model's words, and what it was asked."""
    table = Table(title="What the language model added", title_justify="left", box=None, pad_edge=False)
    for name in ("kind", "by rules", "by the model"):
        table.add_column(name, justify="left" if name == "kind" else "right", header_style="dim")
    for kind in KIND_ORDER:
        if kind in found.kinds:
            rules, model = found.kinds[kind]
            table.add_row(kind, f"{rules:,}", f"[green]{model:,}[/]")
    console.print(table)
    asked = Table(box=None, pad_edge=False)
    for name in ("asked by", "questions", "answered", "tokens in", "tokens out", "US$"):
        asked.add_column(name, justify="left" if name == "asked by" else "right", header_style="dim")
    for one in found.asked:
        numbers = (one.items, one.answered, one.tokens_in, one.tokens_out)
        asked.add_row(one.stage, *(f"{number:,}" for number in numbers), f"{one.usd(*PRICE):.4f}")
    console.print(asked)
    whole = sum(one.usd(*PRICE) for one in found.asked)
    at = f"${PRICE[0]:.2f} a million tokens in and ${PRICE[1]:.2f} out"
    console.print(f"[dim]US$ {whole:.4f} is what this would cost at {at}; recorded replies cost nothing.[/]")


def print_text(console: Console, kind: str, text: str, by_rules: str | None) -> None:
    """One memory in the model's words, over what the rules would say."""
    console.print(Text.assemble((f"{kind}  ", "cyan"), text))
    if by_rules:
        console.print(Text(f"   rules alone: {by_rules}", style="dim"))


def print_stages(console: Console, funnel: Funnel, order: Sequence[str], wall: float) -> None:
    """Where the time went and what it cost."""
    table = Table(title="Time by stage", title_justify="left", box=None, pad_edge=False)
    for name in ("stage", "runs", "seconds", "tokens", "US$"):
        table.add_column(name, justify="left" if name == "stage" else "right", header_style="dim")
    for one in sorted(funnel.stages, key=lambda one: order.index(one.stage) if one.stage in order else len(order)):
        table.add_row(one.stage, f"{one.runs}", f"{one.seconds:.2f}", f"{one.tokens:,}", f"{one.cost_usd:.4f}")
    console.print(table)
    console.print(f"[dim]The whole job took {wall:.1f} s; what models charged for it stands on the right.[/]")


def print_next(console: Console, commands: Iterable[tuple[str, str]]) -> None:
    """What to try next."""
    console.print("[italic]Try next[/]")
    for command, what in commands:
        console.print(Text.assemble(("  " + command, "bold"), (f"\n      {what}", "dim")))


def _words(name: str) -> str:
    return name.replace("_", " ")


def _short(text: str, width: int, *, indent: str = "") -> str:
    flat = indent + " ".join(text.split())
    return flat if len(flat) <= width else f"{flat[: width - 1]}…"
