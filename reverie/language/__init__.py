"""Language: what texts say, by rule and without a model."""
