"""Azure resources that other components depend on: subscriptions, the resource group, identities and their roles."""
