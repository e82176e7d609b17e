"""The component of the whole platform and its parts, in the order in which they are deployed."""
