"""Output of `helm template`, with a cache for the charts that always render the same output."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class RenderedCharts:
    """Cache, in `folder`, of the rendered output of the charts in `charts`.

    Only these charts are cached: their paths contain a digest of their content, and they call no function with a random
    result. Any other chart is rendered each time, as by the official plugin: a chart that generates a key renders
    differently in each preview, and the preview has to show that.
    """

    charts: Path
    folder: Path

    def rendered(self, arguments: Sequence[str], values: Mapping[str, Any], render: Callable[[], str]) -> str:
        """Output of `render` for these arguments of helm and these values, or its stored output from an
        earlier call.
        """
        if not any(Path(argument).parent == self.charts for argument in arguments):
            return render()
        # The key has the chart's name, not its path, which differs between homes. The name contains the digest of the
        # chart.
        names = [Path(each).name if Path(each).parent == self.charts else each for each in arguments]
        digest = hashlib.sha256(json.dumps([*names, values], sort_keys=True).encode()).hexdigest()
        kept = self.folder / f"{digest}.yaml"
        try:
            return kept.read_text(encoding="utf-8")
        except FileNotFoundError:
            pass
        manifest = render()
        self.folder.mkdir(parents=True, exist_ok=True)
        descriptor, unfinished = tempfile.mkstemp(dir=self.folder)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(manifest)
        os.rename(unfinished, kept)
        return manifest
