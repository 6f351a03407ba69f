"""The reply cache: replies by tenant, model, prompt and input, so that nothing is asked or paid for twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Generic, TypeVar
from uuid import UUID

from psycopg import Connection
from pydantic import ValidationError

from reverie.inference.prompts import Prompt
from reverie.inference.replies import Reply
from reverie.llm.inputs import PromptInput
from reverie.store.database import Store
from reverie.store.queries import queries

R = TypeVar("R", bound=Reply)


class ReplyCache(Generic[R]):
    """The kept replies of one tenant, model and prompt."""

    def __init__(self, tenant_id: str, model_key: str, prompt: Prompt[R]) -> None:
        self._reply = prompt.reply
        self._key = {"tenant": tenant_id, "model": model_key, "prompt_hash": prompt.hash}

    def read(self, conn: Connection[Any], hashes: Sequence[bytes]) -> dict[bytes, R]:
        """Return the kept replies by input hash; one that no longer fits its schema counts as missing."""
        rows = conn.execute(queries("calls")["read_replies"], self._key | {"input_hashes": list(hashes)})
        replies: dict[bytes, R] = {}
        for hash_, reply in rows:
            with suppress(ValidationError):  # the error quotes the reply
                replies[hash_] = self._reply.model_validate(reply)
        return replies

    def keep(
        self, conn: Connection[Any], call_id: UUID, inputs: Mapping[bytes, PromptInput], replies: Mapping[bytes, R]
    ) -> dict[bytes, R]:
        """Keep new replies in the caller's transaction; return those that count.

        Another process may have been faster, and then its reply is the one that counts.
        """
        params = {
            "input_hashes": list(replies),
            "subject_ids": [inputs[hash_].subject_id for hash_ in replies],
            "source_ids": [",".join(map(str, inputs[hash_].source_ids)) for hash_ in replies],
            "replies": [reply.model_dump_json() for reply in replies.values()],
            "call_id": call_id,
        }
        conn.execute(queries("calls")["keep_replies"], self._key | params)
        kept = self.read(conn, list(replies))
        return {hash_: kept.get(hash_, reply) for hash_, reply in replies.items()}


def forget_replies(store: Store, *, tenant_id: str, subject_id: str, source_id: UUID | None = None) -> int:
    """Delete the kept replies about a subject, or those to requests with one turn, memory or event; return how many.

    The memories made from them stay; asking again costs again.
    """
    params = {"tenant": tenant_id, "subject": subject_id, "source_id": source_id}
    with store.transaction(tenant_id) as conn:
        return conn.execute(queries("calls")["forget_replies"], params).rowcount
