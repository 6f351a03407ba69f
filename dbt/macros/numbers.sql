{#- A share from 0 to 1, or null where there is nothing to share. -#}
{% macro share(part, whole) %}{{ rounded('(' ~ part ~ ')::numeric / nullif(' ~ whole ~ ', 0)') }}{% endmacro %}

{#- A number with four decimals: the columns behind it are single precision, and people read it. -#}
{% macro rounded(number) %}round(({{ number }})::numeric, 4)::double precision{% endmacro %}
