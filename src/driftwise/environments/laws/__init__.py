"""How the losses scatter around the means."""
