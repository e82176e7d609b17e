"""Values of the services behind the gateway, the release, and the values that only a deployment knows."""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any
from urllib.parse import quote

import yaml

from parts.in_cluster_data.facts import in_cluster
from parts.in_cluster_data.names import PATH_STYLE
from physical_ai.catalog import osmo
from physical_ai.catalog import osmo_service as names
from physical_ai.catalog.azure_identity import IDENTITY_CLIENT_ANNOTATION, IDENTITY_USE_LABEL
from physical_ai.catalog.charts import Chart, chart
from physical_ai.planning.chart_values import chart_values as values_of_chart
from physical_ai.planning.osmo import OsmoRelease
from physical_ai.planning.osmo_service import QUEUES, chart_values
from physical_ai.planning.service_chart.gateway import ENTRA, gateway_values
from physical_ai.planning.service_chart.restarts import CERTIFICATE, RESTARTED_BY, restarts
from physical_ai.planning.values_files import merge_values
from physical_ai.settings.facts.pools import services_placement
from physical_ai.settings.faults import Fault
from physical_ai.settings.models.tree import Settings

SERVICE_FILE = "osmo/service.yaml"
"""Path below `values/` of the file in which users may set values of the control plane's chart."""
SERVICES = ("service", "worker", "logger", "agent", "delayedJobMonitor")
"""Sections of the services whose Pods read and write the storage."""
CONTAINERS = {"workflow_data": "data", "workflow_log": "logs", "workflow_app": "apps"}
"""Containers of the storage account, by the key of OSMO's configuration."""
ENCRYPTING = (*SERVICES, "router")
"""Sections of the services whose Pods connect to the database."""
_KEY_VARIABLE = {"name": names.MEK_VARIABLE, "value": f"{names.MEK_FOLDER}/{names.MEK_FILE}"}
_KEY_VOLUME = {"name": names.MEK_SECRET_NAME, "secret": {"secretName": names.MEK_SECRET_NAME}}
_KEY_MOUNT = {"name": names.MEK_SECRET_NAME, "mountPath": names.MEK_FOLDER, "readOnly": True}
_KEY_OWNER = "nothing: the deployment generates the key of the database"
OWNED = {
    "global.osmoImageLocation": "the registry in physical_ai/catalog/osmo.py",
    "global.osmoImageTag": "the version in physical_ai/catalog/osmo.py",
    "global.serviceAccountName": "the name in physical_ai/catalog/osmo_service.py",
    "global.nodeSelector": "cpuPool",
    "serviceAccount": "nothing: the account has the identity of the control plane",
    "services.configFile": "nothing: the deployment generates the file of keys",
    "services.configs": "osmo",
    "services.postgres": "dataServices.postgres",
    "services.redis": "dataServices.redis",
    "services.defaultAdmin": "nothing: the deployment generates the password",
    "services.migration": "the version in physical_ai/catalog/osmo.py",
    "services.service.hostname": "osmo.access.host",
    "services.ui.apiHostname": "osmo.access",
    "services.ui.nextjsSslEnabled": "osmo.access",
    "services.service.auth": "osmo.access.entra",
    "gateway": "osmo.access",
    "podMonitor.enabled": "monitoring.metrics",
    "services.router.hostname": "osmo.access.host",
    "services.*.nodeSelector": "cpuPool",
    "services.*.tolerations": "cpuPool",
    f"services.*.extraPodLabels.{IDENTITY_USE_LABEL}": "dataServices.source",
    f"services.*.extraEnv.{PATH_STYLE['name']}": "dataServices.source",
    **{f"services.*.extraEnv.{name}": "monitoring.metrics" for name in osmo.METRICS_ENVIRONMENT},
    f"services.*.extraEnv.{names.MEK_VARIABLE}": _KEY_OWNER,
    f"services.*.extraEnvs.{names.MEK_VARIABLE}": _KEY_OWNER,
    f"services.*.extraVolumes.{names.MEK_SECRET_NAME}": _KEY_OWNER,
    f"services.*.extraVolumeMounts.{names.MEK_FOLDER}": _KEY_OWNER,
    **{f"services.*.extraPodAnnotations.{name}": owner for name, owner in RESTARTED_BY.items()},
    f"services.*.extraPodAnnotations.{QUEUES}": "pools and osmo",
}
"""Chart keys that the user's values file may not set. Each value names the setting to change instead, or says
why there is none.
"""


