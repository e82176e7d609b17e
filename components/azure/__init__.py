"""What other Azure resources stand on: subscriptions, the resource group, identities and their roles."""
