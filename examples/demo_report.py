"""The report of `make demo`: what was imported, what is remembered, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

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
    "language": "in a language that is not read",
    "no_rule": "states nothing to keep",
}
#: What becomes of a memory other than to stay active.
FATES = {
    "candidate": "wait for the next cycle",
    "merged": "repeats, merged into the memory that says the same (both kept)",
    "rewritten": "patterns replaced by their newer version (both kept)",
    "compressed": "episodes replaced by patterns and summaries (all kept)",
    "superseded": "ended by a later statement (kept)",
    "forgotten": "forgotten",
}
KIND_ORDER = ("fact", "preference", "instruction", "pattern", "summary", "episode")
SHOWN_PER_KIND = 5
SHOWN_WORDED = 3
#: Price of a small hosted model in US dollars per million tokens, in and out.
PRICE = (0.15, 0.60)
SHOWN_HITS = 4
SHOWN_SIGNALS = 3


def print_import(console: Console, summary: ImportSummary, in_make: Callable[[str], str]) -> None:
    """Print what the import assumed about the file, and its advice."""
    if summary.assumed:
        console.print(f"[dim]Import: {escape(in_make(assumption_sentence(summary.assumed)))}[/]")
    if summary.cure:
        console.print(f"[yellow]Import:[/] {escape(in_make(summary.cure))}")


def print_funnel(console: Console, summary: ImportSummary, funnel: Funnel) -> None:
    """Print the way from turns to memories, with every discard and its reason."""
    table = Table(title="From turns to memories", title_justify="left", show_header=False, box=None)
    table.add_column(justify="right", style="bold")
    table.add_column()
    turn_count = sum(turns for turns, _ in funnel.turns.values())
    import_of = f"{summary.imported:,} new, {summary.repeated:,} repeated, {summary.dead:,} dead letters"
    table.add_row(f"{turn_count:,}", f"turns of {len(funnel.subjects)} subjects (this import: {import_of})")
    for verdict, (turns, _) in funnel.turns.items():
        if verdict != "kept":
            table.add_row(f"[dim]-{turns:,}[/]", f"[dim]{REASONS.get(verdict, verdict)}[/]")
    table.add_row(f"{funnel.made_of_turns():,}", "facts, preferences, instructions and episodes extracted")
    table.add_row(f"[dim]+{funnel.made_of_memories():,}[/]", "[dim]patterns and summaries made of episodes[/]")
    for fate, meaning in FATES.items():
        if number := funnel.of_fate(fate):
            table.add_row(f"[dim]-{number:,}[/]", f"[dim]{meaning}[/]")
    kinds = ", ".join(
        f"{number} {kind}{'s' if number != 1 else ''}".replace("summarys", "summaries")
        for kind in KIND_ORDER
        if (number := funnel.memories.get((kind, "active"), 0))
    )
    table.add_row(f"[green]{funnel.of_fate('active'):,}[/]", f"[green]memories[/]: {kinds}")
    console.print(table)


def print_subject(console: Console, memory: SubjectMemory) -> None:
    """Print the most important memories of a subject, by kind."""
    table = Table(title=f"Memory of {memory.subject_id}", title_justify="left", box=None, pad_edge=False)
    for name in ("kind", "importance", "memory", "forgotten on"):
        table.add_column(name, style="dim" if name in ("kind", "forgotten on") else "", header_style="dim")
    for kind in KIND_ORDER:
        of_kind = sorted((item for item in memory.memories if item.kind == kind), key=lambda item: -item.importance)
        for item in of_kind[:SHOWN_PER_KIND]:
            when = f"{item.forget_at:%Y-%m-%d}" if item.forget_at else "never"
            table.add_row(kind, f"{item.importance:.2f}", escape(_short(item.content, console.width - 40)), when)
        if len(of_kind) > SHOWN_PER_KIND:
            table.add_row(kind, "", f"[dim]and {len(of_kind) - SHOWN_PER_KIND} more[/]", "")
    console.print(table)
    entities = "  ".join(f"{entity.id} x{entity.memories}" for entity in memory.entities[:10] if entity.memories)
    console.print(Text(f"entities  {entities}", style="dim"))


def print_recall(console: Console, result: RecallResult) -> None:
    """Print a recall, with an explanation of each hit."""
    lines: list[Text] = []
    width = console.width - 10
    for place, hit in enumerate(result.hits[:SHOWN_HITS], start=1):
        lead = f"{place}. {hit.kind} {hit.happened_at:%Y-%m-%d}  "
        lines.append(Text.assemble((lead, "cyan"), _short(hit.content, width - len(lead))))
        signals = sorted(hit.signals.items(), key=lambda pair: -abs(pair[1].contribution))[:SHOWN_SIGNALS]
        reasons = "  ".join(
            f"{_words(name)} {signal.contribution:+.2f}" for name, signal in signals if signal.contribution
        )
        arms = ", ".join(f"{arm} #{rank}" for arm, rank in hit.ranks.items())
        why = f"   {hit.score:.2f}  {arms}: {reasons}"
        lines.append(Text(_short(why, width, indent="   "), style="dim"))
    dropped: dict[str, int] = {}
    for drop in result.dropped:
        dropped[drop.reason] = dropped.get(drop.reason, 0) + 1
    left_out = ", ".join(f"{number} by {reason}" for reason, number in sorted(dropped.items()))
    lines.append(
        Text(
            f"{len(result.hits)} hits, {result.total_tokens} of {result.token_budget} tokens; left out: {left_out}",
            "dim",
        )
    )
    console.print(Panel(Group(*lines), title=f"“{escape(result.question)}”  [dim]about {result.subject_id}[/]",
                        title_align="left", border_style="blue"))  # fmt: skip


def print_worded(console: Console, worded: Worded) -> None:
    """Print how many memories the model worded, and what its calls cost."""
    table = Table(title="What the language model added", title_justify="left", box=None, pad_edge=False)
    for name in ("kind", "by rules", "by the model"):
        table.add_column(name, justify="left" if name == "kind" else "right", header_style="dim")
    for kind in KIND_ORDER:
        if kind in worded.kinds:
            rules, model = worded.kinds[kind]
            table.add_row(kind, f"{rules:,}", f"[green]{model:,}[/]")
    console.print(table)
    calls = Table(box=None, pad_edge=False)
    for name in ("stage", "items", "answered", "tokens in", "tokens out", "US$"):
        calls.add_column(name, justify="left" if name == "stage" else "right", header_style="dim")
    for stage in worded.asked:
        numbers = (stage.items, stage.answered, stage.tokens_in, stage.tokens_out)
        calls.add_row(stage.stage, *(f"{number:,}" for number in numbers), f"{stage.usd(*PRICE):.4f}")
    console.print(calls)
    total = sum(stage.usd(*PRICE) for stage in worded.asked)
    price = f"${PRICE[0]:.2f} per million tokens in and ${PRICE[1]:.2f} out"
    console.print(f"[dim]This would cost US$ {total:.4f} at {price}; recorded replies are free.[/]")


def print_text(console: Console, kind: str, text: str, by_rules: str | None) -> None:
    """Print a memory in the model's words, and below it the same by rules."""
    console.print(Text.assemble((f"{kind}  ", "cyan"), text))
    if by_rules:
        console.print(Text(f"   rules alone: {by_rules}", style="dim"))


