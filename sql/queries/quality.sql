-- name: discards
-- Turns by result and week: `kept`, or the reason why they gave nothing. Week 0 is the last seven days.
select part, week, count(*)::float8, sum(count(*)) over (partition by week)::bigint
from (select coalesce(x.reason, 'kept') as part, floor(extract(epoch from %(as_of)s - t.said_at) / 604800)::int as week
      from log.turns t
      join memory.extractions x on x.tenant_id = t.tenant_id and x.turn_id = t.id
      where t.tenant_id = %(tenant)s and t.said_at > %(as_of)s - interval '63 days' and t.said_at <= %(as_of)s) read
group by part, week

-- name: languages
-- User turns by script and week; Latin script with a frequent English word counts as english. The texts stay here.
select part, week, count(*)::float8, sum(count(*)) over (partition by week)::bigint
from (select floor(extract(epoch from %(as_of)s - said_at) / 604800)::int as week,
             case when start ~ '[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]' then 'east_asian'
                  when start ~ '[\u0400-\u052f]' then 'cyrillic'
                  when start ~ '[\u0600-\u06ff]' then 'arabic'
                  when start ~ '[\u0590-\u05ff]' then 'hebrew'
                  when start ~ '[\u0900-\u0dff]' then 'indic'
                  when start ~ '[\u0e00-\u0eff]' then 'thai_or_lao'
                  when start ~ '[\u0370-\u03ff]' then 'greek'
                  when start ~* '\m(the|and|you|my|that|what|have|with|this|are|for|how|but|i''m|it''s)\M' then 'english'
                  when start ~ '[[:alpha:]]' then 'other_latin'
                  else 'no_letters' end as part
      from (select said_at, left(text, 400) as start from log.turns
            where tenant_id = %(tenant)s and role = 'user' and text <> ''
              and said_at > %(as_of)s::timestamptz - interval '63 days' and said_at <= %(as_of)s::timestamptz) said) read
group by part, week

-- name: moods
-- Messages by mood and week.
select part, week, count(*)::float8, sum(count(*)) over (partition by week)::bigint
from (select mood as part, floor(extract(epoch from %(as_of)s - said_at) / 604800)::int as week
      from memory.moods
      where tenant_id = %(tenant)s and said_at > %(as_of)s - interval '63 days' and said_at <= %(as_of)s) told
group by part, week

