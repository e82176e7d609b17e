"""Stack names `<environment>-<region>`, and the files that belong to a stack.

In a team's project, a layer may consist of two files of the same name: the platform's file, and the team's file, which
overrides it. Either may be absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path as FilePath

from physical_ai.catalog import UnknownName, nearest, region, regions
from physical_ai.repository import INSTALLED_STACKS, STACKS, installed_label, is_team_project
from physical_ai.settings.faults import Fault, SettingsError, fault

_NAME = re.compile(r"(?P<environment>[a-z][a-z0-9]*)-(?P<region>[a-z]+[0-9]*)")
PLACE = "(stack name)"


@dataclass(frozen=True)
class StackName:
    """Parts of a stack's name.

    >>> StackName.parse("prod-swedencentral").region
    'swedencentral'
    """

    environment: str
    region: str

    def __str__(self) -> str:
        return f"{self.environment}-{self.region}"

    @staticmethod
    def parse(text: str, advice: str | None = None) -> StackName:
        """Splits a name into its parts.

        Raises SettingsError where environment or region is missing; it does not check that they exist.

        Args:
            advice: Text on what to write instead of a wrong name; the existing stacks if omitted.
        """
        match = _NAME.fullmatch(text)
        if match is None:
            wrong = "is not '<environment>-<region>'"
            if re.fullmatch(r"[a-z][a-z0-9]*", text):
                wrong = "names no environment" if text in regions() else "names no region"
            problem = f"The stack name '{text}' {wrong}."
            raise SettingsError([fault(stack_label(text), PLACE, problem, advice or stacks_like(text))])
        return StackName(match["environment"], match["region"])


def existing(root: FilePath = STACKS) -> list[str]:
    """Names of the stacks that have a file, sorted."""
    return sorted(file.name.removeprefix("Pulumi.").removesuffix(".yaml") for file in root.glob("Pulumi.*.yaml"))


def stacks_like(text: str, root: FilePath = STACKS) -> str:
    """Text with the existing stacks that a name may mean: the nearest, those of an environment or a region, or all."""
    known = existing(root)
    of_part = [name for name in known if text and (name.startswith(f"{text}-") or name.endswith(f"-{text}"))]
    near = None if of_part else nearest(text, known)
    listed = f"Stacks: {', '.join(of_part or known) or 'none'}."
    return f"Did you mean '{near}'?  {listed}" if near else listed


def stack_label(stack: str, root: FilePath = STACKS) -> str:
    """Name of a stack's file in messages."""
    return f"{root.name}/Pulumi.{stack}.yaml"


def layer_files(name: StackName, root: FilePath = STACKS) -> dict[str, FilePath]:
    """Settings files that the own file of a stack on Azure overrides, lowest priority first. Keys are the files' names
    in messages.
    """
    return _files(("base", "target/azure", f"env/{name.environment}", f"region/{name.region}"), root)


def target_layer(kind: str, root: FilePath = STACKS) -> dict[str, FilePath]:
    """Files of the base layer and of the layer for the kind of target `kind`, which every stack with this kind of
    target has. Keys are the files' names in messages.
    """
    return _files(("base", f"target/{kind}"), root)


def profiles(root: FilePath = STACKS) -> list[str]:
    """Names of the profiles that a stack may choose, sorted."""
    return _described("profile", root)


def environment_names(root: FilePath = STACKS) -> list[str]:
    """Names of the environments that have a layer, sorted."""
    return _described("env", root)


def has_region(name: str, root: FilePath = STACKS) -> bool:
    """True for a region that has a layer."""
    return name in _described("region", root)


def profile_files(profile: str, root: FilePath = STACKS) -> dict[str, FilePath]:
    """Settings files of a profile, lowest priority first. Keys are the files' names in messages."""
    return _files((f"profile/{profile}",), root)


def layer_folders(root: FilePath = STACKS) -> dict[str, FilePath]:
    """Folders with layers, lowest priority first: the platform's and then the team's, or only the checkout's own. Keys
    are the folders' names in messages.
    """
    own = {f"{root.name}/layers": root / "layers"}
    return {f"{installed_label()}/layers": INSTALLED_STACKS / "layers", **own} if _is_above_installed(root) else own


@lru_cache
def _is_above_installed(root: FilePath) -> bool:
    return root != INSTALLED_STACKS and is_team_project(root.parent)


def _files(parts: Iterable[str], root: FilePath) -> dict[str, FilePath]:
    folders = layer_folders(root)
    found = ((f"{label}/{part}.yaml", folder / f"{part}.yaml") for part in parts for label, folder in folders.items())
    return {label: file for label, file in found if len(folders) == 1 or file.is_file()}


def _described(kind: str, root: FilePath) -> list[str]:
    """Names of the layers of one kind, sorted."""
    return sorted({file.stem for folder in layer_folders(root).values() for file in (folder / kind).glob("*.yaml")})


def name_faults(name: StackName, root: FilePath = STACKS) -> list[Fault]:
    """Faults of a well-formed name whose environment or region has no layer."""
    file, faults = stack_label(str(name), root), list[Fault]()
    environments = environment_names(root)
    if name.environment not in environments:
        near = nearest(name.environment, environments)
        hint = f"Did you mean '{near}-{name.region}'?" if near else f"Known: {', '.join(environments)}."
        fix = f"{hint}  A new one needs {root.name}/layers/env/{name.environment}.yaml."
        faults.append(fault(file, PLACE, f"There is no environment '{name.environment}'.", fix))
    try:
        region(name.region)
    except UnknownName as error:
        known = f"Known: {', '.join(regions())}.  Another region of Azure: physai regions --add."
        fix = f"Did you mean '{name.environment}-{error.suggestion}'?" if error.suggestion else known
        return [*faults, fault(file, PLACE, f"There is no region '{name.region}' in the catalogue.", fix)]
    described = _described("region", root)
    if name.region not in described:
        fix = f"Write {root.name}/layers/region/{name.region}.yaml; existing: {', '.join(described)}."
        faults.append(fault(file, PLACE, f"The region '{name.region}' has no layer.", fix))
    return faults
