"""The rules as a policy pack: the plugin that Pulumi's engine asks about each resource."""
