"""One statement a predicate, by the first rule that reads it; what states nothing has a reason."""

from reverie.language.cues import Rules, extract_one
from reverie.language.statements.reading import Match, read_clause
from reverie.policy import load_policy

RULES = Rules(load_policy("reverie").extract)


def test_one_statement_a_predicate() -> None:
    stated = [hit.statement for hit in extract_one("I quit Google and opened a bakery with my sister", RULES)]
    assert [(each.relation, each.object, each.phase) for each in stated if each] == [
        ("works_at", "Google", "ends"),
        ("runs_business", "a bakery with my sister", "adds"),
    ]


def test_a_durable_relation_lasts_while_it_holds() -> None:
    lives, used_to = (extract_one(text, RULES)[0] for text in ("I live in Oslo", "I used to live in Oslo"))
    assert (lives.lasting, used_to.lasting) == (True, False)


def test_why_a_match_states_nothing() -> None:
    lives = next(each for each in RULES.compiled if each.rule.name == "lives-in")
    clause = "if I live in Oslo"
    assert read_clause([Match(lives.order, clause, 0, "", None, guarded=True)], RULES) == "guarded"
    assert read_clause([], RULES) is None
