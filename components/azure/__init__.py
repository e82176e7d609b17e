"""Azure resources that others depend on: subscriptions, the resource group, identities and their roles."""
