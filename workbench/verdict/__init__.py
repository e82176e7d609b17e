"""Azure's own verdict on what a stack declares, before anything is created: ARM's validation and what-if.

The declared resources become deployment templates, which ARM judges with the caller's login and deploys nothing of.
"""
