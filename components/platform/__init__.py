"""The component of the whole platform and its stages, in the order in which they are deployed."""
