"""Who gets in, what each page is protected by, and that a key sees its own tenant alone."""

from __future__ import annotations

import httpx
import pytest

from tests.inspector.conftest import Site, token_of

pytestmark = pytest.mark.xdist_group("inspector")

PAGES = (
    "tenant",
    "subjects",
    "recall",
    "context",
    "conflicts",
    "triggers",
    "reviews",
    "letters",
    "runs",
    "costs",
    "generations",
    "audit",
)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_opens(admin: httpx.Client, page: str) -> None:
    answer = admin.get(page, params={"tenant": "acme"})
    assert answer.status_code == 200, answer.text
    assert "<h1>" in answer.text


def test_pages_have_strict_headers(admin: httpx.Client) -> None:
    for path in ("subjects", "static/inspector.css", "sign-in", "no-such-page"):
        headers = admin.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "script-src" not in policy
        assert headers["x-content-type-options"] == "nosniff"
    assert admin.get("subjects").headers["cache-control"] == "no-store"


def test_a_key_sees_no_other_tenant(site: Site) -> None:
    with site.signed_in("other") as client:
        for page in PAGES:
            answer = client.get(page, params={"tenant": "acme"})
            assert answer.status_code == 404 and "ann" not in answer.text
        assert client.get("subject", params={"subject": "ann"}).status_code == 404
        assert "carol" in client.get("subjects").text


def test_the_operator_sees_every_tenant(site: Site) -> None:
    with site.signed_in("operator") as client:
        page = client.get("").text
        assert "acme" in page and "globex" in page
        assert "carol" in client.get("subjects", params={"tenant": "globex"}).text
        assert client.get("subjects", params={"tenant": "none"}).status_code == 404


def test_a_key_that_may_read_corrects_and_erases_nothing(site: Site) -> None:
    with site.signed_in("reader") as client:
        page = client.get("subjects").text
        assert "Runs" not in page
        assert client.get("erase", params={"kind": "subject", "subject": "ann"}).status_code == 403
        form = {"token": token_of(page), "kind": "wrong", "memory": "019cf0a0-0000-8000-8000-000000000000"}
        assert client.post("amend", data=form).status_code == 403


def test_a_form_of_another_page_or_site_is_refused(admin: httpx.Client) -> None:
    form = {"kind": "subject", "subject": "ann", "confirm": "ann"}
    assert admin.post("erase", data=form).status_code == 400
    assert admin.post("erase", data=form | {"token": "made-up"}).status_code == 400
    form["token"] = token_of(admin.get("subjects").text)
    evil = admin.post("erase", data=form, headers={"Origin": "https://evil.example"})
    assert evil.status_code == 400 and "another site" in evil.text
    assert admin.post("erase", json=form).status_code == 400
    assert "ann" in admin.get("subjects").text


def test_what_people_said_is_no_markup(site: Site, admin: httpx.Client) -> None:
    answer = admin.get("subjects", params={"search": "<script>alert(1)</script>"})
    assert "<script>" not in answer.text and "&lt;script&gt;" in answer.text


def test_a_mistake_is_told_in_a_sentence(admin: httpx.Client) -> None:
    for page, params, status in (
        ("subject", {"subject": "nobody"}, 404),
        ("subject", {}, 422),
        ("subject", {"subject": "ann", "as_of": "yesterday"}, 422),
        ("subject", {"subject": "ann", "view": "none"}, 422),
        ("memory", {"memory": "zz"}, 422),
        ("item", {"id": "019cf0a0-0000-8000-8000-000000000000"}, 404),
        ("erase", {"kind": "everything"}, 422),
        ("none", {}, 404),
    ):
        answer = admin.get(page, params=params)
        assert answer.status_code == status and 'role="alert"' in answer.text, page