def print_stages(console: Console, funnel: Funnel, order: Sequence[str], wall: float) -> None:
    """Print time and cost by stage."""
    table = Table(title="Time by stage", title_justify="left", box=None, pad_edge=False)
    for name in ("stage", "runs", "seconds", "tokens", "US$"):
        table.add_column(name, justify="left" if name == "stage" else "right", header_style="dim")
    for row in sorted(funnel.stages, key=lambda row: order.index(row.stage) if row.stage in order else len(order)):
        table.add_row(row.stage, f"{row.runs}", f"{row.seconds:.2f}", f"{row.tokens:,}", f"{row.cost_usd:.4f}")
    console.print(table)
    console.print(f"[dim]Total time {wall:.1f} s; the last column is what models charged.[/]")


def print_growth(console: Console, rows: Iterable[Sequence[Any]]) -> None:
    """Print the mart `memory_growth` by month."""
    columns = ("month", "turns", "added", "merged", "rewritten", "compressed", "superseded", "forgotten", "memories")
    _print_mart(console, "Growth by month (marts.memory_growth)", columns, rows)


def print_ages(console: Console, rows: Iterable[Sequence[Any]]) -> None:
    """Print the mart `memory_ages` by age."""
    columns = ("age", "memories", "never used", "lasting", "due in 30 days", "importance")
    _print_mart(console, "What is remembered, by age (marts.memory_ages)", columns, rows)


def print_next(console: Console, commands: Iterable[tuple[str, str]]) -> None:
    """What to try next."""
    console.print("[italic]Try next[/]")
    for command, what in commands:
        console.print(Text.assemble(("  " + command, "bold"), (f"\n      {what}", "dim")))


def _print_mart(console: Console, title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for place, name in enumerate(columns):
        table.add_column(name, justify="right" if place else "left", header_style="dim")
    for first, *numbers in rows:
        table.add_row(first, *(f"{number:.2f}" if isinstance(number, float) else f"{number:,}" for number in numbers))
    console.print(table)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _short(text: str, width: int, *, indent: str = "") -> str:
    flat = indent + " ".join(text.split())
    return flat if len(flat) <= width else f"{flat[: width - 1]}…"
