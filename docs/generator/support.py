"""The table of docs/support.md, generated from pins: the versions that the tests run with."""

from __future__ import annotations

from collections.abc import Iterator

from docs.generator.markdown import marked_part, table
from docs.generator.release.requirements import pins
from physical_ai.catalog import osmo
from physical_ai.catalog.load import kubernetes_minors
from physical_ai.repository import DOCS, ROOT
from physical_ai.settings import load
from simulator.tools.families import FAMILIES

FILE = DOCS / "support.md"
BEGIN = "<!-- from requirements-deploy.txt, stacks/ and simulator/tools/: python -m docs.generator -->"
STACK = "dev-westus2"
PYTHON = "3.11"
"""Version of Python that the tests have run with. The workflows ask for 3.12, and have not run yet."""


def renewed() -> str:
    """Text of the page with the current table. Raises ValueError where the page does not contain its marks."""
    return marked_part(FILE, BEGIN, table(("what", "version", "tested by"), _rows()))


def _rows() -> Iterator[tuple[str, str, str]]:
    settings = load(STACK).settings
    pinned = {pin.name: pin.version for pin in pins(ROOT / "requirements-deploy.txt")}
    tools = {family.name: family.version() for family in FAMILIES}
    minors = kubernetes_minors()
    yield (
        "Python on Linux",
        PYTHON,
        "all tests; the workflows name 3.12, which no test has run with; other systems are not tested",
    )
    yield "Pulumi", pinned["pulumi"], "the simulator runs this engine"
    for name in ("azure-native", "kubernetes", "random"):
        yield f"provider {name}", pinned[f"pulumi-{name}"], _provider(name)
    yield "Kubernetes", tools["kubernetes"], "the simulator runs this API server, scheduler and controllers"
    yield (
        "Kubernetes on AKS",
        ", ".join(str(each) for each in minors),
        "not on AKS itself; `physai compat` has the end of each",
    )
    yield "GPU Operator", settings.gpu_operator.version, "its model in the simulator; see held against the originals"
    yield "OSMO", f"{osmo.IMAGE_TAG}, charts {osmo.CHART_VERSION}", "its stand-in in the simulator"
    yield "KAI Scheduler", osmo.KAI_VERSION, "its model in the simulator"


def _provider(name: str) -> str:
    if name == "azure-native":
        return "a stand-in for Azure, which checks each request by Azure's own types"
    return "the simulator answers for it"
