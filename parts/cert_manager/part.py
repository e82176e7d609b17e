"""cert-manager as a part of the platform."""

from __future__ import annotations

from parts.cert_manager import names
from parts.cert_manager.plan import OWNED, cert_manager_plan
from parts.cert_manager.rules import check_identity
from parts.part import Part
from physical_ai.settings.facts.osmo_access import installs_cert_manager

PART = Part(
    name="cert_manager",
    title="cert-manager",
    setting=("osmo", "access", "tls"),
    resource_type="physical-ai:kubernetes:CertManager",
    resource_name="cert-manager",
    owned={names.CHART: OWNED},
    wanted=installs_cert_manager,
    plan=cert_manager_plan,
    stage="cluster",
    isolated=True,
    existing_rules=(check_identity,),
)
