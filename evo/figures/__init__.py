"""How figures and pages look; what they show is told where they are made."""
