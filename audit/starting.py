"""A start of the node, step by step: port, tables, first owner, server and worker.

Invariants
- Whether the port is free is asked before anything is made.
- Link and token of a first start are printed to standard output before serving begins, once, and to no log.
- A first start makes the signing key; a node that joins a database that others founded makes none.
- The demo is a start in its own folder, with its own people.
- With nothing to make, the start asks two databases for their migrations and one for an owner, and no more.
"""

from collections.abc import Callable
from typing import Any, cast

from django.conf import settings
from django.db import connection, connections

from audit.demo import seeding
from audit.demo.cast import PEOPLE
from audit.demo.door import Unexpected
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
LOOK_FIRST = """\
Once signed in, look first at
    {url}/?ns=xz-2024       a real incident of 2024, replayed through the API
    {url}/?ns=digits        what a classifier stated of images, as they are and, from one day on, turned
    {url}/?ns=demo.app-core a store that ContextFS wrote; its texts are synthetic
Other commands find this store with PALIMPSEST_HOME={home}
"""
OTHER_DATA = "The demo in {home} was filled by another version; delete the folder to have it filled anew.\n"
OTHER_HOSTS = "Only requests for the hosts {hosts} are answered; PALIMPSEST_HOSTS lists others."


def start(*, host: str, port: int, demo: bool, say: Say) -> None:
    """Serve until a stop signal comes.   Raises Refused (the port is not free; the server does not start)."""
    if demo:
        seeding.enter_home()
    address = Address(host, port)
    try:
        require_free(address)
        bring_up_to_date()
        email = read_text("PALIMPSEST_OWNER_EMAIL", default="owner@localhost")
        if demo:
            seeding.make_people()
            email = PEOPLE[0].email
        made = first_run(owner_email=email)
        if made is not None:
            signing_key(make=True)
            say(first_words(made, address))
        if demo:
            say(demo_words(seeding.seed(settings.PALIMPSEST_HOME, say=say), address, was_told=made is not None))
        _leave_databases()
        serve(address, n_threads=N_THREADS[connection.vendor], when_ready=lambda: say(serving_words(address)))
    except (CannotServe, Unexpected) as error:
        raise Refused(str(error), returncode=2 if isinstance(error, CannotServe) else 1) from error


def _leave_databases() -> None:
    """The children open their own connections; this process needs none, and no pool of them, while they run."""
    for each in connections.all():
        each.close()
        if each.vendor == "postgresql":
            cast(Any, each).close_pool()


def demo_words(seeded: seeding.Seeded, address: Address, *, was_told: bool) -> str:
    """The links of this start; `was_told`: the first owner's stands above already."""
    lines = [] if seeded.is_current else [OTHER_DATA.format(home=settings.PALIMPSEST_HOME)]
    for person, path in seeding.fresh_links(with_owner=not was_told, is_first=seeded.is_first):
        lines += [f"Sign in as {person.name} ({person.role}), once:", f"    {address.url}{path}", ""]
    lines += [LOOK_FIRST.format(url=address.url, home=settings.PALIMPSEST_HOME)]
    return "\n".join(lines)


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
