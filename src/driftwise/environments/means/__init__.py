"""How the means move."""
