"""Names that GitHub's runner controller gives to objects and reads from them, copied from the controller's source. The
deployed code does not share them, so a wrong name there fails in the simulator.

Source: actions/actions-runner-controller tag gha-runner-scale-set-0.14.2,
charts/gha-runner-scale-set-controller/templates/_helpers.tpl and controllers/actions.github.com/constants.go; read
2026-11-23.
"""

from __future__ import annotations

PART_OF = {"app.kubernetes.io/part-of": "gha-rs-controller"}
"""Label of the runner controller's Deployment."""
SCALE_SET_LABEL = "actions.github.com/scale-set-name"
"""Label of everything that belongs to a scale set."""
