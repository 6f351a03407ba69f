"""The chart: rendered by Helm's own library with everything on, valid for Kubernetes, and safe.

`make test-deployments` has the library and the schemas. Without them the recorded rendering is looked at, which a hash
of the chart's files ties to the chart. REVERIE_RECORD_HELM=1 records it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import warnings
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
import yaml

from reverie.settings import Settings
from reverie.telemetry.starting import ENDPOINT
from tests.deployments.conftest import DEPLOYMENTS

CHART = DEPLOYMENTS / "helm" / "reverie"
RECORDED = DEPLOYMENTS / "helm" / "rendered.yaml"
#: Everything that can be turned on.
EVERYTHING = {
    "dagster": {"enabled": True},
    "worker": {"keda": {"enabled": True}},
    "database": {"migrationKey": "owner", "readKey": "replica"},
    "telemetry": {"endpoint": "http://collector.monitoring:4318"},
    "mcp": {"origins": ["https://a.example", "https://b.example"], "issuers": ["https://login.example"]},
    "inspector": {"enabled": True, "operatorKey": "operator"},
    "api": {"trustedProxies": ["10.0.0.0/8", "192.0.2.7"]},
    "settings": {"REVERIE_LANGUAGE_MODEL": "litellm/openai/gpt-4o-mini"},
    "settingsSecrets": ["model-keys"],
    "imagePullSecrets": [{"name": "registry"}],
}
#: Of KEDA, which brings its own definitions.
FOREIGN = {"ScaledObject", "TriggerAuthentication"}
VERSIONS = ("1.29", "1.34")
#: Of uvicorn: the proxies that it trusts.
PROXIES = "FORWARDED_ALLOW_IPS"


def chart_hash() -> str:
    """A hash of the chart's files, names and texts."""
    files = sorted(path for path in CHART.rglob("*") if path.is_file())
    texts = b"".join(str(path.relative_to(CHART)).encode() + path.read_bytes() for path in files)
    return hashlib.sha256(texts).hexdigest()


def rendered(values: dict[str, Any]) -> str:
    """The manifests for some values, in the order of their files."""
    helm = pytest.importorskip("helm_python", reason="needs helm-python-sdk: make test-deployments")
    with helm.Chart.load(str(CHART)) as chart:
        files = chart.render(values, name="memory", namespace="agents")
    return "---\n".join(
        text.strip() + "\n" for name, text in sorted(files.items()) if name.endswith(".yaml") and text.strip()
    )


@pytest.fixture(scope="module")
def manifests() -> list[dict[str, Any]]:
    """The recorded rendering."""
    text = RECORDED.read_text(encoding="utf-8")
    assert chart_hash() in text.splitlines()[0], "the chart has changed: REVERIE_RECORD_HELM=1 make test-deployments"
    return [each for each in yaml.safe_load_all(text) if each]


def test_helm_renders_what_is_recorded() -> None:
    now = f"# Everything on; of the chart with the hash {chart_hash()}\n{rendered(EVERYTHING)}"
    if os.environ.get("REVERIE_RECORD_HELM"):
        RECORDED.write_text(now, encoding="utf-8")
    assert RECORDED.read_text(encoding="utf-8") == now


