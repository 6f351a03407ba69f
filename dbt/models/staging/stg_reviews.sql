select
    tenant_id,
    reason,
    flagged_at,
    {{ day_of('flagged_at') }} as flagged_on,
    seen_at
from {{ source('ops', 'reviews') }}
