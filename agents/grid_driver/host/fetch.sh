#!/bin/bash
# Brings the installer into the cache. Exit codes: README.md.
set -u

# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

agent grid_agent.fetch
