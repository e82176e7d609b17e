"""The rules as a Pulumi policy pack: a plugin to which the engine passes each resource."""
