"""Lines for $GITHUB_OUTPUT: each environment's stacks, as `dev=["dev-westus2"]`, and `all` of them with both names."""

from __future__ import annotations

import json
import sys

from physical_ai.settings import StackName, deployed_to_azure

wanted = sys.argv[1:]
names = [StackName.parse(name) for name in deployed_to_azure()]
for environment in wanted:
    print(f"{environment}={json.dumps([str(each) for each in names if each.environment == environment])}")
every = [{"name": str(each), "environment": each.environment} for each in names if each.environment in wanted]
print(f"all={json.dumps(every)}")
