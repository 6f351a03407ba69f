"""Our names of attributes are those of OpenTelemetry's package, and none of them holds a text."""

from __future__ import annotations

from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as ai
from opentelemetry.semconv._incubating.metrics import gen_ai_metrics
from opentelemetry.semconv.attributes import error_attributes, http_attributes
from opentelemetry.semconv.metrics import http_metrics

from reverie.telemetry import names


def test_names_are_those_of_the_conventions() -> None:
    same = {
        names.OPERATION: ai.GEN_AI_OPERATION_NAME,
        names.PROVIDER: ai.GEN_AI_PROVIDER_NAME,
        names.REQUEST_MODEL: ai.GEN_AI_REQUEST_MODEL,
        names.PROMPT_NAME: ai.GEN_AI_PROMPT_NAME,
        names.INPUT_TOKENS: ai.GEN_AI_USAGE_INPUT_TOKENS,
        names.OUTPUT_TOKENS: ai.GEN_AI_USAGE_OUTPUT_TOKENS,
        names.TOKEN_TYPE: ai.GEN_AI_TOKEN_TYPE,
        names.ERROR_TYPE: error_attributes.ERROR_TYPE,
        names.METHOD: http_attributes.HTTP_REQUEST_METHOD,
        names.ROUTE: http_attributes.HTTP_ROUTE,
        names.STATUS: http_attributes.HTTP_RESPONSE_STATUS_CODE,
        names.REQUEST_SECONDS: http_metrics.HTTP_SERVER_REQUEST_DURATION,
        names.OPERATION_SECONDS: gen_ai_metrics.GEN_AI_CLIENT_OPERATION_DURATION,
        names.TOKEN_USAGE: gen_ai_metrics.GEN_AI_CLIENT_TOKEN_USAGE,
    }
    assert {ours: theirs for ours, theirs in same.items() if ours != theirs} == {}
    others = {value for name, value in vars(names).items() if name.isupper() and type(value) is str} - set(same)
    assert all(value.startswith("reverie.") for value in others)
    operations = {each.value for each in ai.GenAiOperationNameValues}
    assert {"retrieval", "chat", "embeddings"} <= operations
    texts = {ai.GEN_AI_INPUT_MESSAGES, ai.GEN_AI_OUTPUT_MESSAGES, ai.GEN_AI_RETRIEVAL_QUERY_TEXT}
    assert texts.isdisjoint(value for value in vars(names).values() if type(value) is str)
