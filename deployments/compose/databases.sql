-- Of the orchestrators; theirs to fill.
create database dagster;
create database prefect;
