# The engine: API, worker and migrations. No orchestrator is in it. From the root of a checkout:
#   docker build -f deployments/images/engine.Dockerfile -t reverie:0.1.0 .
# EXTRAS=api,litellm for hosted models, EXTRAS=api,mcp for /mcp; REVERIE_EMBEDDING_MODEL=sentence-transformers/... needs an image of your own.
FROM python:3.11-slim-bookworm AS build
ARG EXTRAS=api
RUN pip install --no-cache-dir uv
WORKDIR /src
COPY pyproject.toml requirements.lock hatch_build.py README.md LICENSE ./
COPY reverie reverie
COPY sql sql
COPY prompts prompts
COPY clients/python clients/python
# at the versions of the lock; compiled here, since the container cannot write beside its code; /mcp uses the client
RUN uv venv /app \
    && case ",${EXTRAS}," in *,mcp,*) client=./clients/python ;; esac \
    && uv pip install --python /app/bin/python --no-cache --compile-bytecode -c requirements.lock \
        ".[${EXTRAS}]" ${client}

FROM python:3.11-slim-bookworm
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin reverie
COPY --from=build /app /app
ENV PATH=/app/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 10001
EXPOSE 8080
ENTRYPOINT ["reverie"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8080"]
