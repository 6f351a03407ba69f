"""Commands about generations: memories that a rebuild made beside the live one.

- `live`: the live memory that a command is about
- `shadow`: `reverie rebuild --shadow`
- `generations`: `reverie generations`
- `diff`: `reverie diff`
- `publish`: `reverie publish`
- `drill`: `reverie drill`
"""
