"""Turn solver by memoised search on engine states, with card effects and chance nodes."""

IGNORE, MEAN, WORST = range(3)
SECRETS = {"ignore": IGNORE, "mean": MEAN, "worst": WORST}
"""How plans are valued against hidden Secrets: not at all, by the mean, or by the worst hypothesis."""
