"""What an agent needs to write here: one block to paste for each kind of client, with everything filled in.

Invariants
- A block works as it is pasted: address, namespace and token of this server, the standard library of the language.
- Without a token at hand the block reads it from the environment; a secret stands only on the page that made it.
"""

from dataclasses import dataclass

from django.http import HttpRequest

VARIABLE = "PALIMPSEST_TOKEN"
FIRST_RECORD = "The first thing worth remembering."

CURL = """\
curl -sS {url}/api/v1/namespaces/{namespace}/records \\
  -H "Authorization: Bearer {token}" \\
  -H "Content-Type: application/json" \\
  -d '{{"type": "note", "content": "{text}"}}'"""

PYTHON = """\
import json{imports}
from urllib.request import Request, urlopen

request = Request(
    "{url}/api/v1/namespaces/{namespace}/records",
    data=json.dumps({{"type": "note", "content": "{text}"}}).encode(),
    headers={{"Authorization": {token}, "Content-Type": "application/json"}},
)
with urlopen(request) as answer:
    print(answer.read().decode())"""

GENERIC = """\
PALIMPSEST_URL={url}/api/v1/namespaces/{namespace}
{variable}={token}

# every request:   Authorization: Bearer ${variable}
# write a record:  POST $PALIMPSEST_URL/records   {{"type": "note", "content": "{text}"}}
# ask for it back: POST $PALIMPSEST_URL/recall    {{"query": "remembering"}}
# all routes:      {url}/api/v1/docs"""


@dataclass(frozen=True, slots=True)
class Block:
    """One text to paste, for one kind of client."""

    label: str
    note: str
    text: str


def server_url(request: HttpRequest) -> str:
    """The address by which this request reached the server, without a path."""
    return request.build_absolute_uri("/").rstrip("/")


def blocks(*, url: str, namespace: str, secret: str = "") -> tuple[Block, ...]:
    """The blocks for curl, Python and any other client; without a secret they read it from the environment."""
    given = {"url": url, "namespace": namespace, "text": FIRST_RECORD, "variable": VARIABLE}
    in_python = f'"Bearer {secret}"' if secret else f'"Bearer " + os.environ["{VARIABLE}"]'
    imports = "" if secret else "\nimport os"
    return (
        Block("curl", "in a terminal", CURL.format(token=secret or f"${VARIABLE}", **given)),
        Block("Python", "standard library only", PYTHON.format(token=in_python, imports=imports, **given)),
        Block("Any client", "address, header and routes", GENERIC.format(token=secret or "plm_…", **given)),
    )
