select tenant_id, subject_id, milestone, days, at, memories, statements, episodes, compressions
from {{ source('memory', 'milestones') }}
