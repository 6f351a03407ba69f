"""A simulated year: made-up people who write every day, and what a policy keeps of it (spec C9).

- `material`: the texts and values of `facts.toml` and `talk.toml`, checked
- `people`: a person's facts with their truth over time, routines and style
- `year`: the turns and outcomes of a person's year
- `asking`: the questions whose answers are planted, and what recall answers
- `simulate`: a year under a policy, week by week
- `figures`: what a year has shown, as numbers
"""
