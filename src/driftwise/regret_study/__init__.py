"""The regret study: the default learners and other parameter-free ones against the best tuned learner in hindsight."""