@dataclass(frozen=True)
class Attached:
    """Addresses of the data services that the control plane uses; the values may be Outputs."""

    postgres_host: Any
    postgres_port: Any
    postgres_database: Any
    postgres_user: Any
    redis_host: Any
    redis_port: Any
    storage: Mapping[str, Any]
    """Address of each storage container as OSMO writes it, `azure://ACCOUNT/CONTAINER`, by the names in `CONTAINERS`.

    Empty where Secrets have the addresses, together with keys.
    """
    client_id: Any
    """Client id of the Azure identity of the control plane; None for a control plane without an Azure identity."""
    certificate: Any = None
    """Digest of the gateway's certificate, if the certificate is a secret of the stack; None if it comes from
    elsewhere.
    """


def service_chart() -> Chart:
    return chart(names.SERVICE_CHART, osmo.CHART_VERSION)


def service_release(
    settings: Settings, root: FilePath, served: Sequence[Settings] = ()
) -> tuple[OsmoRelease | None, list[Fault]]:
    """Release of OSMO's control plane, and the faults of its values file. The release is None in a stack without a
    control plane.

    The addresses of the data services are not among the values yet; `attached` adds them.
    """
    if not settings.osmo.installs_service:
        return None, []
    pinned = service_chart()
    ours = merge_values(merge_values(_ours(settings), restarts(settings)), chart_values(settings, served))
    values, faults = values_of_chart(root, SERVICE_FILE, pinned, OWNED, with_keys(ours), module=__name__)
    return OsmoRelease(names.SERVICE_RELEASE, osmo.CONTROL_NAMESPACE, pinned, values), faults


def with_keys(values: dict[str, Any]) -> dict[str, Any]:
    """Values in which each process that reads the database mounts the Secret with the master encryption key.

    Chart 1.3.1 mounts the key from a ConfigMap, so an environment variable directs the process to the Secret.
    Environment variables and volumes that the values file adds are kept.
    """
    result = copy.deepcopy(values)
    for name in ENCRYPTING:
        section = result["services"][name]
        for key, item in (
            ("extraEnvs" if name == "router" else "extraEnv", _KEY_VARIABLE),
            ("extraVolumes", _KEY_VOLUME),
            ("extraVolumeMounts", _KEY_MOUNT),
        ):
            section[key] = [*section.get(key, ()), dict(item)]
    return result


def _ours(settings: Settings) -> dict[str, Any]:
    placement: dict[str, Any] = {"tolerations": [], **services_placement(settings)}
    host = settings.osmo.access.host or ""
    storing = {**placement, **_access_to_storage(settings)}
    return {
        "global": {
            "osmoImageLocation": osmo.IMAGES,
            "osmoImageTag": settings.osmo.image_tag,
            "serviceAccountName": names.SERVICE_ACCOUNT,
            "nodeSelector": placement["nodeSelector"],
        },
        "serviceAccount": {"create": True},
        "services": {
            # This switch makes the services read the passwords of database and cache from Secrets.
            "configFile": {"enabled": True},
            "postgres": {"enabled": False},
            # In the cluster, network policies take the place of TLS; the clients of database and storage also try
            # connections without TLS.
            "redis": {"enabled": False, "tlsEnabled": in_cluster(settings) is None},
            "defaultAdmin": {
                "enabled": True,
                "username": names.ADMIN_USER,
                "passwordSecretName": names.ADMIN_SECRET,
                "passwordSecretKey": names.ADMIN_KEY,
            },
            "migration": {"enabled": False},
            **{name: dict(storing) for name in SERVICES if name not in ("service", "agent")},
            "agent": {**storing, **_measured(settings, storing)},
            "service": {**storing, "hostname": host, "auth": _auth(settings)},
            "router": {**placement, "hostname": host},
            "ui": {**placement, **_ui(settings)},
        },
        # The kind PodMonitor belongs to an operator that not every stack has; physical_ai/planning/scraping.py declares
        # the monitors.
        "podMonitor": {"enabled": False},
        "gateway": gateway_values(settings, placement),
    }


def _measured(settings: Settings, own: Mapping[str, Any]) -> dict[str, Any]:
    """Values with the environment variables that switch on osmo-agent's metrics: chart 1.3.1 passes the argument for
    metrics to service and worker, but not to osmo-agent.
    """
    if not settings.monitoring.is_measured:
        return {}
    variables = [{"name": name, "value": value} for name, value in osmo.METRICS_ENVIRONMENT.items()]
    return {"extraEnv": [*own.get("extraEnv", ()), *variables]}


