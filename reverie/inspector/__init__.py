"""The inspector: web pages that show memory and the reasons for it, and that correct, erase and publish it.

The server renders the pages; there are no scripts. Every page reads through the functions of the CLI and the API, in a
session of one tenant.

- `app`: mounts the inspector in the API's app
- `visits`: one request: its visitor and its tenant
- `signing`: signed cookies and the tokens of forms
- `rendering`: templates, links and formats
- `marking`: the words of a turn that a memory repeats
- `drawing`: plots and graphs as SVG coordinates
- `reading`: queries that only the inspector needs
- `counting`: counts of a tenant, made in the background
- `jobs`: comparing and publishing in the background
- `views/`: the pages, one module for each topic
"""
