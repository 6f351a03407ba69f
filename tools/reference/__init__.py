"""The pages of the site that are generated from the code, one module per page.

- `commands`: the help of the command line
- `operations`: the API, from its OpenAPI document
- `python`: the clients and the library, which mkdocstrings fills from docstrings
- `policies`: every key of a policy, from the models
- `marts`: the tables for data teams, from dbt's descriptions
- `metrics`: the metrics of `/metrics` and of dbt's semantic layer
"""

from __future__ import annotations

from collections.abc import Mapping

from tools.reference.commands import commands_page
from tools.reference.marts import marts_page
from tools.reference.metrics import metrics_page
from tools.reference.operations import api_page
from tools.reference.policies import policies_page
from tools.reference.python import python_page


def reference_pages() -> Mapping[str, str]:
    """Return the text of each page by its path within the site, in the order of the navigation."""
    return {
        "reference/commands.md": commands_page(),
        "reference/api.md": api_page(),
        "reference/python.md": python_page(),
        "reference/policies.md": policies_page(),
        "reference/marts.md": marts_page(),
        "reference/metrics.md": metrics_page(),
    }
