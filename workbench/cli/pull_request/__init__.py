"""Preview of a change on every stack that it affects, with the results in one comment. The base of the change is
deployed to a simulator, and the head is previewed against that deployment.
"""
