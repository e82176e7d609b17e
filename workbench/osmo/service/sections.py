"""Sections of OSMO's configuration whose content OSMO 6.3.1 checks while loading: `service`, `workflow` and `dataset`.

An unknown key in these sections prevents OSMO from starting. Other sections are checked when OSMO uses them (see
`pools`).
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from workbench.osmo.choices import DownloadType
from workbench.osmo.names import STORAGE
from workbench.osmo.refusal import Refusal


class Section(BaseModel):
    """Base class of the sections whose content OSMO checks. An unknown key in such a section is an error."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


def _endpoint(value: str) -> str:
    if not re.match(r"(s3|gs|swift|tos|azure)://[^/,;*]+", value):
        raise Refusal("OSMOUserError", f"'{value}' is not a storage address")
    return value.rstrip("/")


class DefaultDataCredential(Section):
    """Storage credential without a key: the Pod's environment has the identity for the access (workload identity)."""

    endpoint: Annotated[str, AfterValidator(_endpoint)]
    region: str | None = None
    override_url: str | None = None


class StaticDataCredential(DefaultDataCredential):
    """Storage credential with an access key."""

    access_key_id: str
    access_key: str


Credential = StaticDataCredential | DefaultDataCredential | None


class RegistryCredential(Section):
    registry: str = ""
    username: str = ""
    auth: str = ""


class OsmoImageConfig(Section):
    """Images of the containers that OSMO adds to each Pod."""

    init: str = ""
    client: str = ""
    credential: RegistryCredential = RegistryCredential()


class DataConfig(Section):
    credential: Credential = None
    base_url: str = ""
    websocket_timeout: int = 1440
    data_timeout: int = 10
    download_type: DownloadType = DownloadType.DOWNLOAD


class LogConfig(Section):
    credential: Credential = None


class WorkflowInfo(Section):
    tags: list[str] = []
    max_name_length: int = 64


class SmtpSettings(Section):
    host: str = ""
    sender: str = ""
    password: str = ""


class NotificationConfig(Section):
    slack_token: str = ""
    smtp_settings: SmtpSettings = SmtpSettings()


class CredentialConfig(Section):
    disable_registry_validation: list[str] = []
    disable_data_validation: list[str] = []


class UserWorkflowLimitConfig(Section):
    max_num_workflows: Annotated[int, Field(gt=0)] | None = None
    max_num_tasks: Annotated[int, Field(gt=0)] | None = None
    jinja_sandbox_workers: int = 2
    jinja_sandbox_max_time: float = 0.5
    jinja_sandbox_memory_limit: int = 100 * 1024 * 1024


class RsyncAllowedPath(BaseModel):
    path: str
    writable: bool = False


_Rate = Annotated[int, Field(ge=0)]
_Delay = Annotated[float, Field(gt=0)]


class RsyncConfig(Section):
    enabled: bool = False
    enable_telemetry: bool = False
    read_bandwidth_limit: _Rate = 2621440
    write_bandwidth_limit: _Rate = 2621440
    allowed_paths: dict[str, RsyncAllowedPath] = {}
    daemon_debounce_delay: _Delay = 30.0
    daemon_poll_interval: _Delay = 120.0
    daemon_reconcile_interval: _Delay = 60.0
    client_upload_rate_limit: _Rate = 2097152


class PluginsConfig(Section):
    rsync: RsyncConfig = RsyncConfig()


class WorkflowConfig(Section):
    """Limits and images for all workflows. The defaults are OSMO's own; values of OSMO's chart override some."""

    workflow_data: DataConfig = DataConfig()
    workflow_log: LogConfig = LogConfig()
    workflow_app: LogConfig = LogConfig()
    workflow_info: WorkflowInfo = WorkflowInfo()
    backend_images: OsmoImageConfig = OsmoImageConfig()
    workflow_alerts: NotificationConfig = NotificationConfig()
    credential_config: CredentialConfig = CredentialConfig()
    user_workflow_limits: UserWorkflowLimitConfig = UserWorkflowLimitConfig()
    plugins_config: PluginsConfig = PluginsConfig()
    max_num_tasks: int = 20
    max_num_ports_per_task: int = 30
    max_retry_per_task: int = 0
    max_retry_per_job: int = 5
    default_schedule_timeout: int = 30
    default_exec_timeout: str = "60d"
    default_queue_timeout: str = "60d"
    max_exec_timeout: str = "60d"
    max_queue_timeout: str = "60d"
    force_cleanup_delay: str = "1h"
    max_log_lines: int = 10000
    max_task_log_lines: int = 1000
    max_error_log_lines: int = 100
    max_event_log_lines: int = 100
    task_heartbeat_frequency: str = "10m"


class CliConfig(Section):
    latest_version: str | None = None
    min_supported_version: str | None = None
    client_install_url: str | None = None


class ServiceSection(Section):
    """Section `service` of OSMO's configuration, with the settings of OSMO's API service."""

    service_base_url: str = ""
    service_auth: dict[str, Any] | None = None
    """Keys for the tokens that OSMO's service issues. The service creates the keys when it first starts."""
    cli_config: CliConfig = CliConfig()
    max_pod_restart_limit: str = "30m"
    agent_queue_size: int = 1024


READS, READS_AND_WRITES = "read-only", "read-write"


class BucketConfig(Section):
    dataset_path: Annotated[str, StringConstraints(pattern=STORAGE)]
    region: str = "us-east-1"
    description: str = ""
    mode: str = "read-write"
    default_credential: StaticDataCredential | None = None


class DatasetConfig(Section):
    buckets: dict[str, BucketConfig] = {}
    default_bucket: str = ""

    def bucket(self, name: str, *, writes: bool) -> BucketConfig:
        """The bucket `name`. Raises Refusal if the bucket does not exist, or if its mode does not allow the access:
        writing if `writes` is True, reading otherwise.
        """
        found = self.buckets.get(name)
        if found is None:
            known = ", ".join(self.buckets) or "none"
            raise Refusal(
                "OSMOServerError", f"the configuration has no bucket '{name}' (dataset.buckets), only: {known}"
            )
        if found.mode not in (READS_AND_WRITES, *(() if writes else (READS,))):
            raise Refusal(
                "OSMOUsageError", f"bucket '{name}' is {found.mode}, and cannot be {'written' if writes else 'read'}"
            )
        return found
