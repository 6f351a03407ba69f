"""Calls of language models: cached, paced, metered and priced.

- `asking`: a prompt asked about many inputs
- `inputs`: what goes in
- `answers`: what comes out
- `requests`: one request
- `pacing`: one pace for all processes
- `reply_cache`: replies that are kept
- `metering`: what a request costs, booked before it is sent
- `spending`: costs reported, credits set
"""
