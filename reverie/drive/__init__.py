"""Drive: what runs the stages, in which order, and for whom.

- `cycle`: the stages in order, at the logical times of a live system
- `steps`: a bucket's cycle in steps, each started and repeated alone
- `cycle_totals`: what the stages have done since a bucket's cycle was opened
- `advance`: everything said up to a time becomes memory
- `drain`: sessions that went quiet become memory
- `flush`: quiet sessions into the log, and on to extract
- `replay`: one session read again
- `retract`: a subject's memory made again without a correction that was taken back
- `late`: memory of subjects made again where something was read too late
- `rebuild`: a tenant's memory made again from the log
- `reembed`: a tenant's memory under another embedding model
- `maintain`: rows that are no longer needed are removed
- `tenants`: the same work for each tenant
- `parallel`: several buckets of a tenant at once
- `on_ray`: the same on several machines
"""
