"""The release of OSMO that everything here is about. Later ones rename keys of the charts' values."""

from __future__ import annotations

CHART_VERSION = "1.3.1"
"""Of the charts `service` and `backend-operator`."""
IMAGE_TAG = "6.3.1"
"""Of all images; the charts' own default is `latest`."""
IMAGES = "nvcr.io/nvidia/osmo"

WORKFLOWS_NAMESPACE = "osmo-workflows"
SERVICE_ACCOUNT = "osmo-workflow"
"""Of workflows' pods, in their namespace; federated with the workflows' own identity."""
SCHEDULER = "kai-scheduler"

CREDENTIAL_SECRETS = {
    "workflow_data": "osmo-workflow-data-cred",
    "workflow_log": "osmo-workflow-log-cred",
    "workflow_app": "osmo-workflow-app-cred",
}
"""Secrets with the service's access to its storage, by key of the configuration; made by whoever runs it."""
