"""Bodies of ARM's answers to validation and what-if requests.

Shapes: azure-rest-api-specs, Microsoft.Resources/deployments/stable/2022-09-01. Codes and sentences: ARM docs,
common-deployment-errors; missing rights come as one sentence, as in Azure/azure-dev#7709.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

from simulator.azure.bodies import Json
from simulator.azure.deployments.expressions import InvalidTemplate
from simulator.azure.deployments.judging import Judge, Verdict

LARGEST_JOB = 1 << 20
"""Largest size in bytes of a template after compression (ARM docs, troubleshooting/error-job-size-exceeded). The size
of a request is limited in `web`.
"""


def validated(judge: Judge, subscription: str, body: Mapping[str, Any]) -> tuple[int, Json]:
    """HTTP status and body of ARM's answer to a `validate` request."""
    verdict, problem = _verdict(judge, subscription, body)
    if problem is not None:
        return 400, {"error": problem}
    assert verdict is not None
    if (found := _error(verdict)) is not None:
        return 400, {"error": found}
    return 200, {"id": subscription, "properties": {"provisioningState": "Succeeded", "mode": "Incremental"}}


def foreseen(judge: Judge, subscription: str, body: Mapping[str, Any]) -> tuple[int, Json]:
    """HTTP status and body of ARM's answer to a what-if request."""
    verdict, problem = _verdict(judge, subscription, body)
    found = problem or (verdict and _error(verdict))
    if found:
        return 200, {"status": "Failed", "error": found}
    assert verdict is not None
    return 200, {"status": "Succeeded", "properties": {"correlationId": "", "changes": verdict.changes}}


def _verdict(judge: Judge, subscription: str, body: Mapping[str, Any]) -> tuple[Verdict | None, Json | None]:
    properties: Mapping[str, Any] = body.get("properties") or {}
    if len(zlib.compress(json.dumps(properties.get("template")).encode(), 1)) > LARGEST_JOB:
        message = "The deployment job size exceeds the limit of 1 MB after compression."
        return None, {"code": "JobSizeExceeded", "message": message}
    if not body.get("location"):
        message = "The 'location' property must be specified for a deployment at this scope."
        return None, {"code": "LocationRequired", "message": message}
    try:
        return judge.judge(properties, subscription), None
    except InvalidTemplate as problem:
        return None, {"code": "InvalidTemplate", "message": str(problem)}


def _error(verdict: Verdict) -> Json | None:
    if verdict.unauthorized:
        text = ":".join(verdict.unauthorized)
        return {"code": "InvalidTemplateDeployment", "message": f"Deployment failed with multiple errors: '{text}'"}
    if not verdict.errors:
        return None
    message = (
        "The template deployment is not valid according to the validation procedure. See inner errors for details."
    )
    return {"code": "InvalidTemplateDeployment", "message": message, "details": verdict.errors}
