"""The HTTP API under `/v1`, which an application calls on every message.

- `app`: composes the application from routes, errors and middleware
- `services`: the objects that requests share, opened at start and closed at the end
- `replica`: the read replica and its lag
- `routes/`: one module per noun: request, response, and the operation between them
- `routing`: how routes are declared and served
- `access`: the tenant of a request and its permissions
- `keys`: creates, lists, revokes and checks API keys
- `edge`: the layer around every request: limits, metrics, unexpected errors
- `deadline`: the time limit of a request
- `problems`: every error as `application/problem+json`
- `answers`: JSON responses
- `fields`: fields that several requests share
- `paging`: cursors
- `journal`: logs recalls and contexts after the response
- `flusher`: moves quiet sessions to the log in a thread
- `mcp_endpoint`: `/mcp`, the same operations as tools over the Model Context Protocol
- `turn_reader`: a process that applies the rules to long texts
- `metrics`: Prometheus metrics
- `tracing`: a span for each request, if traces are on
- `documentation`: the pages of the API's documentation
"""
