"""Conversion of a simple `sbatch` script to an OSMO workflow. Parts that can't be converted are reported.

Pure functions.

>>> given = "#!/bin/bash\\n#SBATCH --job-name=hello --time=10\\necho hello\\n"
>>> result = convert(given, "hello.sbatch", [Platform("cpu", "cpu", has_gpu=False)], image="ubuntu:24.04")
>>> result.workflow["workflow"]["name"], result.workflow["workflow"]["timeout"]
('hello', {'exec_timeout': '10m'})

Semantics of options are those of `man sbatch` and of slurm.conf's defaults, Slurm 25.11.
"""

from __future__ import annotations

from workbench.osmo.sbatch.convert import Converted, convert
from workbench.osmo.sbatch.platform import Platform, platforms_of
from workbench.osmo.sbatch.writing import text

__all__ = ["Converted", "Platform", "convert", "platforms_of", "text"]
