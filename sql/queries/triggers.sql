-- name: page_triggers
-- A page of triggers, the next due first: those due at a time or all, of one subject or all.
select g.id, g.subject_id, g.kind, g.audience, g.happened_at, g.due_at, g.until_at, g.why, g.turn_id, g.withheld,
       a.action, a.acted_at, a.actor
from memory.triggers g
left join log.acknowledgements a on a.tenant_id = g.tenant_id and a.trigger_id = g.id and a.acted_at <= %(as_of)s
where g.tenant_id = (select %(tenant)s::text) and (%(subject)s::text is null or g.subject_id = %(subject)s)
  and (%(every)s::boolean or (g.due_at <= %(as_of)s and g.until_at > %(as_of)s and g.withheld is null and a.trigger_id is null))
  and g.happened_at <= %(as_of)s
  and (%(due_at)s::timestamptz is null or (g.due_at, g.id) > (%(due_at)s::timestamptz, %(after)s::uuid))
order by g.due_at, g.id
limit %(limit)s

-- name: standing
-- A subject's tie, its open difficult period and the stages of the relationship, at a time.
select t.day, t.zone, t.band_start, t.band_half_hours, t.band_share, t.band_since, t.gap_p50, t.gap_p95, t.churn_risk, t.strength,
       t.why,
       (select p.opened_at from memory.periods p
        where p.tenant_id = t.tenant_id and p.subject_id = t.subject_id and p.opened_at <= %(as_of)s
          and (p.closed_at is null or p.closed_at > %(as_of)s)
        order by p.opened_at desc limit 1) as difficult_since,
       (select coalesce(jsonb_agg(jsonb_build_object('stage', r.stage, 'since', r.since, 'sessions', r.sessions) order by r.since), '[]')
        from memory.relationships r
        where r.tenant_id = t.tenant_id and r.subject_id = t.subject_id and r.since <= %(as_of)s) as stages
from memory.ties t
where t.tenant_id = (select %(tenant)s::text) and t.subject_id = %(subject)s

-- name: page_days
-- A subject's figures by day and counterpart, the latest first.
select s.day, s.counterpart, s.messages, s.received, s.sessions, s.begun, s.own_begun, s.latency_p50 as latency, s.words, s.questions,
       s.emoji, s.formal, s.happy, s.sad, s.anxious, s.excited, s.neutral, s.angry, s.frustrated, s.flirty, s.bored, s.grateful
from memory.signals s
where s.tenant_id = (select %(tenant)s::text) and s.subject_id = %(subject)s and s.day <= (%(as_of)s::timestamptz at time zone 'UTC')::date
order by s.day desc, s.counterpart
limit %(limit)s

-- name: page_weeks
-- The same by week, summed as in memory.signal_weeks; the week of the time has the days up to it.
select date_trunc('week', s.day)::date as day, s.counterpart, sum(s.messages)::int as messages, sum(s.received)::int as received,
       sum(s.sessions)::int as sessions, sum(s.begun)::int as begun, sum(s.own_begun)::int as own_begun,
       sum(s.latency_p50 * s.messages) filter (where s.latency_p50 is not null)
           / nullif(sum(s.messages) filter (where s.latency_p50 is not null), 0) as latency,
       sum(s.words)::int as words, sum(s.questions)::int as questions, sum(s.emoji)::int as emoji, sum(s.formal)::int as formal,
       sum(s.happy)::int as happy, sum(s.sad)::int as sad, sum(s.anxious)::int as anxious, sum(s.excited)::int as excited,
       sum(s.neutral)::int as neutral, sum(s.angry)::int as angry, sum(s.frustrated)::int as frustrated,
       sum(s.flirty)::int as flirty, sum(s.bored)::int as bored, sum(s.grateful)::int as grateful
from memory.signals s
where s.tenant_id = (select %(tenant)s::text) and s.subject_id = %(subject)s and s.day <= (%(as_of)s::timestamptz at time zone 'UTC')::date
group by date_trunc('week', s.day)::date, s.counterpart
order by date_trunc('week', s.day)::date desc, s.counterpart
limit %(limit)s
