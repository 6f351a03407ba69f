"""Files of JSON lines that an evaluation reads."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from reverie.errors import InputError


def json_lines(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the objects of a file, gzipped or not, with their line numbers.

    Raises:
        InputError: the file cannot be read, or a line is not a JSON object; the message names the line.
    """
    number = 0
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            for number, text in enumerate(file, 1):
                if text.strip():
                    line = json.loads(text)
                    if not isinstance(line, dict):
                        raise InputError(f"{path.name}, line {number}: expected a JSON object.")
                    yield number, line
    except json.JSONDecodeError:
        raise InputError(f"{path.name}, line {number}: not JSON.") from None
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise InputError(f"{path.name} cannot be read as lines of JSON: {type(error).__name__}.") from None
