"""A request of a webhook, over HTTP."""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from uuid import uuid4

import orjson
import pytest
from standardwebhooks import Webhook
from standardwebhooks.webhooks import WebhookVerificationError

from reverie.drive.deliver import sending
from reverie.drive.deliver.delivering import deliver
from reverie.drive.deliver.sending import OutgoingMessage, send_by_http
from reverie.store.database import Store
from tests.consolidate.outbox import NOW, add_trigger, subscribe

#: The receiver listens on this machine.
ALLOWED = ("127.0.0.1",)


class Endless(BaseHTTPRequestHandler):
    """Answers for ever: that it is working on it, or one byte of a header at a time."""

    part, pause = b"HTTP/1.1 102 Processing\r\n\r\n", 0.0

    def do_POST(self) -> None:
        until = time.monotonic() + 10  # a test without the deadline ends as well
        with suppress(OSError):
            while time.monotonic() < until:
                self.wfile.write(self.part)
                time.sleep(self.pause)
        self.close_connection = True

    def log_message(self, *_: Any) -> None: ...


class Slow(Endless):
    """Sends the letters of a status line that never ends."""

    part, pause = b"H", 0.05


@contextmanager
def listening() -> Iterator[tuple[str, list[tuple[dict[str, str], bytes]]]]:
    came: list[tuple[dict[str, str], bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            came.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    with serving(Handler) as url:
        yield url, came


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/hook"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def message(url: str) -> OutgoingMessage:
    return OutgoingMessage(
        id=uuid4(),
        subscription_id=uuid4(),
        url=url,
        secret=f"whsec_{base64.b64encode(bytes(32)).decode()}",
        payload={},
        attempts=1,
    )


@pytest.mark.parametrize(("allowed", "answer"), [((), "ConnectError"), (("hooks..example.com",), "UnicodeError")])
def test_a_host_that_cannot_exist_is_a_failed_attempt(allowed: tuple[str, ...], answer: str) -> None:
    assert send_by_http(message("https://hooks..example.com/x"), NOW, private_hosts=allowed) == answer


@pytest.mark.parametrize("handler", [Endless, Slow])
def test_a_receiver_that_never_ends_its_answer_is_left(
    handler: type[BaseHTTPRequestHandler], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "DEADLINE", 0.5)
    began = time.monotonic()
    with serving(handler) as url:
        assert send_by_http(message(url), NOW, private_hosts=ALLOWED) == "ReadTimeout"
    assert time.monotonic() - began < 5


def test_a_request_is_signed_so_that_any_library_verifies_it(tenant: Store) -> None:
    with listening() as (url, came):
        _, secret = subscribe(tenant, "trigger.due", url=url, allowed=ALLOWED)
        add_trigger(tenant)
        refused = deliver(tenant, "t", as_of=NOW, clock=lambda: datetime.now(UTC) - timedelta(hours=1))
        assert (refused["failed"], came) == (1, []), "the address is not public, and the setting is gone"
        send = partial(send_by_http, private_hosts=ALLOWED)
        counts = deliver(tenant, "t", as_of=NOW, clock=lambda: datetime.now(UTC), send=send)
    assert counts["delivered"] == 1
    ((headers, body),) = came
    assert Webhook(secret).verify(body, headers)["type"] == "trigger.due"
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(body.replace(b"silence", b"check_in"), headers)
    assert orjson.loads(body)["data"]["why"] == {"expected_hours": 3}
