-- What data teams may read of all tenants: the columns that hold no content, for counting. Whatever is not granted here is
-- withheld from them: texts and what is made of them (keys, terms, vectors, hashes that a guess could be compared with), names
-- that callers give, open-ended objects, and error messages. Moods and reviews are told without whose they are.
-- A column that a later migration adds is withheld unless that migration grants it (tests/store/test_analyst.py asks which).

grant select (tenant_id, id, subject_id, assembled_at, form, stage, policy_hash, tokenizer, total_tokens, item_ids, dropped_ids,
              recorded_at)
    on log.contexts to reverie_analyst;
grant select (tenant_id, id, subject_id, kind, memory_id, other_id, corrected_at)
    on log.corrections to reverie_analyst;
grant select (tenant_id, id, subject_id, session_id, type, channel, hint, observed_at, shard, recorded_at)
    on log.events to reverie_analyst;
grant select (tenant_id, said_at, mood, energy, style, confidence, method)
    on log.moods to reverie_analyst;
grant select (tenant_id, id, subject_id, session_id, metric, value, positive, observed_at, shard, recorded_at)
    on log.outcomes to reverie_analyst;
grant select (tenant_id, id, subject_id, asked_at, policy_hash, model, item_ids, dropped)
    on log.recalls to reverie_analyst;
grant select (tenant_id, id, subject_id, session_id, turn_index, role, said_at, shard, recorded_at)
    on log.turns to reverie_analyst;

grant select (tenant_id, recall_id, run_id)
    on memory.accesses to reverie_analyst;
grant select (tenant_id, subject_id, memory_id, other_id, relation, reason, since, run_id)
    on memory.conflicts to reverie_analyst;
grant select (tenant_id, correction_id, subject_id, run_id)
    on memory.corrected to reverie_analyst;
grant select (tenant_id, subject_id, type, first_seen_at)
    on memory.entities to reverie_analyst;
grant select (tenant_id, turn_id, subject_id, candidates, reason, run_id, model, discarded, unread, waits, left_out)
    on memory.extractions to reverie_analyst;
grant select (tenant_id, subject_id, item_id, item, session_id, happened_at, role, words, asks, first_person, names_time, asked_by)
    on memory.items to reverie_analyst;
grant select (tenant_id, memory_id, relation, source, source_id, as_of, run_id)
    on memory.lineage to reverie_analyst;
grant select (tenant_id, memory_id, subject_id, run_id)
    on memory.links to reverie_analyst;
grant select (tenant_id, subject_id, item_id, correction_id, item, mark, derived, pending, run_id)
    on memory.marks to reverie_analyst;
grant select (tenant_id, id, happened_at, accessed_at, decayed_at, forget_at, expires_at, base, peak, importance, access_count,
              polarity, shard, linked, structured, scored, kind, state, subject_id, into_id, turn_id, session_id, origin, run_id,
              policy_hash, model, turn_start, turn_end, relation, phase, lasting, valid_from, valid_to, superseded_by)
    on memory.memories to reverie_analyst;
grant select (tenant_id, loser_id, survivor_id, subject_id, similarity, peak_before, peak_after, as_of, run_id)
    on memory.merges to reverie_analyst;
grant select (tenant_id, event_id, subject_id, candidates, discarded, reason, run_id)
    on memory.observations to reverie_analyst;
grant select (tenant_id, id, subject_id, told_until, made_at, replaced_at, replaced_by, run_id, policy_hash, model, prompt_hash, shard)
    on memory.profiles to reverie_analyst;
grant select (tenant_id, id, subject_id, correction_id, kind, importance, happened_at)
    on memory.replacements to reverie_analyst;
grant select (tenant_id, subject_id, confidence, basis, state, valid_from, valid_to, run_id, policy_hash, model, prompt_hash, shard)
    on memory.scaffold to reverie_analyst;
grant select (tenant_id, id, subject_id, category, confidence, importance, valid_from, valid_to, replaced_by, memory_id, turn_id,
              origin, run_id, policy_hash, model, shard)
    on memory.structured_facts to reverie_analyst;
grant select (tenant_id, subject_id, items, terms, shard)
    on memory.subjects to reverie_analyst;
grant select (tenant_id, item_id, item, subject_id, run_id, model)
    on memory.synthesized to reverie_analyst;
grant select (tenant_id, memory_id, subject_id, kind, importance, reason, forgotten_at, run_id)
    on memory.tombstones to reverie_analyst;
grant select (tenant_id, subject_id, item_id, model, part, item, live)
    on memory.vectors to reverie_analyst;

grant select (tenant_id, model, free_at)
    on ops.call_rates to reverie_analyst;
grant select (tenant_id, id, stage, run_id, kind, model, prompt, prompt_hash, items, state, reserved_usd, cost_usd, priced, tokens_in,
              tokens_out, seconds, reason, repairs, booked_at)
    on ops.calls to reverie_analyst;
grant select (tenant_id, balance_usd, given_at)
    on ops.credits to reverie_analyst;
grant select (tenant_id, line, reason, attempts, recorded_at, subject_id, session_id, item)
    on ops.dead_letters to reverie_analyst;
grant select (tenant_id, model, made_at)
    on ops.embeddings to reverie_analyst;
grant select (tenant_id, subject_id, session_id, id, arrival, turn_index, role, said_at)
    on ops.pending_turns to reverie_analyst;
grant select (tenant_id, subject_id, session_id, turns, said_at, first_at, last_at, due_at, attempts, lease_id, leased_until, shard)
    on ops.queue to reverie_analyst;
grant select (tenant_id, model, prompt_hash, subject_id, source_ids, call_id, made_at)
    on ops.replies to reverie_analyst;
grant select (tenant_id, reason, flagged_at, seen_at)
    on ops.reviews to reverie_analyst;
grant select (tenant_id, run_id, stage, as_of, driver, policy, policy_hash, model, status, attempts, report, model_calls, tokens,
              cost_usd, seconds, finished_at)
    on ops.runs to reverie_analyst;
grant select (tenant_id, subject_id, session_id, opened_at, since, touched_at, expires_at, waiting_since, flush_at, due_at, closing)
    on ops.sessions to reverie_analyst;
grant select (tenant_id, subject_id, failed_at, attempts, reason)
    on ops.synthesis_failures to reverie_analyst;
grant select (tenant_id, policy, created_at, model, clock_at)
    on ops.tenants to reverie_analyst;
-- the revision of the schema
grant select (version_num)
    on ops.migrations to reverie_analyst;
