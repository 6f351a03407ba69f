"""A simulated year: invented people who write nearly every day, and how much of it a policy keeps (spec C9).

- `material`: the texts and values of `facts.toml` and `talk.toml`, checked
- `people`: a person's facts with their truth over time, routines and style
- `year`: the turns and outcomes of a person's year
- `asking`: questions whose answers are planted, and recall's answers
- `simulate`: a year under a policy, week by week
- `figures`: the results of a year, as numbers
"""
