"""docs/img/platform.svg: how the default stack becomes a cluster, generated from its settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from docs.generator.svg import Box, accent, arrow, document, rectangle, text
from physical_ai.catalog import vm_size
from physical_ai.planning.plan import make_plan
from physical_ai.settings import DriverSource, NodePool, Pool, Priority, Scale, Settings, load
from physical_ai.settings.facts.pools import CPU_POOL, SYSTEM_POOL, node_pools

STACK = "dev-westus2"
LEFT = Box(16, 16, 200, 500)
GROUP = Box(264, 16, 600, 500)
PADDING, GAP, LINE = 14, 12, 17
DRIVERS = {
    DriverSource.OPERATOR: ("GPU Operator", "green"),
    DriverSource.GRID: ("GRID driver agent", "purple"),
    DriverSource.AKS: ("node image", "blue"),
}
"""What installs the driver of each source, and its color."""
NOTES = {
    SYSTEM_POOL: "AKS system pods only",
    CPU_POOL: "operators, schedulers, CPU tasks",
}


@dataclass(frozen=True)
class Card:
    """A title and the lines below it, in one box."""

    title: str
    lines: Sequence[str] = ()
    color: str = ""
    mono: str = ""

    @property
    def height(self) -> float:
        return 26 + LINE * (len(self.lines) + bool(self.mono)) + (6 if self.lines or self.mono else 8)

    def draw(self, box: Box) -> Iterator[str]:
        yield rectangle(box)
        if self.color:
            yield accent(box, self.color)
        y = box.y + 21
        yield text(box.x + PADDING, y, self.title, "name")
        if self.mono:
            y += LINE
            yield text(box.x + PADDING, y, self.mono, "mono")
        for line in self.lines:
            y += LINE
            yield text(box.x + PADDING, y, line, "dim")


def picture() -> str:
    """The drawing of the default stack."""
    settings = load(STACK).settings
    target = Box(GROUP.x + PADDING, GROUP.y + 106, GROUP.width - 2 * PADDING, 0)
    pools = _pools(settings, target)
    height = pools[-1][1].bottom
    services = [(card, box) for card, box in _row(_in_cluster(settings), target, height + 34)]
    cluster = Box(target.x, target.y, target.width, services[-1][1].bottom + PADDING - target.y)
    gate = Box(cluster.x, cluster.bottom + GAP, cluster.width, 34)
    group = Box(GROUP.x, GROUP.y, GROUP.width, gate.bottom + PADDING - GROUP.y)
    parts = [
        rectangle(group, "area"),
        text(group.x + PADDING, group.y + 24, "Azure resource group", "title"),
        *_cards(_row(_around(settings), target, GROUP.y + 38)),
        rectangle(cluster, "area"),
        text(cluster.x + PADDING, cluster.y + 24, "AKS cluster", "title"),
        text(cluster.right - PADDING, cluster.y + 24, f"Kubernetes {settings.cluster.kubernetes_version}", "dim end"),
        *_cards(pools),
        text(cluster.x + PADDING, services[0][1].y - 10, "In the cluster, through the Kubernetes provider", "dim"),
        *_cards(services),
        rectangle(gate),
        accent(gate, "blue"),
        text(gate.x + PADDING, gate.y + 22, "Readiness gate", "name"),
        text(gate.x + 120, gate.y + 22, "all GPUs are allocatable, or the deployment reports the closed gate", "dim"),
        *_program(settings, group, services[0][1].y + 28),
    ]
    title = f"The stack {STACK}: layers and catalogue become settings, components, and an AKS cluster with four pools"
    return document(880, group.bottom + 16, title, parts)


def _cards(placed: Sequence[tuple[Card, Box]]) -> list[str]:
    return [part for card, box in placed for part in card.draw(box)]


def _row(cards: Sequence[Card], area: Box, top: float) -> list[tuple[Card, Box]]:
    """Cards side by side across an area, padded if the area has a frame."""
    inset = PADDING if top > area.y else 0
    width = (area.width - 2 * inset - GAP * (len(cards) - 1)) / len(cards)
    height = max(card.height for card in cards)
    return [(card, Box(area.x + inset + index * (width + GAP), top, width, height)) for index, card in enumerate(cards)]


def _around(settings: Settings) -> list[Card]:
    return [
        Card("Virtual network", [f"{settings.network.address_space}, NAT gateway"]),
        Card("Identities", ["and role assignments"]),
        Card("Log Analytics", [f"{settings.monitoring.retention_days} days"]),
    ]


def _pools(settings: Settings, area: Box) -> list[tuple[Card, Box]]:
    """The pools' cards, two a row."""
    cards = [_pool(name, pool, settings) for name, pool in node_pools(settings).items()]
    top, placed = area.y + 38, list[tuple[Card, Box]]()
    for start in range(0, len(cards), 2):
        row = _row(cards[start : start + 2], area, top)
        placed += row
        top = row[0][1].bottom + GAP
    return placed


