{#- A share is from 0 to 1, or null where there is nothing to share. -#}
{% test share(model, column_name) %}
select {{ column_name }} from {{ model }} where {{ column_name }} < 0 or {{ column_name }} > 1
{% endtest %}
