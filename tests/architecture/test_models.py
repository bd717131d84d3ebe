"""What kind of table each model is, and what its kind forbids."""

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection, models

from memory.base.models import Content, Evidence, Projection

KINDS = (Evidence, Content, Projection)
TEXT_FIELDS = (models.TextField, models.CharField, models.JSONField)
CODE_WORD = "a word of our code, never of a client"
# Text on evidence that no constraint limits to a list. It can never be erased, so each has its reason.
ALLOWED_TEXT = {
    "Namespace.name": "the address of the store, chosen by its owner; it goes only with the whole store",
    "Entry.verb": CODE_WORD,
    "Item.kind": CODE_WORD,
    "Reference.kind": CODE_WORD,
    "Erasure.target_part": CODE_WORD,
    "Erasure.reason": CODE_WORD,
    "Refusal.code": CODE_WORD,
    "Checkpoint.note": "a signed note: origin, size, root and signatures",
    "Token.prefix": "the first characters of a random token",
    "CheckRun.check_name": CODE_WORD,
    "Finding.kind": CODE_WORD,
    "Waiver.check_name": CODE_WORD,
    "ImportFinding.code": CODE_WORD,
    "ImportFinding.clause": "the number of a law",
    "Derivation.content_rule": CODE_WORD,
    "Derivation.type_rule": CODE_WORD,
    "Derivation.valid_rule": CODE_WORD,
}

# Primary keys that do not start with the namespace.
ALLOWED_KEYS = {
    ("FactRect", ("id",)): "a spatial index finds rows by one integer alone; each row is read with its namespace",
}

MODELS = sorted(apps.get_app_config("memory").get_models(), key=lambda model: model.__name__)
GUARDED = [model for model in MODELS if issubclass(model, Evidence | Content)]


def name_of(model: type[models.Model]) -> str:
    return model.__name__


def enumerated(model: type[models.Model]) -> set[str]:
    """Columns that a constraint of the database limits to a list of words."""
    checks = [each.condition for each in model._meta.constraints if isinstance(each, models.CheckConstraint)]
    pairs = [child for condition in checks for child in condition.children if isinstance(child, tuple)]
    return {str(lookup).removesuffix("__in") for lookup, _ in pairs if str(lookup).endswith("__in")}


def unlimited_text(model: type[models.Model]) -> set[str]:
    fields = [field.name for field in model._meta.concrete_fields if isinstance(field, TEXT_FIELDS)]
    return {f"{model.__name__}.{name}" for name in fields if name not in enumerated(model)}


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_a_model_is_of_exactly_one_kind(model: type[models.Model]) -> None:
    assert len([kind for kind in KINDS if issubclass(model, kind)]) == 1


@pytest.mark.parametrize("model", [model for model in MODELS if issubclass(model, Evidence)], ids=name_of)
def test_evidence_holds_no_text_without_a_reason(model: type[models.Model]) -> None:
    assert unlimited_text(model) - ALLOWED_TEXT.keys() == set()


def test_every_reason_for_text_on_evidence_is_still_needed() -> None:
    needed = {name for model in MODELS if issubclass(model, Evidence) for name in unlimited_text(model)}
    assert ALLOWED_TEXT.keys() - needed == set()


@pytest.mark.parametrize("model", [model for model in MODELS if name_of(model) != "Namespace"], ids=name_of)
def test_every_key_starts_with_the_namespace(model: type[models.Model]) -> None:
    keys = [tuple(getattr(model._meta.pk, "field_names", (model._meta.pk.name,)))]
    keys += [each.fields for each in model._meta.constraints if isinstance(each, models.UniqueConstraint)]
    keys += [(field.name,) for field in model._meta.concrete_fields if field.unique and not field.primary_key]
    odd = {(model.__name__, key) for key in keys if key[0].removesuffix("_id") != "namespace"}
    assert odd - ALLOWED_KEYS.keys() == set()


def test_every_reason_for_a_key_of_its_own_is_still_needed() -> None:
    primary = {(model.__name__, (model._meta.pk.name,)) for model in MODELS}
    assert ALLOWED_KEYS.keys() - primary == set()


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_no_column_lists_its_choices(model: type[models.Model]) -> None:
    assert [field.name for field in model._meta.concrete_fields if field.choices] == []


def guarded_events(table: str) -> set[str]:
    """The events on a table that a trigger meets before they happen."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT upper(sql) FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s", [table])
            statements = [row[0] for row in cursor.fetchall()]
            return {event for event in ("UPDATE", "DELETE") for sql in statements if f"BEFORE {event}" in sql}
        # The bits of tgtype: before 2, delete 8, update 16, truncate 32.
        cursor.execute(
            "SELECT tgtype FROM pg_trigger WHERE tgrelid = %s::regclass AND tgenabled = 'O' AND tgtype & 2 <> 0",
            [table],
        )
        kinds = [row[0] for row in cursor.fetchall()]
        bits = {"DELETE": 8, "UPDATE": 16, "TRUNCATE": 32}
        return {event for event, bit in bits.items() if any(kind & bit for kind in kinds)}


@pytest.mark.django_db
@pytest.mark.parametrize("model", GUARDED, ids=name_of)
def test_evidence_and_content_are_guarded_by_the_database(model: type[models.Model]) -> None:
    expected = {"UPDATE", "DELETE"} if connection.vendor == "sqlite" else {"UPDATE", "DELETE", "TRUNCATE"}
    assert guarded_events(model._meta.db_table) == expected


@pytest.mark.django_db(databases="__all__")
def test_no_model_waits_for_a_migration() -> None:
    call_command("makemigrations", check_changes=True, dry_run=True, verbosity=0)
