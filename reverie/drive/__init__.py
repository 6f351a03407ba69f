"""Drive: what runs the stages, in which order, and for whom.

- `cycle`: the stages in order, at the logical times of a live system
- `steps`: a bucket's cycle in steps, each started and repeated alone
- `cycle_totals`: what the stages have done since a bucket's cycle was opened
- `advance`: everything said up to a time becomes memory
- `drain`: sessions that went quiet become memory
- `flush`: quiet sessions into the log, and on to extract
- `replay`: one session read again
- `retract`: a subject's memory made again without a correction that was taken back
- `emptying`: some subjects' memory is emptied
- `deliver/`: triggers and changes of memories reach webhooks
- `erase/`: what was said is erased, as if it had never been
- `expire`: what a subject agreed to keep for some days is erased when they are over
- `exporting`: a person or a tenant as files
- `moving`: a person or a tenant in the format of another system
- `late`: memory of subjects made again where something was read too late
- `readable`: a person as a page to read
- `rebuild`: a tenant's memory made again from the log
- `reembed`: a tenant's memory under another embedding model
- `maintain`: rows that are no longer needed are removed
- `tenants`: the same work for each tenant
- `parallel`: several buckets of a tenant at once
- `on_ray`: the same on several machines
"""
