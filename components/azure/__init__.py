"""What other Azure resources depend on: subscriptions, the resource group, identities and their roles."""
