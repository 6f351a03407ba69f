"""Calls to language models: cached, paced, metered and priced.

- `asking`: asks a prompt about many inputs
- `inputs`: the inputs of a prompt
- `answers`: the answers of a model
- `requests`: sends one request
- `pacing`: one rate for all processes
- `reply_cache`: keeps replies
- `metering`: books the cost of a request before it is sent
- `spending`: reports costs and sets credits
"""