def _pool(name: str, pool: NodePool, settings: Settings) -> Card:
    if not isinstance(pool, Pool):
        return Card(f"{name}: {_scale(pool.scale)}", [NOTES[name]], mono=pool.sku)
    installer, color = DRIVERS[pool.driver.source]
    gpu = vm_size(pool.sku).gpu
    spot = ", Spot" if pool.priority is Priority.SPOT else ""
    versions = {
        DriverSource.OPERATOR: settings.gpu_operator.driver.version,
        DriverSource.GRID: settings.grid_driver.version,
        DriverSource.AKS: "",
    }
    version = pool.driver.version or versions[pool.driver.source]
    model = f"{gpu.count} × {gpu.model.partition(' Blackwell')[0]}{' vGPU' * gpu.virtual}" if gpu else ""
    lines = [f"{model}, {gpu.memory_gib} GB" if gpu else "", f"driver {version} by the {installer}"]
    return Card(f"{name}: {_scale(pool.scale)}{spot}", lines, color, pool.sku)


def _scale(scale: Scale) -> str:
    if scale.count is not None:
        return f"{scale.count} node{'s' * (scale.count != 1)}"
    return f"{scale.min} to {scale.max} nodes"


def _in_cluster(settings: Settings) -> list[Card]:
    """What is installed into the cluster: the GRID driver agent where a pool needs it, and the charts."""
    titles = {
        "gpu-operator": ("GPU Operator", "device plugin", "green"),
        "kai-scheduler": ("KAI scheduler", "gangs and queues", ""),
        "backend-operator": ("OSMO agents", "workflows", ""),
    }
    cards = list[Card]()
    if any(pool.driver.source is DriverSource.GRID for pool in settings.pools.values()):
        cards.append(Card("GRID driver", [settings.grid_driver.version, "agent per node"], "purple"))
    for chart in make_plan(settings).charts:
        title, text_, color = titles[chart.name]
        cards.append(Card(title, [chart.version, text_], color))
    return cards


def _program(settings: Settings, group: Box, cluster_y: float) -> Iterator[str]:
    """The column on the left: the YAML files in a frame, then settings, components, engine."""
    layers = ["base.yaml", f"env/{settings.environment}.yaml", f"region/{settings.region}.yaml"]
    files = Card("stacks/", [*(f"layers/{layer}" for layer in layers), f"Pulumi.{settings.stack}.yaml"])
    catalogue = Card("physical_ai/catalog/", ["sizes, drivers, charts"])
    merged = Card("physical_ai/settings/", ["layers merged, rules checked,", "facts of each pool derived"])
    declared = Card("components/", ["one Pulumi component per file"])
    engine = Card("Pulumi engine", ["preview, diff, state"])
    first = Box(LEFT.x + GAP, LEFT.y + 38, LEFT.width - 2 * GAP, files.height)
    second = Box(first.x, first.bottom + GAP, first.width, catalogue.height)
    frame = Box(LEFT.x, LEFT.y, LEFT.width, second.bottom + GAP - LEFT.y)
    yield rectangle(frame, "area")
    yield text(frame.x + PADDING, frame.y + 24, "YAML", "title")
    yield from _cards([(files, first), (catalogue, second)])
    steps = [merged, declared, engine]
    space = (group.bottom - frame.bottom - sum(card.height for card in steps)) / len(steps)
    above = frame
    for card in steps:
        box = Box(LEFT.x, above.bottom + space, LEFT.width, card.height)
        yield arrow(f"M{above.middle:g} {above.bottom:g}V{box.y - 1:g}")
        yield from card.draw(box)
        above = box
    yield from _providers(above, group, cluster_y)


def _providers(engine: Box, group: Box, cluster_y: float) -> Iterator[str]:
    """The two arrows from the engine: to Azure, and through kubelogin into the cluster."""
    middle = (engine.right + group.x) / 2
    y = engine.y + engine.height / 2
    yield arrow(f"M{engine.right:g} {y:g}H{middle:g}V{group.y + 63:g}H{group.x + PADDING - 1:g}")
    yield arrow(f"M{middle:g} {cluster_y:g}H{group.x + 2 * PADDING - 1:g}")
