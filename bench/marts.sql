-- Rows for bench/marts.py, statement by statement; the first is given its numbers.

-- turns
-- %(count)s turns from number %(first)s on, spread over %(days)s days from %(start)s on.
insert into log.turns
    (tenant_id, id, subject_id, session_id, source_id, turn_index, role, said_at, text, content_hash, recorded_at)
select 't' || s %% 10, pg_temp.stable_id(at, 't' || i), 's' || s, 'd' || i / 20, i::text, 0,
       case i %% 2 when 0 then 'user' else 'assistant' end, at, 'x', '', case when %(late)s then now() else at end
from (select i, i %% 1000 as s, %(start)s + (i - %(first)s)::float8 / %(count)s * %(days)s * interval '1 day' as at
      from generate_series(%(first)s, %(first)s + %(count)s - 1) i) x;

-- id
-- As reverie/model/ids.py makes them: milliseconds, and a hash.
create function pg_temp.stable_id(at timestamptz, salt text) returns uuid language sql immutable as $$
    select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '8' || substr(md5(salt), 1, 3) || 'a'
            || substr(md5(salt), 4, 15))::uuid $$;

-- tenants
insert into ops.tenants (tenant_id) select 't' || i from generate_series(0, 9) i;

-- extractions
insert into memory.extractions (tenant_id, turn_id, subject_id, candidates, reason, run_id)
select tenant_id, id, subject_id, case role when 'user' then 2 else 0 end, case role when 'user' then null else 'role' end, id
from log.turns;

-- memories
-- Four of five turns give one; of a hundred 15 are merged, 3 superseded, 20 compressed.
insert into memory.memories
    (tenant_id, id, happened_at, accessed_at, decayed_at, forget_at, base, peak, importance, kind, state, subject_id, turn_id,
     content, content_hash, origin, run_id, policy_hash, valid_from, valid_to)
select tenant_id, pg_temp.stable_id(said_at, 'm' || id), said_at, said_at, said_at, said_at + interval '90 days', .7, .7, random(),
       (array['episode', 'fact', 'episode', 'preference', 'episode'])[1 + n % 5],
       case when n % 100 < 15 then 'merged' when n % 100 < 18 then 'superseded' when n % 100 < 38 then 'compressed'
            else 'active' end,
       subject_id, id, 'x', '', 'bench', id, 'x', said_at,
       case when n % 100 between 15 and 17 then said_at + interval '9 days' end
from (select t.*, row_number() over (order by t.tenant_id, t.id) as n from log.turns t) t
where n % 5 < 4;

-- lineage
insert into memory.lineage (tenant_id, memory_id, relation, source, source_id, as_of, run_id)
select tenant_id, id, 'extracted', 'turn', turn_id, happened_at, run_id from memory.memories
union all
select tenant_id, gen_random_uuid(), state, 'memory', id, happened_at + interval '2 days', run_id
from memory.memories where state in ('merged', 'compressed');

-- tombstones
insert into memory.tombstones
    (tenant_id, memory_id, subject_id, kind, content_hash, importance, reason, forgotten_at, run_id)
select tenant_id, pg_temp.stable_id(happened_at, 'f' || id), subject_id, 'episode', '', .1, 'faded',
       happened_at + interval '87 days', run_id
from memory.memories where state = 'compressed';

-- recalls
insert into log.recalls (tenant_id, id, subject_id, asked_at, question, policy_hash, item_ids, dropped)
select tenant_id, gen_random_uuid(), subject_id, said_at, 'x', 'x',
       case when random() < .1 then '{}' else array_fill(id, array[10]) end, 5
from log.turns tablesample system (20);

-- runs
-- Ninety days of four cycles a day, as the ledger is kept.
insert into ops.runs (tenant_id, run_id, stage, as_of, driver, policy, policy_hash, status, finished_at)
select tenant_id, gen_random_uuid(), stage, at, 'bench', 'reverie', 'x', 'done', at + interval '1 minute'
from ops.tenants, unnest(array['extract', 'embed', 'merge', 'link', 'facts', 'score', 'prune']) stage,
     generate_series(now() - interval '90 days', now(), interval '6 hours') at;
