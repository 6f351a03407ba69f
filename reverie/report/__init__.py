"""What the marts tell, as plots: the page of `reverie report` and the panels of the Grafana boards.

- `panels`: which panels there are, in which order, over which statements
- `marts`: their rows, read as a data team
- `page`: one HTML page of them
"""
