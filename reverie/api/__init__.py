"""The HTTP API, under `/v1`: what an application calls on every message.

- `app`: composes the application from routes, errors and middleware
- `services`: what requests share, made at start and closed at the end
- `replica`: the read replica, and how far it is behind
- `routes/`: one module a noun: request, response, and the operation between them
- `routing`: how routes are declared and served
- `access`: the tenant of a request and its permissions
- `keys`: API keys: made, listed, revoked, checked
- `edge`: around every request: limits, metrics, unexpected errors
- `deadline`: the time limit of a request
- `problems`: every error as `application/problem+json`
- `answers`: JSON responses
- `fields`: fields that several requests share
- `paging`: cursors
- `journal`: recalls and contexts logged after the response
- `flusher`: moves quiet sessions to the log in a thread
- `mcp_endpoint`: `/mcp`, the same operations as tools over the Model Context Protocol
- `turn_reader`: a process that applies the rules to long texts
- `metrics`: Prometheus metrics
- `tracing`: a span for each request, where traces are on
- `documentation`: the pages of the API's documentation
"""
