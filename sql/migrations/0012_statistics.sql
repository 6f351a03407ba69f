-- What an import need not pay for.
-- No statistics of what no plan depends on: long texts, vectors and posting lists were most of what `analyze` cost.
alter table log.turns
    alter column text set statistics 0, alter column content_hash set statistics 0,
    alter column tool_calls set statistics 0, alter column metadata set statistics 0;
alter table memory.memories alter column content set statistics 0, alter column content_hash set statistics 0;
alter table memory.vectors alter column vec set statistics 0;
alter table memory.terms
    alter column item_ids set statistics 0, alter column tfs set statistics 0, alter column dls set statistics 0;
alter table log.recalls alter column question set statistics 0, alter column item_ids set statistics 0;
alter table log.contexts
    alter column sections set statistics 0, alter column item_ids set statistics 0, alter column dropped_ids set statistics 0;
-- Forgetting rewrites posting lists: room beside them spares their key in the index.
alter table memory.terms set (fillfactor = 80);