def _ui(settings: Settings) -> dict[str, Any]:
    """Values with the address at which the UI's server sends requests to the gateway.

    With a certificate, the gateway accepts only TLS, on both ports of its Service (NVIDIA/OSMO 6.3.1
    _gateway-envoy-config.tpl). The UI then uses the setting `osmo.access.host`, because the certificate is issued for
    that name.
    """
    access = settings.osmo.access
    if access.tls is None:
        return {"apiHostname": f"{names.GATEWAY}:80", "nextjsSslEnabled": False}
    return {"apiHostname": f"{access.host}:443", "nextjsSslEnabled": True}


def _access_to_storage(settings: Settings) -> dict[str, Any]:
    """Values with which the Pods access storage: the label for an Azure identity or, for buckets in the cluster, an
    environment variable for path-style addresses.
    """
    if in_cluster(settings) is None:
        return {"extraPodLabels": {IDENTITY_USE_LABEL: "true"}}
    return {"extraEnv": [dict(PATH_STYLE)]}


def _auth(settings: Settings) -> dict[str, Any]:
    """Values with the addresses to which OSMO's command line sends users for the login."""
    entra = settings.osmo.access.entra
    if settings.osmo.access.login == "dev" or entra is None:
        return {"enabled": False}
    login = f"https://{ENTRA}/{entra.tenant_id}/oauth2/v2.0"
    return {
        "enabled": True,
        "device_endpoint": f"{login}/devicecode",
        "device_client_id": entra.client_id,
        "browser_endpoint": f"{login}/authorize",
        "browser_client_id": entra.client_id,
        "token_endpoint": f"{login}/token",
        "logout_endpoint": f"{login}/logout",
    }


def attached(values: Mapping[str, Any], to: Attached) -> dict[str, Any]:
    """Values of the release, completed with the data services. They contain no password: the Pods read Secrets."""
    result = copy.deepcopy(dict(values))
    services = result["services"]
    services["postgres"] |= {
        "serviceName": to.postgres_host,
        "port": to.postgres_port,
        "db": to.postgres_database,
        "user": to.postgres_user,
    }
    services["redis"] |= {"serviceName": to.redis_host, "port": to.redis_port}
    workflow = services["configs"]["workflow"]
    for key, container in CONTAINERS.items():
        if container in to.storage:
            # To OSMO, an address without keys is a credential too: then the Pods use their own identity (OSMO,
            # DefaultDataCredential).
            workflow[key] = {"credential": {"endpoint": to.storage[container]}}
    if to.certificate is not None:
        result["gateway"]["envoy"].setdefault("extraPodAnnotations", {})[CERTIFICATE] = to.certificate
    if to.client_id is not None:
        result["serviceAccount"]["annotations"] = {IDENTITY_CLIENT_ANNOTATION: to.client_id}
    return result


def redis_password(key: str) -> str:
    """The cache's key in the form that the Secret needs: percent-encoded, whatever characters it has.

    OSMO inserts the text unchanged into `rediss://:PASSWORD@HOST:PORT/0` (NVIDIA/OSMO 6.3.1
    src/utils/connectors/redis.py:118), and redis-py and kombu decode it when they parse that address. Azure's keys are
    base64: an unencoded `/` would make all five processes fail at their start.
    """
    return quote(key, safe="")


def mek_file(key: str) -> str:
    """Content of the file with the master encryption key, from 32 bytes in base64.

    A key is a JWK, which is itself encoded in base64; its `k` is base64url without padding (RFC 7517, RFC 7518 6.4.1).
    """
    text = base64.urlsafe_b64encode(base64.b64decode(key)).decode().rstrip("=")
    jwk = json.dumps({"k": text, "kid": names.MEK_ID, "kty": "oct"}, separators=(",", ":"))
    coded = base64.b64encode(jwk.encode()).decode()
    return yaml.safe_dump({"currentMek": names.MEK_ID, "meks": {names.MEK_ID: coded}}, width=10_000)


def mek_problem(file: str) -> str | None:
    """Reason why the service could not use a file with master encryption keys; None if it could use the file.

    The text contains no key.
    """
    fix = "Take the value of the vault's secret `osmo-mek` as it is: docs/osmo.md#the-key-of-the-database."
    try:
        document: Any = yaml.safe_load(file)
        current = str(document["currentMek"])
        jwk: Any = json.loads(base64.b64decode(document["meks"][current], validate=True))
        key = base64.urlsafe_b64decode(f"{jwk['k']}{'=' * (-len(jwk['k']) % 4)}")
        kind = jwk.get("kty")
    except (yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError):
        return f"osmo-key: It is no file of master encryption keys, as `mek.yaml` is one.\n  {fix}"
    if kind != "oct" or len(key) != names.MEK_BYTES:
        return f"osmo-key: Its current key is not a symmetric one of {names.MEK_BYTES} bytes.\n  {fix}"
    return None
