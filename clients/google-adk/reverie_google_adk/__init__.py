"""Google's Agent Development Kit over the Reverie API.

- `service`: `ReverieMemoryService`, a `BaseMemoryService`
"""

from __future__ import annotations

from reverie_google_adk.service import ReverieMemoryService, subject_of_app

__all__ = ["ReverieMemoryService", "subject_of_app"]
