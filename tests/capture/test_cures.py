"""The sentence that names what mends an import."""

from __future__ import annotations

from collections import Counter

from reverie.capture.history.cures import Findings, cure


def test_damaged_lines_among_good_ones_are_no_other_format() -> None:
    some = cure(read=3, dead_by_reason=Counter(malformed_json=1), findings=Findings(fields=("text",)))
    assert some is not None and "these lines are damaged" in some and "jq" not in some
    none = cure(read=3, dead_by_reason=Counter(malformed_json=3), findings=Findings())
    assert none is not None and "jq -c" in none


def test_a_tenth_is_tolerated() -> None:
    assert cure(read=10, dead_by_reason=Counter(malformed_json=1), findings=Findings()) is None
    assert cure(read=10, dead_by_reason=Counter(), findings=Findings()) is None


def test_every_reason_is_named_and_each_that_weighs_has_its_cure() -> None:
    dead = Counter(malformed_json=3, naive_time=4, empty_text=1)
    found = cure(read=10, dead_by_reason=dead, findings=Findings(fields=("text",)))
    assert found == (
        "4 of 10 records became dead letters for the reason naive_time: "
        "give the time zone of the times, for instance with --timezone Europe/Berlin. "
        "3 more for the reason malformed_json: "
        "these lines are damaged; reverie dead-letters list shows them. Fix them and import the file again. "
        "Others failed for empty_text (1): see reverie dead-letters list, fix the file and import it again."
    )


def test_an_export_of_another_system_is_named_by_its_format() -> None:
    for value in ("conversation.list", "conversation"):
        findings = Findings(unknown_values={"unknown_type": Counter({value: 1})})
        found = cure(read=1, dead_by_reason=Counter(unknown_type=1), findings=findings)
        assert found is not None and found.endswith("name it with --format intercom.") and "--map" not in found


def test_rows_that_the_next_import_does_not_read_are_redriven() -> None:
    findings = Findings(are_rows=True, continues=True)
    found = cure(read=9, dead_by_reason=Counter(naive_time=8, too_long=1), findings=findings)
    assert found == (
        "8 of 9 records became dead letters for the reason naive_time: "
        "give the time zone of the times, for instance with --timezone Europe/Berlin. "
        "1 more for the reason too_long: "
        "see reverie dead-letters list, correct the rows and import them again. "
        "The next import reads only new rows: give the option to reverie dead-letters redrive, or import again with it "
        "and --from-start."
    )
