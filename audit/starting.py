"""A start of the node, step by step: port, tables, first owner, server and worker.

Invariants
- Whether the port is free is asked before anything is made.
- Link and token of a first start are printed to standard output before serving begins, once, and to no log.
- A first start makes the signing key; a node that joins a database that others founded makes none.
- With nothing to make, the start asks two databases for their migrations and one for an owner, and no more.
"""

from collections.abc import Callable

from django.conf import settings
from django.db import connection

from audit.environment import read_text
from audit.serving import N_THREADS, Address, CannotServe, require_free, serve
from memory.agents.accounts import sign_in_path
from memory.agents.setup import FirstRun, first_run
from memory.ledger.operations.checkpoints import signing_key
from memory.management.refusals import Refused
from memory.management.schema import bring_up_to_date

Say = Callable[[str], None]
FIRST_START = """\
First start. The namespace {namespace} has the owner {email}.

Sign in with this link; it works once, within a day:

    {url}{path}

The token of {agent}, shown only now. Write a first record with it:

    export PALIMPSEST_TOKEN={secret}
    curl {url}/api/v1/namespaces/{namespace}/records \\
      -H "Authorization: Bearer $PALIMPSEST_TOKEN" -H "Content-Type: application/json" \\
      -d '{{"type": "note", "content": "The first thing worth remembering."}}'
"""
SERVING = """\
Palimpsest serves {url} (state: {home}). Ctrl-C stops it.
Sign in at {url}/sign-in; `manage.py invite EMAIL --role ROLE --namespace NS` prints a fresh link."""
OTHER_HOSTS = "Only requests for the hosts {hosts} are answered; PALIMPSEST_HOSTS lists others."


def start(*, host: str, port: int, say: Say) -> None:
    """Serve until a stop signal comes.   Raises Refused (the port is not free; the server does not start)."""
    address = Address(host, port)
    try:
        require_free(address)
        bring_up_to_date()
        made = first_run(owner_email=read_text("PALIMPSEST_OWNER_EMAIL", default="owner@localhost"))
        if made is not None:
            signing_key(make=True)
            say(first_words(made, address))
        # The children open their own connections; this process needs none while they run.
        connection.close()
        serve(address, n_threads=N_THREADS[connection.vendor], when_ready=lambda: say(serving_words(address)))
    except CannotServe as error:
        raise Refused(str(error), returncode=2) from error


def first_words(made: FirstRun, address: Address) -> str:
    """What a first start tells, once."""
    return FIRST_START.format(
        namespace=made.namespace,
        email=made.owner.email,
        agent=made.agent,
        secret=made.secret,
        url=address.url,
        path=sign_in_path(made.owner),
    )


def serving_words(address: Address) -> str:
    """What every start tells once the server answers."""
    words = SERVING.format(url=address.url, home=settings.PALIMPSEST_HOME)
    if address.host in ("127.0.0.1", "::1", "localhost"):
        return words
    return f"{words}\n{OTHER_HOSTS.format(hosts=', '.join(settings.ALLOWED_HOSTS))}"
