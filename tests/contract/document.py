"""The kept copy of the OpenAPI document. Run as a program it is written anew: `python -m tests.contract.document`."""

from __future__ import annotations

import json
import os
from pathlib import Path

KEPT = Path(__file__).with_name("openapi.json")


def spelled() -> str:
    """The document as the API answers it, spelled one way."""
    from memory.api.site import api

    return json.dumps(api.document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()
    KEPT.write_text(spelled())
