"""An asset of the team's own, beside Reverie's and after its memory."""

import dagster as dg


@dg.asset(deps=["memory_health"], group_name="shop")
def customer_summary() -> None:
    """Stands for whatever the team makes of what Reverie remembers."""
