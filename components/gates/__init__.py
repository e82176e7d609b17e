"""Steps of a deployment that wait until the deployed software works."""
