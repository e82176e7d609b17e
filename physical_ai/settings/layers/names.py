"""Stack names `<environment>-<region>`, and the files that belong to a stack."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path as FilePath

from physical_ai.catalog import UnknownName, nearest, region, regions
from physical_ai.repository import STACKS
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
    """Layers below the file of a stack on Azure, lowest first, by their name in messages."""
    parts = (f"env/{name.environment}", f"region/{name.region}")
    return {**target_layer("azure", root), **dict(_layer(part, root) for part in parts)}


def target_layer(kind: str, root: FilePath = STACKS) -> dict[str, FilePath]:
    """Layers below every stack with this kind of target: the base layer and the target's layer."""
    return dict(_layer(part, root) for part in ("base", f"target/{kind}"))


def profiles(root: FilePath = STACKS) -> list[str]:
    """Names of the profiles that a stack may choose, sorted."""
    return sorted(file.stem for file in (root / "layers" / "profile").glob("*.yaml"))


def profile_file(profile: str, root: FilePath = STACKS) -> tuple[str, FilePath]:
    """Name of a profile's file in messages, and its path."""
    return _layer(f"profile/{profile}", root)


def _layer(part: str, root: FilePath) -> tuple[str, FilePath]:
    return f"{root.name}/layers/{part}.yaml", root / "layers" / f"{part}.yaml"


def name_faults(name: StackName, root: FilePath = STACKS) -> list[Fault]:
    """Faults of a well-formed name whose environment or region has no layer."""
    file, faults = stack_label(str(name), root), list[Fault]()
    environments = sorted(path.stem for path in (root / "layers" / "env").glob("*.yaml"))
    if name.environment not in environments:
        near = nearest(name.environment, environments)
        hint = f"Did you mean '{near}-{name.region}'?" if near else f"Known: {', '.join(environments)}."
        fix = f"{hint}  A new one needs {root.name}/layers/env/{name.environment}.yaml."
        faults.append(fault(file, PLACE, f"There is no environment '{name.environment}'.", fix))
    try:
        region(name.region)
    except UnknownName as error:
        known = f"Known: {', '.join(regions())}."
        fix = f"Did you mean '{name.environment}-{error.suggestion}'?" if error.suggestion else known
        return [*faults, fault(file, PLACE, f"There is no region '{name.region}' in the catalogue.", fix)]
    if not (root / "layers" / "region" / f"{name.region}.yaml").is_file():
        described = sorted(path.stem for path in (root / "layers" / "region").glob("*.yaml"))
        fix = f"Write {root.name}/layers/region/{name.region}.yaml; existing: {', '.join(described)}."
        faults.append(fault(file, PLACE, f"The region '{name.region}' has no layer.", fix))
    return faults
