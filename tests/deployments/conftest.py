"""The compose file and the chart's rendering, parsed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

DEPLOYMENTS = Path(__file__).resolve().parents[2] / "deployments"


@pytest.fixture(scope="session")
def services() -> dict[str, dict[str, Any]]:
    """The services of the compose file by name, merged as its anchors say."""
    found: dict[str, dict[str, Any]] = yaml.safe_load((DEPLOYMENTS / "compose" / "compose.yaml").read_text())[
        "services"
    ]
    return found
