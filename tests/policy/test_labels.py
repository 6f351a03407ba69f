"""How tables show a policy."""

from reverie.policy import policy_label


def test_a_file_is_shown_without_its_folders() -> None:
    assert policy_label("/srv/company/policies/support.toml") == "support.toml"
    assert policy_label("contact") == "contact"
