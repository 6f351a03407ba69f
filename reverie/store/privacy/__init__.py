"""People's rights to their data: consent, receipts of erasures, files without residue, exports.

- `consents`: whether a subject is captured and recalled, and for how long what it said is kept
- `receipts`: receipts of erasures, in a chain of hashes
- `scrub`: rewrites tables, so that no file contains deleted rows
- `export_format`: the format of an export
"""
