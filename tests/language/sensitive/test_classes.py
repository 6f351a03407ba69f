"""What is sensitive, by class; secrets are taken out of texts."""

from __future__ import annotations

import re

import pytest

from bench.sensitivity import HALVES, labelled, measured
from reverie.language.pack import read_table
from reverie.language.sensitive import classes
from reverie.language.sensitive.classes import classes_among, is_always_told, sensitive_classes, without_secrets


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("My wifi password is hunter2fish, ok?", "My wifi password is [redacted], ok?"),
        ("the PIN of my card is 4821", "the PIN of my card is [redacted]"),
        ("pay with 4111 1111 1111 1111 and 5500 0000 0000 0004", "pay with [redacted] and [redacted]"),
        ("IBAN DE89 3704 0044 0532 0130 00.", "IBAN [redacted]."),
        ("Karte 4111\u00a01111\u00a01111\u00a01111, 4111.1111.1111.1111", "Karte [redacted], [redacted]"),
        ("DE89-3704-0044-0532-0130-00 and DE89.3704.0044.0532.0130.00.", "[redacted] and [redacted]."),
        ("DE89\u202f3704\u202f0044\u202f0532\u202f0130\u202f00 (copied)", "[redacted] (copied)"),
        ("4111\u20111111\u20111111\u20111111 is the card", "[redacted] is the card"),
        ("My birth number is 855612/4471.", "My birth number is [redacted]."),
        ("my NHS number is 943 476 5919", "my NHS number is [redacted]"),
        ('the login is "my little pony"', 'the login is "[redacted]"'),
        ('my password "my little pony"', 'my password "[redacted]"'),
        ("BSN 123456782", "BSN [redacted]"),
        ("IBAN CZ65 0800 0000 1920 0014 5399 for the refund", "IBAN [redacted] for the refund"),
        ("my account BE68 5390 0754 7034 is new", "my account [redacted] is new"),
        ("AT61 1904 3002 3457 3201 from this month on", "[redacted] from this month on"),
        ("use NO93 8601 1117 947 please", "use [redacted] please"),
        ("visa 4539 1488 0343 6467 12/27", "visa [redacted] 12/27"),
        ("5555555555554444 03/29", "[redacted] 03/29"),
        ("amex 3782 822463 10005 05/28", "amex [redacted] 05/28"),
        ('the password is "my little pony 22"', 'the password is "[redacted]"'),
        ('password: "correct horse battery staple", ok?', 'password: "[redacted]", ok?'),
        ("the wifi password is 'blue horse isn't here'.", "the wifi password is '[redacted]'."),
        ('I set the password to "my little pony"', 'I set the password to "[redacted]"'),
        ("postgres://admin:s3cretpw@db.example.org/app", "postgres://admin:[redacted]@db.example.org/app"),
        ("MY PA\u017fSWORD: hunter2fish", "MY PA\u017fSWORD: [redacted]"),
        ("the p\u0131n of my card is 4821", "the p\u0131n of my card is [redacted]"),
        ("my to\u212aen is a1b2c3d4e5f6", "my to\u212aen is [redacted]"),
    ],
)
def test_secrets_are_taken_out(text: str, redacted: str) -> None:
    assert without_secrets(text)[0] == redacted
    assert without_secrets(redacted) == (redacted, 0), "what is redacted stays as it is"


@pytest.mark.parametrize(
    "text",
    ["Born at the NHS hospital, ward 12345678", "I forgot my password again.",
     "The password is wrong",
     "Order 4111 1111 1111 1112 is late", "Since 2026.03.12.10.15.30.1 on 192.168.100.200", "Room 4821, please",
     'It says the password is "too weak", again', 'the password is "incorrect"', 'I forgot the login for "Netflix"',
     'the login for the "My Account" page', 'the password for the "My Account" page', 'I lost my login "for real"',
     'password was "not strong enough"', "My passport expires 2030/03/12", "passport was renewed 2024/25",
     "DE89 3704 0044 0532 0130 01 is no account", "DE89 3704 0044 0532 0130 0\u0130 neither"],
)  # fmt: skip
def test_what_is_no_secret_stays(text: str) -> None:
    assert without_secrets(text, by_rules_alone=True) == (text, 0)


#: A secret of each pattern of `sensitive.toml`, in order.
OF_EACH = (
    "password: hunter2fish", 'password is "my little pony 22"', "login bob with hunter2!fish",
    "I changed my password to hunter2fish", "PIN 4821", "4821 is my code", "4111 1111 1111 1111",
    "DE89 3704 0044 0532 0130 00", "123 ghp_" + "a1" * 12,
    "Bearer a1b2c3d4e5f6", "-----BEGIN RSA PRIVATE KEY-----", "ftp://ana:hunter2@host",
    "recovery words: " + "tree " * 11 + "tree", "Passport AB123456",
)  # fmt: skip


def test_each_pattern_has_the_cue_that_its_secrets_have() -> None:
    rows = read_table("sensitive")["secrets"]
    for row, text in zip(rows, OF_EACH, strict=True):
        assert re.search(row["pattern"], text, re.IGNORECASE), row["pattern"]
        assert re.search(row.get("cue", ""), text.lower()), row["pattern"]
        assert without_secrets(text)[1] == without_secrets(text.upper() if "ghp" not in text else text)[1] == 1


def test_what_is_said_of_others_is_a_class_of_its_own() -> None:
    assert sensitive_classes("My sister has depression") == {"health", "third_parties"}
    assert sensitive_classes("I got help with my depression from my sister") == {"health"}
    assert classes_among("My sister has depression", frozenset({"third_parties"})) == {"third_parties"}
    assert is_always_told("I'm allergic to walnuts") and not is_always_told("I have asthma")


def test_precision_and_recall_do_not_fall() -> None:
    """The set has at least 30 sentences a class; the figures are those of docs/sensitivity.md."""
    rates = {half: {name: rest for name, *rest in measured(half)} for half in HALVES}
    for name in rates["first"]:
        assert rates["first"][name][0] + rates["second"][name][0] >= 30, name
    assert rates["first"]["any"][1] >= 0.98 and rates["first"]["any"][2] >= 0.99
    assert rates["second"]["any"][1] >= 0.96 and rates["second"]["any"][2] >= 0.64
    assert rates["third"]["any"][1] >= 0.78 and rates["third"]["any"][2] >= 0.24
    assert len(labelled()) == 720


def test_of_secrets_that_overlap_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classes, "_spans", lambda text: [(4, 9), (0, 6), (12, 14)])
    assert without_secrets("0123456789abcdef") == ("[redacted]9ab[redacted]ef", 2)
