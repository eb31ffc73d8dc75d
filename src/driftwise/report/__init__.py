"""How findings look: tables for a terminal, figures for a page. Knows numbers and words, not learners."""
