"""Calls of language models: cached, paced, metered and priced.

`asking` asks a prompt about many inputs; `inputs` and `answers` are what goes in and what comes out. Behind it
`requests` sends one request, `pacing` keeps all processes at one pace, `reply_cache` keeps replies, and `metering`
books what each request costs. `spending` reports the costs and sets credits.
"""
