"""The marts as plots: the page of `reverie report` and the panels of the Grafana boards.

- `panels`: the panels, their order and their statements
- `marts`: reads their rows in the role of a data team
- `page`: makes one HTML page of them
"""
