"""Resource validations of OSMO: comparisons of a task's resources with numbers, or with the resources of nodes."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict

from workbench.osmo.choices import OperatorType

_TOKEN = re.compile(r"\{\{([^}]+)\}\}")
_NODE_TOKENS = ("K8_STORAGE", "K8_CPU", "K8_MEMORY", "K8_GPU", "K8_GPU_PRODUCT", "K8_GPU_CUDA_DRIVER")


class ResourceAssertion(BaseModel):
    """A comparison of two texts after rendering, with the message that OSMO shows if the comparison fails."""

    model_config = ConfigDict(extra="forbid", use_enum_values=True)

    operator: OperatorType
    left_operand: str
    right_operand: str
    assert_message: str

    @property
    def is_about_nodes(self) -> bool:
        """True if OSMO checks the validation against each node. OSMO does so if the first token in the left or in the
        right operand contains the name of one of the node tokens (K8_…).
        """
        for operand in (self.left_operand, self.right_operand):
            first = _TOKEN.search(operand)
            if first is not None and any(name in first[1] for name in _NODE_TOKENS):
                return True
        return False
