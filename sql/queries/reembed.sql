-- name: latest_item
-- The latest time of an item with vectors; null: there is none.
select max(happened_at) from memory.items where tenant_id = %(tenant)s

-- name: remove_others
-- Delete the next vectors of models other than the live one; the cache keeps them, so that going back costs no call.
delete from memory.vectors v
using (select v.subject_id, v.model, v.item_id, v.part
       from memory.vectors v
       where v.tenant_id = %(tenant)s and v.model <> (select t.model from ops.tenants t where t.tenant_id = %(tenant)s)
       limit %(limit)s) o
where v.tenant_id = %(tenant)s and v.subject_id = o.subject_id and v.model = o.model and v.item_id = o.item_id
  and v.part = o.part
