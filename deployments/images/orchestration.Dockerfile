# The orchestrators with the engine and the code that they load. From the root of a checkout:
#   docker build -f deployments/images/orchestration.Dockerfile -t reverie-orchestration:0.1.0 .
# dagster-k8s launches each run, which works one bucket, in a pod of its own.
FROM python:3.11-slim-bookworm AS build
ARG EXTRAS=dagster,dbt,prefect,quality,report,webhooks
RUN pip install --no-cache-dir uv
WORKDIR /src
COPY pyproject.toml requirements.lock hatch_build.py README.md LICENSE ./
COPY reverie reverie
COPY sql sql
COPY prompts prompts
RUN uv venv /app \
    && uv pip install --python /app/bin/python --no-cache --compile-bytecode -c requirements.lock \
        ".[${EXTRAS}]" "dagster-k8s>=0.29.27,<0.29.28"

FROM python:3.11-slim-bookworm
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin reverie \
    && install -d -o 10001 /srv/dagster /srv/prefect
COPY --from=build /app /app
WORKDIR /srv/reverie
COPY assets assets
COPY dbt dbt
COPY docs docs
COPY flows flows
COPY resources resources
COPY deployments deployments
COPY deployments/dagster.yaml /srv/dagster/dagster.yaml
ENV PATH=/app/bin:$PATH PYTHONPATH=/srv/reverie PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    DAGSTER_HOME=/srv/dagster PREFECT_HOME=/srv/prefect DO_NOT_TRACK=1
USER 10001
EXPOSE 3000 4200
CMD ["dagster-webserver", "-h", "0.0.0.0", "-p", "3000", "-w", "deployments/workspace.yaml"]
