"""Drive: runs the stages, in order, for subjects and tenants.

- `cycle`: the stages in order, at the logical times of a live system
- `steps`: a bucket's cycle in steps that are started and repeated one by one
- `cycle_totals`: totals of the stages since a bucket's cycle was opened
- `advance`: everything said up to a time becomes memory
- `drain`: sessions that went quiet become memory
- `flush`: turns of quiet sessions move to the log and are extracted
- `replay`: one session is extracted again
- `retract`: a subject's memory is made again without a correction that was taken back
- `emptying`: some subjects' memory is emptied
- `deliver/`: triggers and changes of memories reach webhooks
- `erase/`: turns and events are erased, as if they had never been said
- `expire`: data past the retention of its subject is erased
- `exporting`: a person or a tenant is exported as files
- `moving`: a person or a tenant is exported in the format of another system
- `late`: the memory of subjects with late observations is made again
- `readable`: a page about a person, to read
- `rebuild`: a tenant's memory is emptied, to be made again from the log
- `reembed`: a tenant's memory gets another embedding model
- `maintain`: rows that are no longer needed are removed
- `tenants`: the same work for each tenant
- `parallel`: several buckets of a tenant in parallel, in one process
- `on_ray`: buckets in parallel on several machines
"""
