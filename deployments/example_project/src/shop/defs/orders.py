"""An asset of the team's own, which depends on Reverie's."""

import dagster as dg


@dg.asset(deps=["memory_health"], group_name="shop")
def customer_summary() -> None:
    """A placeholder for an asset that the team derives from memory."""
