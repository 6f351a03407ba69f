"""Names of attributes and metrics: OpenTelemetry's if it has one, else a name under `reverie.`.

They are written out because the package that defines them is an extra; a test compares them with it. By the conventions
for generative AI, the operation of a recall is `retrieval`, and that of a model call `chat` or `embeddings`. The
attributes that hold texts (`gen_ai.input.messages`, `gen_ai.retrieval.query.text` and the like) are never set.
"""

from __future__ import annotations

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
REQUEST_MODEL = "gen_ai.request.model"
PROMPT_NAME = "gen_ai.prompt.name"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
TOKEN_TYPE = "gen_ai.token.type"
ERROR_TYPE = "error.type"
METHOD = "http.request.method"
ROUTE = "http.route"
STATUS = "http.response.status_code"

TENANT = "reverie.tenant.id"
STAGE = "reverie.stage.name"
RUN = "reverie.run.id"
AS_OF = "reverie.run.as_of"
DRIVER = "reverie.run.driver"
DRY_RUN = "reverie.run.dry_run"
POLICY = "reverie.policy.name"
COUNTS = "reverie.count."
COUNT_NAME = "reverie.count.name"
ITEMS = "reverie.items"

#: Histograms, in seconds, and of tokens.
REQUEST_SECONDS = "http.server.request.duration"
OPERATION_SECONDS = "gen_ai.client.operation.duration"
TOKEN_USAGE = "gen_ai.client.token.usage"
STAGE_SECONDS = "reverie.stage.duration"
#: Counter of what stages counted.
STAGE_ITEMS = "reverie.stage.items"
