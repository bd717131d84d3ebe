"""Tables of agents, people's memberships, freezes, holds, settings and runs.

Invariants: nothing is changed in place; of several rows about one thing the newest seq counts. A token row holds the
SHA-256 of 32 random bytes and nothing that opens a door.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Exists, OuterRef

from memory.base.models import Evidence, Projection, SameNamespaceKey, entry_key, one_of
from memory.ledger.models import Restoration

ROLES = ("auditor", "reviewer", "owner", "none")
SCOPES = ("read", "write", "control")
RUN_KINDS = ("conversation", "task", "session", "case")
SETTINGS = ("approval_mode", "retention", "review_policy", "profile", "false_block_limit")


def _agent_key(name: str) -> SameNamespaceKey:
    return SameNamespaceKey(
        name=name, columns=("namespace", "agent"), to="memory_agent", to_columns=("namespace_id", "id")
    )


class Agent(Evidence):
    """An agent of one namespace; `name` is an id of the dictionary, `operator` the person who answers for it."""

    item_kind = "agent"

    pk = models.CompositePrimaryKey("namespace_id", "id")
    id = models.UUIDField()
    name = models.UUIDField()
    operator = models.BigIntegerField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "name"], name="agent_name"),
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="agent_item"),
            entry_key("agent_entry"),
        ]


class TokensInForce(models.Manager["Token"]):
    """Tokens that can open something here: not those of a restored archive, unless its people came along with it.

    A token may have been revoked on the former host after the archive was made.
    """

    def get_queryset(self) -> models.QuerySet[Token]:
        former = Restoration.objects.filter(
            namespace=OuterRef("namespace"), seq__gte=OuterRef("seq"), keeps_people=False
        )
        return super().get_queryset().filter(~Exists(former))


class Token(Evidence):
    """One key of one agent. `scopes` is a bit for each of SCOPES; `prefix` is what people recognise it by."""

    item_kind = "token"

    objects = models.Manager()
    in_force = TokensInForce()

    pk = models.CompositePrimaryKey("namespace_id", "id")
    id = models.UUIDField()
    agent = models.UUIDField()
    secret_hash = models.BinaryField(max_length=32)
    prefix = models.CharField(max_length=12)
    scopes = models.SmallIntegerField()
    expires_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "secret_hash"], name="token_secret"),
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="token_item"),
            _agent_key("token_agent"),
            entry_key("token_entry"),
        ]


class TokenRevocation(Evidence):
    """The token opens nothing from this entry on."""

    item_kind = "token_revocation"

    pk = models.CompositePrimaryKey("namespace_id", "seq", "item")
    token = models.UUIDField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["namespace", "token"], name="token_revocation_once"),
            SameNamespaceKey(
                name="token_revocation_token", columns=("namespace", "token"),
                to="memory_token", to_columns=("namespace_id", "id"),
            ),
            entry_key("token_revocation_entry"),
        ]  # fmt: skip


class InForce(models.Manager["Membership"]):
    """Memberships that count here: those of a restored archive only for accounts that came along with it."""

    def get_queryset(self) -> models.QuerySet[Membership]:
        former = Restoration.objects.filter(
            namespace=OuterRef("namespace"), seq__gte=OuterRef("seq"), keeps_people=False
        ).exclude(person=OuterRef("person"))
        return super().get_queryset().filter(~Exists(former))


class Membership(Evidence):
    """A person's role from this entry on; `none` ends it."""

    item_kind = "membership"

    objects = models.Manager()
    in_force = InForce()

    pk = models.CompositePrimaryKey("namespace_id", "seq", "item")
    person = models.BigIntegerField()
    role = models.CharField(max_length=10)
    expires_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [one_of("role", ROLES, "membership_role"), entry_key("membership_entry")]
        indexes: ClassVar = [models.Index(fields=["person", "namespace", "seq"], name="membership_person")]


class Freeze(Evidence):
    """The agent's writes are refused from this entry on, or admitted again."""

    item_kind = "freeze"

    pk = models.CompositePrimaryKey("namespace_id", "seq", "item")
    agent = models.UUIDField()
    frozen = models.BooleanField()

    class Meta:
        constraints: ClassVar = [_agent_key("freeze_agent"), entry_key("freeze_entry")]
        indexes: ClassVar = [models.Index(fields=["namespace", "agent", "seq"], name="freeze_agent_seq")]


class Hold(Evidence):
    """A retention hold on the namespace: erasing is refused while it stands."""

    item_kind = "hold"

    pk = models.CompositePrimaryKey("namespace_id", "seq", "item")
    held = models.BooleanField()
    until_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [entry_key("hold_entry")]


class Setting(Evidence):
    """A setting of the namespace; its value is content, the newest row counts."""

    item_kind = "setting"

    pk = models.CompositePrimaryKey("namespace_id", "seq", "item")
    name = models.CharField(max_length=24)

    class Meta:
        constraints: ClassVar = [one_of("name", SETTINGS, "setting_name"), entry_key("setting_entry")]


class Run(Evidence):
    """One task, session or case; title, references and runtime are content."""

    item_kind = "run"

    pk = models.CompositePrimaryKey("namespace_id", "id")
    id = models.UUIDField()
    kind = models.CharField(max_length=12)

    class Meta:
        constraints: ClassVar = [
            one_of("kind", RUN_KINDS, "run_kind"),
            models.UniqueConstraint(fields=["namespace", "seq", "item"], name="run_item"),
            entry_key("run_entry"),
        ]


class RunEnd(Evidence):
    """The run is over; later entries of it are shown after its end."""

    item_kind = "run_end"

    pk = models.CompositePrimaryKey("namespace_id", "seq", "item")
    run = models.UUIDField()

    class Meta:
        constraints: ClassVar = [
            SameNamespaceKey(
                name="run_end_run", columns=("namespace", "run"), to="memory_run", to_columns=("namespace_id", "id")
            ),
            entry_key("run_end_entry"),
        ]


class RunReference(Projection):
    """External references of runs (ticket, trace), so that "4411" finds its run."""

    pk = models.CompositePrimaryKey("namespace_id", "run_id", "key")
    namespace = models.ForeignKey("memory.Namespace", on_delete=models.PROTECT, related_name="+", db_index=False)
    run_id = models.UUIDField()
    seq = models.BigIntegerField()
    item = models.IntegerField()
    key = models.CharField(max_length=40)
    value = models.CharField(max_length=400)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["namespace", "value"], name="run_reference_value")]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["namespace", "value"], condition=models.Q(key="trace"), name="run_reference_trace"
            ),
        ]
