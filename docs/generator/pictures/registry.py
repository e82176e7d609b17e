"""The diagrams by name, and the pages that have them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from docs.generator.markdown import END
from docs.generator.pictures.alert_times import alert_times
from docs.generator.pictures.delivery import delivery
from docs.generator.pictures.driver_upgrade import driver_upgrade
from docs.generator.pictures.first_deployment import first_deployment
from docs.generator.pictures.layers import layers
from docs.generator.pictures.new_node import new_node
from docs.generator.pictures.platform import platform
from docs.generator.pictures.repair import repair
from docs.generator.pictures.stages import gates, pods
from physical_ai.repository import DOCS, ROOT

PICTURES: Mapping[str, Callable[[], str]] = {
    "platform": platform,
    "layers": layers,
    "gates": gates,
    "pods": pods,
    "repair": repair,
    "driver-upgrade": driver_upgrade,
    "delivery": delivery,
    "first-deployment": first_deployment,
    "new-node": new_node,
    "alert-times": alert_times,
}
_NAMES = (
    "settings",
    "troubleshooting-gpu",
    "troubleshooting-pods",
    "node-repair",
    "gpu-stack",
    "delivery",
    "azure",
    "simulator",
)
PAGES = (ROOT / "README.md", *(DOCS / f"{name}.md" for name in _NAMES))
_MARK = re.compile(rf"(<!-- picture ([\w-]+): python -m docs\.generator -->).*?{re.escape(END)}", re.DOTALL)


def drawn(text: str) -> str:
    """Text of a page with its diagrams drawn again.

    Raises:
        KeyError: A mark names no diagram.
    """
    return _MARK.sub(lambda mark: f"{mark[1]}\n\n```mermaid\n{PICTURES[mark[2]]()}```\n\n{END}", text)


def renewed(page: Path) -> str:
    """Text of a page, with its diagrams drawn again."""
    return drawn(page.read_text(encoding="utf-8"))
