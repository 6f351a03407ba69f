#!/bin/sh
# When the volume is new: databases of the orchestrators, theirs to fill, and Grafana's login, which reads the marts and no
# content (docs/marts.md).
set -eu
psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d "$POSTGRES_DB" -v given="$GRAFANA_PASSWORD" <<'SQL'
create database dagster;
create database prefect;
create role reverie_analyst nologin;
create role grafana login password :'given' in role reverie_analyst;
SQL
