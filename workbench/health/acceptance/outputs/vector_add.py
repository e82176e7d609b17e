"""Reader of the output of `vectorAdd` from the CUDA samples."""

from __future__ import annotations

import re

from workbench.health.acceptance.outputs.unrecognised import Unrecognised, last_line


def read_vector_add(text: str) -> str:
    """Reason why the addition on the GPU failed; empty if its result was right.

    Raises:
        Unrecognised: the text has neither the result nor an error of CUDA.
    """
    if re.search(r"^Test PASSED\s*$", text, re.MULTILINE):
        return ""
    failed = re.search(r"^(Failed to .*|Result verification failed.*)$", text, re.MULTILINE)
    if failed is None:
        raise Unrecognised(f"vectorAdd printed no result: {last_line(text)}")
    return failed[1]
