"""A local OpenAI-compatible embeddings server that fails on demand."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMENSIONS = 8


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the server says to one request; the default is a good reply."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    drip_s: float = 0.0  # between two bytes
    dimensions: int = DIMENSIONS
    drop: int = 0  # vectors left out
    value: float | None = None  # every number of every vector


class EmbeddingsServer(ThreadingHTTPServer):
    """Answers by script, then well; keeps what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script: list[Answer] = []
        self.requests: list[dict[str, Any]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


def vector_of(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """Not of length 1, and different for texts of different lengths."""
    return [float(len(text) * (place + 1) % 7 + 1) for place in range(dimensions)]


class _Handler(BaseHTTPRequestHandler):
    server: EmbeddingsServer

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(request)
        answer = self.server.script.pop(0) if self.server.script else Answer()
        time.sleep(answer.delay_s)
        data = [
            {
                "object": "embedding",
                "index": index,
                "embedding": [answer.value] * DIMENSIONS
                if answer.value is not None
                else vector_of(text, answer.dimensions),
            }
            for index, text in enumerate(request["input"])
        ]
        good = {
            "object": "list",
            "model": request["model"],
            "data": data[answer.drop :][::-1],  # out of order, as a provider may
            "usage": {"prompt_tokens": 1, "total_tokens": 1},
        }
        body = json.dumps(good if answer.status == 200 else {"error": {"message": "no", "type": "no"}}).encode()
        try:
            self.send_response(answer.status)
            for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if answer.drip_s:
                for byte in body:
                    self.wfile.write(bytes([byte]))
                    time.sleep(answer.drip_s)
            else:
                self.wfile.write(body)
        except OSError:  # the client has given up waiting
            pass

    def log_message(self, *_: object) -> None:
        """Stay quiet."""
