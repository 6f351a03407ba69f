"""Processes for the tests: one asks and is killed by its test, one takes turns as fast as it may.

python -m tests.models.dying ask URL ADDRESS        asks for `a`, tenant acme
python -m tests.models.dying turns URL SECONDS      prints the times of its turns, 20 a second
"""

from __future__ import annotations

import sys
import time

from reverie.inference.completions import HostedLanguageModel, Limits
from reverie.llm.asking import ModelCaller, ask
from reverie.llm.metering import Payer
from reverie.llm.pacing import wait_for_slot
from reverie.store.database import Store
from tests.models.conftest import PRICE, PROMPT, inputs


def main(what: str, url: str, more: str) -> None:
    """Do it."""
    payer = Payer(tenant_id="acme", stage="test")
    with Store.open(url, size=2) as store:
        if what == "ask":
            model = HostedLanguageModel("openai/ours", api_base=more, price=PRICE)
            ask(ModelCaller(store=store, payer=payer), model, PROMPT, inputs("a"))
            return
        model = HostedLanguageModel("openai/ours", limits=Limits(per_second=20))
        print("ready", flush=True)
        sys.stdin.readline()
        until = time.time() + float(more)
        while time.time() < until:
            wait_for_slot(store, payer.tenant_id, model)
            print(time.time(), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
