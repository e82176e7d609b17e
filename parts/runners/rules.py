"""Rules about self-hosted runners: whether the stack needs runners, whether jobs fit on the nodes, and which workflows
could use the runners' identity.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from parts.runners import names
from parts.runners.facts import POOL, RUNNERS
from parts.runners.model import Runners
from physical_ai.settings.facts.network_access import private_api_server
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import Rule, SettingFinding, Trust, error, warning

_MODE: Path = ("network", "mode")
GROUPS = Rule("runner-group", "GitHub docs, managing access to self-hosted runners using groups")
SHARED = Rule("runner-identity", "GitHub docs, security hardening for GitHub Actions, self-hosted runners")


def check_runners(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about runners, except the rules about the size of their pool."""
    if names.POOL in settings.pools and trust(("pools",)):
        problem = f"'{names.POOL}' is the name of the pool of GitHub runners."
        yield error(("pools", names.POOL), problem, f"Such as '{names.POOL}gpu'.", others=(RUNNERS,))
    given = settings.runners
    if given is None or not trust(RUNNERS):
        return
    if not private_api_server(settings) and trust(_MODE):
        problem = "The API server has a public address, which runners of GitHub reach as well; these cost a node pool."
        fix = "network.mode: private, or remove runners; docs/delivery.md describes how hosted runners reach it."
        yield warning(RUNNERS, problem, fix, others=(_MODE,))
    if given.pool.scale.most < 1:
        problem = "The pool of the runners can have no node, so that no job would run."
        yield error((*POOL, "scale"), problem, "Like scale: {min: 0, max: 2}.")
    elif not given.pool.scale.is_autoscaled:
        problem = "Nodes of a fixed count are paid for while no job runs."
        yield warning((*POOL, "scale"), problem, "Like scale: {min: 0, max: 2}.")
    yield from _reach(given)


def _reach(given: Runners) -> Iterator[SettingFinding]:
    """Findings about the address and group of the runners: a group although the runners belong to one repository, and
    workflows of other repositories that could use the runners.
    """
    setting = (*RUNNERS, "configUrl")
    parts = urlsplit(given.config_url).path.strip("/").split("/")
    is_repository = len(parts) == 2 and parts[0] != "enterprises"
    if is_repository:
        if given.group is not None:
            problem = "Groups are of organizations and enterprises; the runners are of one repository."
            fix = "Remove it, or name the organization in configUrl."
            yield error((*RUNNERS, "group"), problem, fix, others=(setting,), rule=GROUPS)
        return
    if given.group is None:
        problem = f"Without a group, workflows of every repository of {parts[-1]} can run beside the API server."
        yield warning(setting, problem, "runners.group, limited to this repository; or its own address.", rule=GROUPS)
    if given.cluster_role == "admin":
        problem = f"Every workflow of {parts[-1]} that may use the runners would be an administrator of the cluster."
        fix = "configUrl: the address of the repository that deploys, or clusterRole: none."
        yield error((*RUNNERS, "clusterRole"), problem, fix, others=(setting,), rule=SHARED)
