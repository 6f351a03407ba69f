"""The inspector: pages in a browser that show what is remembered and why, and correct, erase and publish it.

The server makes the pages; there is no script. Every page reads through the functions of the CLI and the API, in a
session of one tenant.

- `app`: mounts the inspector in the API's app
- `visits`: one request: who is signed in, of which tenant the page is
- `signing`: signed cookies and the tokens of forms
- `rendering`: templates, links and formats
- `marking`: the words of a turn that a memory repeats
- `drawing`: plots and graphs as coordinates of SVG
- `reading`: what only the inspector reads
- `counting`: counts of a tenant, taken beside the requests
- `jobs`: comparing and publishing beside the requests
- `views/`: the pages, one module a topic
"""
