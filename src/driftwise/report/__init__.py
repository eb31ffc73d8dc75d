"""Text tables, figures and HTML pages. This package handles numbers and text only, not learners."""
