{#- The day in UTC of a time. -#}
{% macro day_of(time) %}({{ time }} at time zone 'UTC')::date{% endmacro %}

{#- The event time in an id: ids begin with Unix milliseconds (reverie/model/ids.py). -#}
{% macro time_of_id(id) -%}
to_timestamp(('x' || left(replace({{ id }}::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
{%- endmacro %}

{#- Hours between two times. -#}
{% macro hours(since, until) %}{{ rounded('extract(epoch from ' ~ until ~ ' - ' ~ since ~ ') / 3600') }}{% endmacro %}
