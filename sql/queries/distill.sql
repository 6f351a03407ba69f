-- name: count_replies
-- The number of turns with kept replies of language models. Only a reply about a turn has notes.
select count(distinct r.source_ids[1]) from ops.replies r
where r.tenant_id = %(tenant)s and r.reply ? 'notes'

-- name: read_replied
-- The next turns in id order with a kept reply: the latest reply, its model, and the turns before it that the model was
-- shown, the nearest first. `asked` as in read_turns of extract.sql.
select t.id, t.subject_id, t.session_id, coalesce(t.speaker, initcap(t.role)) as author, t.speaker, t.said_at, t.text,
       coalesce(b.ids, '{}') as before_ids, coalesce(b.authors, '{}') as before_authors, coalesce(b.texts, '{}') as before_texts,
       t.role, r.reply, r.model,
       case when t.text <> '' and length(t.text) <= %(reply_characters)s then (
           select right(p.text, 400) from (select p.text, p.role, p.speaker from log.turns p
                               where p.tenant_id = t.tenant_id and p.subject_id = t.subject_id and p.session_id = t.session_id
                                 and (p.said_at, p.turn_index, p.id) < (t.said_at, t.turn_index, t.id)
                               order by p.said_at desc, p.turn_index desc, p.id desc limit 1) p
           where p.role in ('user', 'assistant') and (p.role, p.speaker) is distinct from (t.role, t.speaker)) end as asked
from (select distinct on (k.source_ids[1]) k.source_ids[1] as turn_id, k.source_ids[2:] as before_ids, k.reply, k.model
      from ops.replies k
      where k.tenant_id = %(tenant)s and k.reply ? 'notes' and k.source_ids[1] > %(after)s
      order by k.source_ids[1], k.made_at desc, k.input_hash
      limit %(limit)s) r
join log.turns t on t.tenant_id = %(tenant)s and t.id = r.turn_id
left join lateral (
    select array_agg(p.id order by x.place) as ids, array_agg(coalesce(p.speaker, initcap(p.role)) order by x.place) as authors,
           array_agg(left(p.text, %(context_characters)s) order by x.place) as texts
    from unnest(r.before_ids) with ordinality as x (id, place)
    join log.turns p on p.tenant_id = %(tenant)s and p.id = x.id
) b on true
order by t.id
