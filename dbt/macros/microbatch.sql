{#- Replaces the rows of a batch. dbt's own macro for Postgres merges, which keeps rows whose source is gone: those of an
    erased tenant, and of a run that a retry moved to another day. -#}
{% macro postgres__get_incremental_microbatch_sql(arg_dict) %}
{%- set target, config = arg_dict['target_relation'], model.config -%}
{%- set columns = get_quoted_csv(arg_dict['dest_columns'] | map(attribute='name')) -%}
{%- set since = "'" ~ config.__dbt_internal_microbatch_event_time_start ~ "'::timestamptz" -%}
{%- set until = "'" ~ config.__dbt_internal_microbatch_event_time_end ~ "'::timestamptz" -%}
delete from {{ target }}
where {{ config.event_time }} >= {{ day_of(since) }} and {{ config.event_time }} < {{ day_of(until) }};
insert into {{ target }} ({{ columns }}) select {{ columns }} from {{ arg_dict['temp_relation'] }}
{% endmacro %}