def test_helms_own_command_renders_it() -> None:
    if (helm := shutil.which("helm")) is None:
        pytest.skip("needs Helm's own program; its library renders the chart with make test-deployments")
    done = subprocess.run([helm, "template", "memory", str(CHART)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert [each for each in yaml.safe_load_all(done.stdout) if each]


def test_helm_finds_no_fault() -> None:
    helm = pytest.importorskip("helm_python", reason="needs helm-python-sdk: make test-deployments")
    found = helm.lint(str(CHART))
    assert found["errors"] == []
    assert [each["error"] for each in found["messages"]] == ["icon is recommended"]


@pytest.mark.parametrize("values", [{}, EVERYTHING], ids=["plain", "everything"])
@pytest.mark.parametrize("version", VERSIONS)
def test_kubernetes_accepts_it(values: dict[str, Any], version: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        validate = pytest.importorskip("kubernetes_validate", reason="needs kubernetes-validate: make test-deployments")
    checked = 0
    for each in yaml.safe_load_all(rendered(values)):
        if each and each["kind"] not in FOREIGN:
            validate.validate(each, version, strict=True)
            checked += 1
    assert checked >= 8


def pods(manifests: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    for each in manifests:
        if each["kind"] in ("Deployment", "Job"):
            yield each["metadata"]["name"], each["spec"]["template"]["spec"]


def test_no_pod_is_root_or_may_do_more_than_it_must(manifests: list[dict[str, Any]]) -> None:
    seen = dict(pods(manifests))
    assert len(seen) == 5
    for name, pod in seen.items():
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert pod["automountServiceAccountToken"] is ("dagster" in name), name
        for container in pod["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }, name
            assert container["resources"]["requests"] and container["resources"]["limits"]["memory"], name


def test_every_pod_and_every_run_of_dagster_pulls_with_the_same_secrets(manifests: list[dict[str, Any]]) -> None:
    secrets = EVERYTHING["imagePullSecrets"]
    assert all(pod["imagePullSecrets"] == secrets for _, pod in pods(manifests))
    (instance,) = (each["data"]["dagster.yaml"] for each in manifests if each["kind"] == "ConfigMap")
    assert yaml.safe_load(instance)["run_launcher"]["config"]["image_pull_secrets"] == secrets


def test_secrets_are_references_and_settings_ours(manifests: list[dict[str, Any]]) -> None:
    ours = {
        "DATABASE_URL",
        "DAGSTER_DATABASE_URL",
        ENDPOINT,
        PROXIES,
        *(f"REVERIE_{name.upper()}" for name in Settings.model_fields),
    }
    for name, pod in pods(manifests):
        for variable in pod["containers"][0]["env"]:
            assert variable["name"] in ours, (name, variable["name"])
            if variable["name"].endswith(("_URL", "_KEY", "_SECRET")):
                assert variable["valueFrom"]["secretKeyRef"].keys() == {"name", "key"}, name
    assert not [each for each in manifests if each["kind"] == "Secret"]


def variables(pod: dict[str, Any]) -> dict[str, Any]:
    return {each["name"]: each.get("value", each.get("valueFrom")) for each in pod["containers"][0]["env"]}


def test_the_api_alone_reads_from_a_replica_and_every_process_sends_its_traces(manifests: list[dict[str, Any]]) -> None:
    replica = {"secretKeyRef": {"name": "reverie-database", "key": "replica"}}
    seen = {name: variables(pod) for name, pod in pods(manifests)}
    assert [name for name, settings in seen.items() if "REVERIE_READ_URL" in settings] == ["memory-api"]
    assert seen["memory-api"]["REVERIE_READ_URL"] == replica
    spoken_to = {
        "REVERIE_MCP_ORIGINS": "https://a.example,https://b.example",
        "REVERIE_MCP_ISSUERS": "https://login.example",
    }
    assert spoken_to.items() <= seen["memory-api"].items()
    assert all(settings[ENDPOINT] == "http://collector.monitoring:4318" for settings in seen.values())
    (policy,) = (each for each in manifests if each["kind"] == "NetworkPolicy" and each["metadata"]["name"] == "memory")
    ports = {port["port"] for rule in policy["spec"]["egress"] for port in rule["ports"]}
    assert ports == {53, 5432, 4318, 443}


def test_the_api_alone_serves_the_inspector_and_its_pods_sign_with_one_secret(manifests: list[dict[str, Any]]) -> None:
    seen = {name: variables(pod) for name, pod in pods(manifests)}
    assert [name for name, settings in seen.items() if "REVERIE_INSPECTOR" in str(settings)] == ["memory-api"]
    given = {"name": "reverie-inspector"}
    wanted = {
        "REVERIE_INSPECTOR": "true",
        "REVERIE_INSPECTOR_SECRET": {"secretKeyRef": given | {"key": "cookies"}},
        "REVERIE_INSPECTOR_KEY": {"secretKeyRef": given | {"key": "operator"}},
        PROXIES: "10.0.0.0/8,192.0.2.7",
    }
    assert wanted.items() <= seen["memory-api"].items()


def test_without_an_operator_each_key_opens_its_own_tenant() -> None:
    text = rendered({"inspector": {"enabled": True}})
    assert "REVERIE_INSPECTOR_SECRET" in text and "REVERIE_INSPECTOR_KEY" not in text


def test_what_is_off_until_it_is_set() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    assert (values["database"]["readKey"], values["telemetry"]["endpoint"]) == ("", "")
    plain = rendered({})
    assert values["mcp"] == {"origins": [], "issuers": []}
    assert (values["inspector"]["enabled"], values["inspector"]["operatorKey"]) == (False, "")
    off = ("REVERIE_READ_URL", "REVERIE_MCP", "REVERIE_INSPECTOR", PROXIES, ENDPOINT, "4318")
    assert not [each for each in off if each in plain]


def test_every_selector_finds_its_pods(manifests: list[dict[str, Any]]) -> None:
    labels = [
        each["spec"]["template"]["metadata"]["labels"] for each in manifests if each["kind"] in ("Deployment", "Job")
    ]
    selectors = [
        (each["metadata"]["name"], chosen)
        for each in manifests
        for key in ("selector", "podSelector")
        if isinstance(chosen := each.get("spec", {}).get(key), dict)
    ]
    assert len(selectors) >= 9
    for name, chosen in selectors:
        wanted = chosen.get("matchLabels", chosen)
        assert any(wanted.items() <= each.items() for each in labels), name


def test_probes_ask_for_routes_that_there_are(manifests: list[dict[str, Any]]) -> None:
    from reverie.api.routes.operations import router

    routes = {route.path for route in router.routes} | {"/server_info"}
    asked = {
        probe["httpGet"]["path"]
        for _, pod in pods(manifests)
        for key, probe in pod["containers"][0].items()
        if key.endswith("Probe") and "httpGet" in probe
    }
    assert {"/ready", "/health"} <= asked <= routes


def test_the_autoscaler_counts_the_queue(manifests: list[dict[str, Any]], conn: psycopg.Connection) -> None:
    (scaled,) = (each for each in manifests if each["kind"] == "ScaledObject")
    conn.execute("set role reverie_worker")
    assert conn.execute(scaled["spec"]["triggers"][0]["metadata"]["query"]).fetchone() == (0,)
