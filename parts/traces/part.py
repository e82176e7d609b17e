"""The collector of traces as a part of the platform."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from parts.part import Part
from parts.traces import names
from parts.traces.plan import OWNED, traces_plan
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.tree import Settings

SETTING: Path = ("monitoring", "traces")
IMAGE = f"docker.io/{names.IMAGE}"


def images(settings: Settings) -> Mapping[str, Path]:
    """Image of the collector, which the program sets in the chart's values, with the setting that installs the
    collector.
    """
    return {IMAGE: SETTING} if settings.monitoring.traces is not None else {}


def secrets(settings: Settings) -> Iterator[tuple[Path, str]]:
    """Names of the secrets for the destination of traces, each with the setting that names the secret."""
    if (traces := settings.monitoring.traces) is None:
        return
    if traces.connection_secret is not None:
        yield (*SETTING, "connectionSecret"), traces.connection_secret
    for header, name in traces.header_secrets.items():
        yield (*SETTING, "headerSecrets", header), name


PART = Part(
    name="traces",
    title="collector of traces",
    setting=SETTING,
    resource_type="physical-ai:kubernetes:TraceCollector",
    resource_name="traces",
    owned={names.CHART: OWNED},
    wanted=lambda settings: settings.monitoring.traces is not None,
    plan=traces_plan,
    stage="cluster",
    images=images,
    chart_images={names.CHART: (IMAGE,)},
    floating_images={IMAGE: "the tag is the chart's version of the collector, which was not read"},
    secrets=secrets,
)
