"""One statement a clause, by the first rule that reads it; what states nothing has a reason."""

from reverie.language.cues.compiled import Rules
from reverie.language.cues.single import extract_one
from reverie.language.statements.reading import Match, read_clause
from reverie.policy import load_policy

RULES = Rules(load_policy("reverie").extract)


def order_of(name: str) -> int:
    return next(each.order for each in RULES.compiled if each.rule.name == name)


def test_one_statement_a_clause_and_what_it_names_beside() -> None:
    text = "Never call my husband Tom or my sister Ann before nine"
    stated = [hit.statement for hit in extract_one(text, RULES)]
    assert [(each.relation, each.object, each.phase) for each in stated if each] == [
        ("standing_rule", text, "holds"),
        ("partner", "Tom", "holds"),
        ("has_sibling", "sister Ann", "holds"),
    ]


def test_the_first_rule_that_states_something_is_taken() -> None:
    clause = "my birthday is on March 3"
    empty, first, second = (
        Match(order_of(name), clause, 0, said, None, guarded=False)
        for name, said in [("time-zone", "it"), ("birthday-on", "March 3"), ("non-smoker", "non-smoker")]
    )
    found = read_clause([empty, first, second], RULES)
    assert isinstance(found, list)
    assert [hit.rule for hit in found] == ["birthday-on"]


def test_a_durable_relation_lasts_while_it_holds() -> None:
    uses, no_longer = (extract_one(f"{text} ana@example.com", RULES)[0] for text in ("My email is", "I no longer use"))
    assert (uses.lasting, no_longer.lasting) == (True, False)


def test_why_a_match_states_nothing() -> None:
    clause = "if my time zone is CET"
    order = order_of("time-zone")
    assert read_clause([Match(order, clause, 0, "CET", None, guarded=True)], RULES) == "guarded"
    assert read_clause([Match(order, clause, 0, "it", None, guarded=False)], RULES) == "empty"
    assert read_clause([Match(order, clause, 0, "", None, guarded=False)], RULES) == "missing"
    assert read_clause([], RULES) is None
