"""An OpenAI-compatible chat server that answers by script, then well; a process of its own on the loopback interface.

    python tests/models/scripted_server.py      prints its port, ends with its stdin

POST /script takes the next answers, GET /requests tells what was asked since the last script.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ScriptedServer(ThreadingHTTPServer):
    """Keeps the script and what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script: list[dict[str, Any]] = []
        self.requests: list[dict[str, Any]] = []
        self.lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: ScriptedServer

    def do_GET(self) -> None:
        with self.server.lock:
            self.answer(200, {}, json.dumps(self.server.requests).encode())

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/script":
            with self.server.lock:
                self.server.script, self.server.requests = body, []
            self.answer(200, {}, b"{}")
            return
        with self.server.lock:
            answer = self.server.script.pop(0) if self.server.script else {}
            self.server.requests.append(body | {"at": time.time()})
        time.sleep(answer.get("hang_s", 0))
        if answer.get("status", 200) != 200:
            error = {"error": {"message": "no", "type": "no", "code": answer["status"]}}
            self.answer(answer["status"], answer.get("headers", {}), json.dumps(error).encode())
            return
        content = answer.get("content", good_reply(body))
        good = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": content},
                    "finish_reason": answer.get("finish", "stop"),
                }
            ],
        }
        if not answer.get("uncounted"):
            good["usage"] = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        self.answer(200, {}, json.dumps(good).encode(), half=answer.get("half", False))

    def answer(self, status: int, headers: dict[str, str], body: bytes, *, half: bool = False) -> None:
        try:
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if half else body)
        except OSError:  # the client has given up waiting
            pass

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


def good_reply(body: dict[str, Any]) -> str:
    """What a good model says to the items of a request: of a session its first turns, of a theme what it must keep and
    its last episode, else the text itself."""
    data = body["messages"][-1]["content"].removeprefix("<data>").removesuffix("</data>")
    replies = []
    for item in json.loads(data)["items"]:
        if "turns" in item:
            told = [f"{turn['speaker']} said: {turn['text']}" for turn in item["turns"][:2]]
            quotes = [turn["text"] for turn in item["turns"][:2]]
            replies.append({"number": item["number"], "summary": " ".join(told), "quotes": quotes})
        elif "episodes" in item:
            last = item["episodes"][-1]["text"]
            replies.append({"number": item["number"], "pattern": ". ".join([*item["keep"], last]), "quotes": [last]})
        else:
            replies.append({"number": item["number"], "text": item["text"], "weight": 0.5})
    return json.dumps({"replies": replies})


def main() -> None:
    """Serve until stdin closes."""
    server = ScriptedServer()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