-- name: growth
-- Memories from turns, by the week in which the turn was said; forgotten ones count too, because their id has the time, and by
-- their lineage they are those that counted before: made from a turn, and not merged.
with turns as (
    select floor(extract(epoch from %(as_of)s - t.said_at) / 604800)::int as week, count(*) as turns
    from log.turns t
    join memory.extractions x on x.tenant_id = t.tenant_id and x.turn_id = t.id
    where t.tenant_id = %(tenant)s and t.said_at > %(as_of)s - interval '63 days' and t.said_at <= %(as_of)s
    group by 1
), formed as (
    select floor(extract(epoch from %(as_of)s - happened_at) / 604800)::int as week, count(*) as memories
    from (select happened_at from memory.memories
          where tenant_id = %(tenant)s and turn_id is not null and state not in ('candidate', 'merged')
            and happened_at > %(as_of)s - interval '63 days' and happened_at <= %(as_of)s
          union all
          -- the time before the look-ups in lineage, because tombstones accumulate
          select f.happened_at
          from (select memory_id, kind,
                       to_timestamp(('x' || left(replace(memory_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0) as happened_at
                from memory.tombstones
                where tenant_id = %(tenant)s) f
          where f.happened_at > %(as_of)s - interval '63 days' and f.happened_at <= %(as_of)s
            and kind in ('fact', 'preference', 'instruction', 'episode')
            and exists (select from memory.lineage l
                        where l.tenant_id = %(tenant)s and l.memory_id = f.memory_id and l.relation = 'extracted'
                          and l.source = 'turn')
            and not exists (select from memory.lineage l
                            where l.tenant_id = %(tenant)s and l.source_id = f.memory_id and l.relation = 'merged'
                              and l.source = 'memory')) made (happened_at)
    group by 1
)
select 'memories', turns.week, coalesce(formed.memories, 0)::float8, turns.turns
from turns
left join formed on formed.week = turns.week

-- name: repeats
-- New memories that repeat an earlier one of their subject and kind word for word, by week.
select 'repeated', floor(extract(epoch from %(as_of)s - happened_at) / 604800)::int,
       count(*) filter (where nth > 1)::float8, count(*)
from (select happened_at, row_number() over (partition by subject_id, kind, content_hash order by happened_at, id) as nth
      from memory.memories
      where tenant_id = %(tenant)s and state = 'active' and kind in ('fact', 'preference', 'instruction', 'episode')) numbered
where happened_at > %(as_of)s - interval '63 days' and happened_at <= %(as_of)s
group by 2

-- name: importance
-- Active memories by fifth of importance, as they are now.
select (array['0 to 0.2', '0.2 to 0.4', '0.4 to 0.6', '0.6 to 0.8', '0.8 to 1'])[fifth], 0, count(*)::float8,
       sum(count(*)) over ()::bigint
from (select least(width_bucket(importance::float8, 0, 1, 5), 5) as fifth from memory.memories
      where tenant_id = %(tenant)s and state = 'active') active
group by fifth

-- name: vector_norms
-- For each model the norm farthest from 1, and the number of vectors.
select model, 0, (array[min(norm), max(norm)])[case when 1 - min(norm) > max(norm) - 1 then 1 else 2 end], count(*)
from (select model, l2_norm(vec) as norm from memory.vectors where tenant_id = %(tenant)s) vectors
group by model

-- name: vector_dimensions
-- For each model the number of different dimensions among its vectors, and the number of vectors.
select model, 0, count(distinct vector_dims(vec))::float8, count(*)
from memory.vectors
where tenant_id = %(tenant)s
group by model

-- name: empty_recalls
-- Recalls that found nothing, by week.
select 'empty', floor(extract(epoch from %(as_of)s - asked_at) / 604800)::int,
       count(*) filter (where cardinality(item_ids) = 0)::float8, count(*)
from log.recalls
where tenant_id = %(tenant)s and asked_at > %(as_of)s - interval '63 days' and asked_at <= %(as_of)s
group by 2

-- name: earlier_measures
-- The results of each earlier week's last check, for a gate whose history no table has.
select part, week, value * size, size
from (select part, value, size, floor(extract(epoch from %(as_of)s - as_of) / 604800)::int as week,
             as_of = max(as_of) over (partition by floor(extract(epoch from %(as_of)s - as_of) / 604800)) as latest
      from ops.measures
      where tenant_id = %(tenant)s and gate = %(gate)s
        and as_of > %(as_of)s - interval '63 days' and as_of <= %(as_of)s - interval '7 days') earlier
where latest

-- name: reached
-- The latest logical time of a run of the tenant, without runs as of a time that had not come; null: there was none.
select max(as_of) from ops.runs where tenant_id = %(tenant)s and status = 'done' and as_of <= finished_at

-- name: forget_measures
-- Delete rows of these gates of an earlier check at the same time, and those that no week needs any more.
delete from ops.measures
where tenant_id = %(tenant)s
  and (as_of = %(as_of)s and gate = any(%(gates)s::text[]) or as_of < %(as_of)s - interval '90 days')

-- name: write_measures
-- Write the rows of one check.
insert into ops.measures
    (tenant_id, as_of, check_id, gate, part, value, size, usual, margin, lowest, highest, weeks)
select %(tenant)s, %(as_of)s, %(check_id)s, gate, part, value, size, usual, margin, lowest, highest, weeks
from unnest(%(gate)s::text[], %(part)s::text[], %(value)s::float8[], %(size)s::bigint[], %(usual)s::float8[],
            %(margin)s::float8[], %(lowest)s::float8[], %(highest)s::float8[], %(weeks)s::smallint[])
         as rows (gate, part, value, size, usual, margin, lowest, highest, weeks)

-- name: validated
-- One check and gate as Great Expectations reads them, in the role that reads all tenants and no content. A deviation of 1
-- is as far above the usual value as is allowed; without enough history there is none.
select tenant_id, part, value, usual, margin, (value - usual) / margin as deviation, size, weeks
from ops.measures
where tenant_id = any(%(tenants)s::text[]) and check_id = %(check_id)s and gate = %(gate)s
