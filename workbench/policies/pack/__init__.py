"""The rules as a policy pack: the plugin to which Pulumi's engine passes each resource."""
