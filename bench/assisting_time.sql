-- large: a turn every five minutes; every tenth calls a tool and has an outcome; a memory for every hundredth
insert into log.turns (tenant_id, id, subject_id, session_id, source_id, turn_index, role, said_at, text, tool_calls, content_hash)
select %(tenant)s, (lpad(to_hex(1767225600000 + n * 300000::bigint), 12, '0') || substr(md5(n::text), 1, 20))::uuid, 'large',
       's' || n / 20, n::text, n, case when n %% 2 = 0 then 'user' else 'assistant' end,
       '2026-01-01Z'::timestamptz + n * interval '5 minutes', 'Turn number ' || n,
       case when n %% 10 = 1 then jsonb_build_array(jsonb_build_object('name', 'tool' || n %% 70)) end, ''
from generate_series(0, %(number)s - 1) n;

insert into log.outcomes (tenant_id, id, subject_id, session_id, source_id, metric, value, positive, observed_at)
select tenant_id, gen_random_uuid(), subject_id, session_id, source_id, 'served', 1, true, said_at
from log.turns where tenant_id = %(tenant)s and tool_calls is not null;

insert into memory.memories (tenant_id, id, subject_id, kind, state, content, content_hash, base, peak, importance, happened_at,
                             accessed_at, decayed_at, origin, run_id, policy_hash)
select %(tenant)s, (lpad(to_hex(1767225600000 + n * 300000::bigint), 12, '0') || substr(md5('m' || n), 1, 20))::uuid, 'large', 'fact',
       'active', 'Fact ' || n, '', .7, .7, .7, x.at, x.at, x.at, 'bench', gen_random_uuid(), 'p'
from generate_series(1, %(number)s / 100) n
cross join lateral (select '2026-01-01Z'::timestamptz + n * interval '5 minutes' as at) x;

insert into memory.vectors (tenant_id, subject_id, model, item_id, part, item, live, vec)
select %(tenant)s, 'large', %(model)s, i.id, 0, i.item, true,
       l2_normalize((select array_agg(random() - .5) from generate_series(1, 384) where i.id is not null)::real[]::halfvec)
from (select id, 'turn' as item from log.turns where tenant_id = %(tenant)s
      union all select id, 'memory' from memory.memories where tenant_id = %(tenant)s) i;

insert into memory.subjects (tenant_id, subject_id) values (%(tenant)s, 'large');

update ops.tenants set model = %(model)s where tenant_id = %(tenant)s

-- many: subjects with ten memories and five structured facts
insert into memory.subjects (tenant_id, subject_id) select %(tenant)s, 'p' || s from generate_series(1, %(number)s) s;

insert into memory.memories (tenant_id, id, subject_id, kind, state, content, content_hash, base, peak, importance, happened_at,
                             accessed_at, decayed_at, origin, run_id, policy_hash)
select %(tenant)s, gen_random_uuid(), 'p' || s, 'preference', 'active', 'Likes ' || n, '', .7, .7, .7, x.at, x.at, x.at, 'bench',
       gen_random_uuid(), 'p'
from generate_series(1, %(number)s) s, generate_series(1, 10) n
cross join lateral (select '2026-01-01Z'::timestamptz + n * interval '5 minutes' as at) x;

insert into memory.structured_facts (tenant_id, id, subject_id, category, key, value, confidence, importance, valid_from, memory_id,
                                     origin, run_id, policy_hash)
select %(tenant)s, gen_random_uuid(), 'p' || s, 'identity', 'key' || n, 'value', 1, 1, '2026-01-01Z', gen_random_uuid(), 'bench',
       gen_random_uuid(), 'p'
from generate_series(1, %(number)s) s, generate_series(1, 5) n
