"""Content of a new stack's files: the stack file, and a layer for the region if the region has no layer yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path as FilePath
from typing import Any

import yaml

from physical_ai.settings.json_schema import modeline
from physical_ai.settings.layers.stack_file import PREFIX
from physical_ai.settings.new_stack.choices import Choice, is_forced, overrides
from physical_ai.settings.new_stack.proposal import Proposal, subnets
from physical_ai.settings.rules.cluster import DOCUMENTATION

PLACEHOLDER_NOTE = "Placeholder from a documentation range: put your offices' and CI runners' public ranges here."


@dataclass(frozen=True)
class NewFiles:
    """Files to write, lowest layer first. Paths are relative to the stacks' folder."""

    texts: Mapping[FilePath, str]


class _Dumper(yaml.SafeDumper):
    """YAML dumper that writes maps in block style, lists on one line, and no aliases."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> Any:
        return super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _list(dumper: yaml.SafeDumper, data: list[Any]) -> yaml.Node:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=True)  # pyright: ignore[reportUnknownMemberType]  # untyped


def _text(dumper: yaml.SafeDumper, data: str) -> yaml.Node:
    # An offset such as +01:00 is a number to YAML 1.1.
    style = '"' if data[:1] in "+-" or data.isdigit() else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", data, style=style)  # pyright: ignore[reportUnknownMemberType]  # untyped


_Dumper.add_representer(list, _list)  # pyright: ignore[reportUnknownMemberType]  # untyped
_Dumper.add_representer(str, _text)  # pyright: ignore[reportUnknownMemberType]  # untyped


def api_placeholder() -> IPv4Network:
    """Placeholder for the user's address range. A simulation accepts it; a deployment to Azure does not."""
    return next(DOCUMENTATION[-1].subnets(new_prefix=28))


def is_placeholder(block: IPv4Network) -> bool:
    """True for a range inside the documentation ranges of RFC 5737, which serve as placeholders."""
    return any(block.subnet_of(example) for example in DOCUMENTATION)


def new_files(
    proposal: Proposal,
    choices: Mapping[str, Choice],
    space: IPv4Network,
    ranges: Sequence[IPv4Network] = (),
    deployers: Sequence[Mapping[str, str]] = (),
) -> NewFiles:
    """Files of a new stack: the stack file, and a layer for the region if the region has no layer yet.

    The region's layer gets the values that every stack in the region needs; the stack file gets the choices for this
    stack.

    Raises:
        ValueError: the address space is too small.
    """
    name, own, regional = proposal.name, dict[str, Any](), dict[str, Any]()
    kept = [pool.name for pool in proposal.pools if pool.has_gpu and choices[pool.name].size is not None]
    system, pool_subnets = subnets(space, kept)
    own["network"] = {"addressSpace": str(space), "systemSubnet": str(system)}
    if ranges:
        own["cluster"] = {"apiAccess": {"authorizedIpRanges": [str(each) for each in ranges]}}
    if deployers:
        own["access"] = {"deployers": [dict(each) for each in deployers]}
    windows = {key: {"utcOffset": proposal.utc_offset} for key in ("kubernetesWindow", "nodeOsWindow")}
    regional["cluster"] = {"upgrades": windows}
    for pool in proposal.pools:
        changed = overrides(pool, choices[pool.name], name.region)
        target = regional if not proposal.region_layer and is_forced(pool, name.region) else own
        if changed is None:
            _put(target, pool.path, None)
            continue
        if changed:
            _put(target, pool.path, changed)
        if pool.name in pool_subnets:
            _put(own, pool.path, {"subnet": str(pool_subnets[pool.name])})
    texts: dict[FilePath, str] = {}
    if not proposal.region_layer:
        texts[FilePath("layers/region") / f"{name.region}.yaml"] = _region_text(regional)
    texts[FilePath(f"Pulumi.{name}.yaml")] = _stack_text(proposal, own, placeholder=any(map(is_placeholder, ranges)))
    return NewFiles({path: modeline(path) + text for path, text in texts.items()})


def _put(target: dict[str, Any], path: Sequence[str | int], value: dict[str, Any] | None) -> None:
    *parents, last = (str(step) for step in path)
    for step in parents:
        target = target.setdefault(step, {})
    if value is None:
        target[last] = None
    else:
        target[last] = {**(target.get(last) or {}), **value}


def _region_text(data: Mapping[str, Any]) -> str:
    return f"# Maintenance windows are in local standard time.\n{_yaml(data)}"


def _stack_text(proposal: Proposal, own: Mapping[str, Any], *, placeholder: bool) -> str:
    name = proposal.name
    head = (
        "# Settings of this stack only. Below it are layers/base, target/azure,"
        f" env/{name.environment} and region/{name.region}.\n"
    )
    order = [key for key in ("network", "cluster", "access", "systemPool", "cpuPool", "pools") if key in own]
    text = _yaml({"config": {f"{PREFIX}{key}": own[key] for key in order}})
    if placeholder:
        line = next(line for line in text.splitlines() if "authorizedIpRanges" in line)
        indent = line[: len(line) - len(line.lstrip())]
        text = text.replace(line, f"{indent}# {PLACEHOLDER_NOTE}\n{line}", 1)
    return head + text


def _yaml(data: Mapping[str, Any]) -> str:
    return yaml.dump(dict(data), Dumper=_Dumper, sort_keys=False, width=200, default_flow_style=False)
