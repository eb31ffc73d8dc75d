"""Full feedback: every loss is seen."""
