"""`reverie undo`: a merge is undone, and that is taken back."""

from __future__ import annotations


def test_undo_parts_a_merge(invoke, ask, world) -> None:
    first = ask("undo", str(world["adores"])[:23], "--as-of", "2026-03-06")
    assert first["survivor_id"] == str(world["loves"])
    assert ask("undo", str(world["adores"]), "--as-of", "2026-03-06") == first
    assert ask("show", "ana")["subject"]["states"] == {"active": 3}
    result = invoke("undo", str(world["walked"]))
    assert result.exit_code == 6
    assert result.stderr.startswith("Error: Nothing to undo")


def test_a_correction_is_taken_back_once(invoke, ask, world) -> None:
    walked = str(world["walked"])
    for correction, told in (
        (("--wrong",), "give the turns again."),
        (("--replace", "Has a cat"), "of the replacement."),
    ):
        ask("correct", walked, *correction)
        assert told in invoke("undo", walked).stdout
        again = invoke("undo", walked)
        assert again.exit_code == 6 and "no correction of it is in force" in again.stderr


def test_an_undo_is_taken_back(invoke, ask, world) -> None:
    adores = str(world["adores"])
    refused = invoke("undo", adores, "--take-back")
    assert (refused.exit_code, refused.stderr) == (6, f"Error: Nothing to take back: {adores} was not undone.\n")
    ask("undo", adores, "--as-of", "2026-03-06")
    told = invoke("undo", adores, "--take-back", "--as-of", "2026-03-06")
    assert (told.exit_code, told.stdout.startswith(f"The undo of {adores} is taken back.")) == (0, True)
    kinds = [(each["kind"], each["retracted"]) for each in ask("explain", adores)["memory"]["corrections"]]
    assert kinds[0] == ("keep_apart", True) and kinds[-1] == ("retract", False)
    assert invoke("undo", adores, "--take-back").exit_code == 6
