"""The dashboard: unpartitioned, numbers only, so that the plots of the asset's page show how memory grows and is."""

import dagster as dg

from assets.runs import RETRIES
from resources.clients import Clients
from reverie.evaluate.health import measure_all


@dg.asset(deps=["tidied"], retry_policy=RETRIES, group_name="health", kinds={"postgres"})
def memory_health(clients: Clients) -> dg.MaterializeResult[None]:
    """How much there is of everything, over all tenants: turns, memories by kind, forgotten, waiting, failed, cost."""
    return dg.MaterializeResult(metadata=measure_all(clients.store))
