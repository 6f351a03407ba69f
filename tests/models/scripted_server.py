"""An OpenAI-compatible chat server that answers by script, then well; a process of its own on the loopback interface.

    python tests/models/scripted_server.py      prints its port, ends with its stdin

POST /script takes the next answers, GET /requests tells what was asked since the last script, and
GET /dripping how many replies are being sent byte by byte (an answer with `drip_s`, the pause).
POST /manner says how to answer until the next script:

    fault     name of one of `FAULTS`
    every     of so many requests one has the fault, by a hash of what is asked (1)
    stubborn  whether also the repeated request has it
    counted   whether tokens are counted (a quarter of the bytes) and not 100 in and 20 out
    obey      {text: reply}: to an item in which the text stands, the fields of that reply which its good reply has too,
              or, where it has a field `raw`, that for a reply
"""

from __future__ import annotations

import json
import sys
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.models.garbling import FAULTS

#: What OpenAI answers with status 400 if a content filter refuses a text.
FILTERED = {"message": "no", "type": "invalid_request_error", "code": "content_policy_violation"}


class ScriptedServer(ThreadingHTTPServer):
    """Keeps the script and what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script: list[dict[str, Any]] = []
        self.requests: list[dict[str, Any]] = []
        self.manner: dict[str, Any] = {}
        #: Replies that are being sent byte by byte.
        self.dripping = 0
        #: Requests that have had their fault.
        self.hit: set[int] = set()
        self.lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: ScriptedServer

    def do_GET(self) -> None:
        with self.server.lock:
            if self.path == "/dripping":
                self.answer(200, {}, json.dumps(self.server.dripping).encode())
                return
            self.answer(200, {}, json.dumps(self.server.requests).encode())

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/script":
            with self.server.lock:
                self.server.script, self.server.requests, self.server.manner = body, [], {}
                self.server.hit.clear()
            self.answer(200, {}, b"{}")
            return
        if self.path == "/manner":
            self.server.manner = body
            self.answer(200, {}, b"{}")
            return
        with self.server.lock:
            answer = self.server.script.pop(0) if self.server.script else self.garbled(body)
            self.server.requests.append(body | {"at": time.time()})
        time.sleep(answer.get("hang_s", 0))
        if answer.get("status", 200) != 200:
            other = {"message": "no", "type": "no", "code": answer["status"]}
            error = {"error": FILTERED if answer["status"] == 400 and not answer.get("other") else other}
            self.answer(answer["status"], answer.get("headers", {}), json.dumps(error).encode())
            return
        content = answer.get("content", good_reply(body, self.server.manner.get("obey", {})))
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
        good["choices"] = answer.get("choices", good["choices"])
        if not answer.get("uncounted"):
            tokens = (100, 20)
            if self.server.manner.get("counted"):
                tokens = sum(tokens_of(each["content"]) for each in body["messages"]), tokens_of(content)
            good["usage"] = {
                "prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)
            }  # fmt: skip
        self.answer(200, {}, json.dumps(good).encode(), half=answer.get("half", False), drip_s=answer.get("drip_s", 0))

    def garbled(self, body: dict[str, Any]) -> dict[str, Any]:
        """What the manner makes of the answer; the lock is held."""
        manner = self.server.manner
        data = body["messages"][-1]["content"]
        asked = zlib.crc32(data.encode())
        if "fault" not in manner or asked % manner.get("every", 1):
            return {}
        if not manner.get("stubborn") and asked in self.server.hit:
            return {}
        self.server.hit.add(asked)
        return FAULTS[manner["fault"]](good_reply(body, {}))

    def drip(self, body: bytes, pause_s: float) -> None:
        """Send a byte at a time, until the client hangs up."""
        with self.server.lock:
            self.server.dripping += 1
        try:
            for byte in body:
                self.wfile.write(bytes([byte]))
                time.sleep(pause_s)
        finally:
            with self.server.lock:
                self.server.dripping -= 1

    def answer(
        self, status: int, headers: dict[str, str], body: bytes, *, half: bool = False, drip_s: float = 0
    ) -> None:
        try:
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if drip_s:
                self.drip(body, drip_s)
            else:
                self.wfile.write(body[: len(body) // 2] if half else body)
        except OSError:  # the client has given up waiting
            pass

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


def tokens_of(text: str) -> int:
    """About as many as a tokenizer makes of it."""
    return -(-len(text.encode()) // 4)


def good_reply(body: dict[str, Any], obey: dict[str, dict[str, Any]]) -> str:
    """What a model says to the items of a request: a good one, or one that obeys what stands in them."""
    content = body["messages"][-1]["content"]
    if not content.startswith("<data>"):  # a whole prompt, about one message
        return json.dumps(reply_to({"message": content}))
    data = content.removeprefix("<data>").removesuffix("</data>")
    replies = []
    for item in json.loads(data)["items"]:
        reply = reply_to(item)
        said = json.dumps(item, ensure_ascii=False)
        for text, obeyed in obey.items():
            if json.dumps(text, ensure_ascii=False)[1:-1] not in said:
                continue
            if "raw" in obeyed:
                return str(obeyed["raw"])
            reply |= {name: value for name, value in obeyed.items() if name in reply}
        replies.append({"number": item["number"]} | reply)
    return json.dumps({"replies": replies})


def reply_to(item: dict[str, Any]) -> dict[str, Any]:
    """Of a session some turns, of a theme what it keeps and its last episode, a mood, a note on a turn; else a text.

    Of three known statements and more the oldest ends.
    """
    if "turns" in item:
        told = [f"{turn['speaker']} said: {turn['text']}" for turn in item["turns"][:2]]
        return {"summary": " ".join(told), "quotes": [turn["text"] for turn in item["turns"][:2]]}
    if "episodes" in item:
        last = item["episodes"][-1]["text"]
        return {"pattern": ". ".join([*item["keep"], last]), "quotes": [last]}
    if "message" in item:
        return {"mood": "grateful", "energy": "low", "style": "casual"}
    if "known" in item:
        words = item["text"].split()[:5]
        ends = len(words) >= 3 and len(item["known"]) >= 3
        return {"over": [{"known": 1, "quote": " ".join(words), "rest": None}] if ends else []}
    if "before" in item:
        return {"notes": good_notes(item["text"])}
    if "new_observations" in item:
        said = [one["text"] for one in item["new_observations"]]
        told = " ".join(" ".join([item["current_working_memory"], *said]).split()[-200:])
        return {"updated_scaffold": {"Latest": said[-1]}, "updated_working_memory": told, "facts_to_embed": []}
    return {"text": item["text"], "weight": 0.5}


def good_notes(text: str) -> list[dict[str, Any]]:
    """One note on a turn of four words and more, with a key."""
    words = text.split()[:20]
    if len(words) < 4:
        return []
    note = {"kind": "fact", "text": f"Mentioned: {' '.join(words)}", "quote": " ".join(words)}
    fact = {"category": "identity", "key": f"said:{words[0]}", "value": " ".join(words[1:4])}
    return [note | fact | {"confidence": 0.8, "importance": 0.6}]


def main() -> None:
    """Serve until stdin closes."""
    server = ScriptedServer()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
