"""Finds the entities that a text names, by rule, as typed ids: `pet:bruno`, `workplace:infosys`, `metric:views`.

`entities.toml` holds patterns for open classes of names, and a gazetteer for words that always name the same thing.
Both engines give the same rows, in the order of the ids.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, NamedTuple
from unicodedata import normalize

import polars as pl
from pydantic import Field

from reverie.language.cues import wording
from reverie.language.pack import read_table
from reverie.policy.extract import Pattern
from reverie.policy.table import Table


class NamedEntity(NamedTuple):
    """A named entity. The label is as first written, or the plain word of the gazetteer."""

    type: str
    slug: str
    label: str

    @property
    def id(self) -> str:
        """The typed id: `type:slug`."""
        return f"{self.type}:{self.slug}"


class Namer(Table):
    """A pattern whose group `x` is a name of one type."""

    type: Annotated[str, Field(pattern="^[a-z]+$")]
    #: the one thing that all its matches name; None: the words of the group
    slug: Annotated[str, Field(pattern="^[a-z0-9-]+$")] | None = None
    #: lower-case literals, one of which every match contains
    cues: tuple[str, ...]
    pattern: Pattern


class Names(Table):
    """`entities.toml`."""

    #: capitalised words that are not names
    no_names: frozenset[str]
    #: a pattern in written forms, and its wording in a memory
    spoken: tuple[str, str]
    words: dict[str, tuple[str, ...]]
    rules: tuple[Namer, ...]
    gazetteer: dict[Annotated[str, Field(pattern="^[a-z]+:[a-z0-9-]+$")], tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compiled:
    namers: tuple[tuple[Namer, re.Pattern[str], str], ...]
    no_names: frozenset[str]
    #: written form → entity
    forms: dict[str, NamedEntity]
    #: first word of written forms → the forms
    first_words: Mapping[str, Sequence[str]]


@cache
def _names() -> _Compiled:
    names = Names.model_validate(read_table("entities"))

    def expand(pattern: str) -> str:
        while (expanded := _expanded(pattern, names.words)) != pattern:
            pattern = expanded
        return pattern

    forms = {
        spoken: NamedEntity(kind, slug, slug.replace("-", " "))
        for identity, written in names.gazetteer.items()
        for kind, _, slug in [identity.partition(":")]
        for form in written
        for spoken in (form, re.sub(*names.spoken, form))
    }
    first_words: dict[str, list[str]] = defaultdict(list)
    for form in forms:
        first_words[form.split(" ")[0]].append(form)
    expanded = [(namer, expand(namer.pattern)) for namer in names.rules]
    return _Compiled(
        namers=tuple(
            (namer, re.compile(pattern.replace(r"\b", r"(?a:\b)")), pattern.replace(r"\b", r"(?-u:\b)"))
            for namer, pattern in expanded
        ),
        no_names=names.no_names,
        forms=forms,
        first_words=dict(first_words),
    )


def _expanded(pattern: str, words: Mapping[str, Sequence[str]]) -> str:
    """Return the pattern with the alternatives of each word; they may name other words."""
    for word, alternatives in words.items():
        pattern = pattern.replace(f"<{word}>", f"(?:{'|'.join(alternatives)})")
    return pattern


#: A gap between words, including a possessive "'s".
_GAPS = r"(?:'s)?[^a-z0-9]+"
SCHEMA = pl.Schema({"index": pl.UInt32, "type": pl.String, "slug": pl.String, "label": pl.String})
"""One row per entity of a text: `index` is the row of the text in the frame, the others are a `NamedEntity`."""


def entities_one(text: str) -> list[NamedEntity]:
    """Return the entities of a text, in the order of their ids, without repetition."""
    names, plain = _names(), wording.plain(normalize("NFC", text))
    lowered = plain.lower()
    spaced = re.sub(_GAPS, " ", f" {lowered} ")
    listed = (form for word in set(spaced.split()) for form in names.first_words.get(word, ()) if f" {form} " in spaced)
    found = {entity.id: entity for entity in map(names.forms.__getitem__, listed)}
    for namer, pattern, _ in names.namers:
        if any(cue in lowered for cue in namer.cues):
            for match in pattern.finditer(plain):
                label = namer.slug or match["x"].removesuffix("'s")
                entity = NamedEntity(namer.type, wording.slug(label), label)
                if entity.slug and label.split(" ")[0].lower() not in names.no_names:
                    found.setdefault(entity.id, entity)
    return [found[identity] for identity in sorted(found)]


def entities_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the entities of the column `text` of a frame, in the order of `entities_one`; see `SCHEMA`."""
    names, plain = _names(), pl.col("plain")
    texts = frame.lazy().select(plain=wording.plain_expr(pl.col("text").str.normalize("NFC"))).with_row_index("index")
    texts = texts.with_columns(lowered=plain.str.to_lowercase()).collect().lazy()
    forms = pl.LazyFrame([(f" {form} ", *entity) for form, entity in names.forms.items()], schema=_FORMS, orient="row")
    spaced = pl.format(" {} ", "lowered").str.replace_all(_GAPS, " ")
    listed = (
        texts.select("index", form=spaced.str.extract_many([f" {form} " for form in names.forms], overlapping=True))
        .explode("form")
        .join(forms, on="form", maintain_order="left")
        .select("index", "type", "slug", "label", written=pl.lit(0, pl.UInt32))
    )
    named = [_named(texts, namer, rust, order) for order, (namer, _, rust) in enumerate(names.namers, start=1)]
    return (
        pl.concat([listed, *named])
        .with_columns(order=pl.concat_str("type", pl.lit(":"), "slug"))
        .sort("index", "order", "written", maintain_order=True)
        .unique(["index", "order"], keep="first", maintain_order=True)
        .select(SCHEMA.names())
        .cast(SCHEMA)
        .collect()
    )


_FORMS = {"form": pl.String, "type": pl.String, "slug": pl.String, "label": pl.String}


def _named(texts: pl.LazyFrame, namer: Namer, rust: str, order: int) -> pl.LazyFrame:
    label, slug = pl.col("label"), wording.slug_expr(pl.col("label"))
    named = pl.lit(namer.slug) if namer.slug else label.str.extract(rust, 1).str.strip_suffix("'s")
    return (
        texts.filter(pl.col("lowered").str.contains_any(list(namer.cues)))
        .select("index", label=pl.col("plain").str.extract_all(rust))
        .explode("label")
        .drop_nulls()
        .select("index", label=named)
        .filter(~label.str.split(" ").list.first().str.to_lowercase().is_in(list(_names().no_names)))
        .select("index", type=pl.lit(namer.type), slug=slug, label=label, written=pl.lit(order, pl.UInt32))
        .filter(pl.col("slug") != "")
    )
