"""Settings of the site, each read from the environment once; README lists the variables.

Invariants
- Without any variable set the site runs on SQLite under PALIMPSEST_HOME and answers on http://127.0.0.1 and localhost.
- Pages may load nothing from elsewhere and run no script or style that carries no nonce.
- Background tasks have their own SQLite file, whatever the database of the store.
"""

from pathlib import Path
from typing import Any

from django.utils.csp import CSP

from audit.environment import (
    DatabaseAddress,
    read_choice,
    read_database,
    read_flag,
    read_integer,
    read_path,
    read_secret,
    read_text,
    read_words,
)
from audit.home import make_home, read_or_make_secret
from audit.logs import log_settings

CHECKOUT = Path(__file__).resolve().parent.parent

# The store.
PALIMPSEST_HOME = make_home(read_path("PALIMPSEST_HOME", default=CHECKOUT / ".palimpsest"))
PALIMPSEST_ENVIRONMENT = read_text("PALIMPSEST_ENVIRONMENT", default="local")
PALIMPSEST_SIGNING_KEY_FILE = read_path("PALIMPSEST_SIGNING_KEY_FILE", default=PALIMPSEST_HOME / "signing.key")
PALIMPSEST_CHECKPOINT_TO = read_text("PALIMPSEST_CHECKPOINT_TO")

SQLITE_PRAGMAS = {
    "journal_mode": "WAL",
    "synchronous": "FULL",
    "foreign_keys": "ON",
    # Without it INSERT OR REPLACE goes round the triggers that refuse a delete.
    "recursive_triggers": "ON",
    # Erased text must not survive in free pages.
    "secure_delete": "ON",
}


def sqlite_database(path: Path | str) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(path),
        "OPTIONS": {
            "timeout": 5,
            "transaction_mode": "IMMEDIATE",
            "init_command": "".join(f"PRAGMA {name} = {value};" for name, value in SQLITE_PRAGMAS.items()),
        },
    }


def postgresql_database(address: DatabaseAddress, *, pool_size: int) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": address.name,
        "HOST": address.host,
        "PORT": address.port or "",
        "USER": address.user,
        "PASSWORD": address.password,
        # A connection that the server has closed meanwhile is replaced, not handed out.
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {**address.parameters, "pool": {"min_size": 1, "max_size": pool_size, "timeout": 5}},
    }


def store_database(address: DatabaseAddress, *, pool_size: int) -> dict[str, Any]:
    if address.engine == "sqlite":
        return sqlite_database(address.name)
    return postgresql_database(address, pool_size=pool_size)


DATABASES = {
    "default": store_database(
        read_database("DATABASE_URL", default=PALIMPSEST_HOME / "palimpsest.sqlite3"),
        pool_size=read_integer("PALIMPSEST_POOL_SIZE", default=8, least=1, most=1000),
    ),
    "tasks": sqlite_database(PALIMPSEST_HOME / "tasks.sqlite3"),
}
DATABASE_ROUTERS = ["audit.routers.TasksRouter"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}

# Shared by the worker processes of one node; holds counters of throttles, never a fact of the store.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
        "LOCATION": str(PALIMPSEST_HOME / "cache"),
    }
}

# The site.
SECRET_KEY = read_secret("PALIMPSEST_SECRET_KEY") or read_or_make_secret(PALIMPSEST_HOME / "secret.key")
DEBUG = read_flag("PALIMPSEST_DEBUG")
ALLOWED_HOSTS = list(read_words("PALIMPSEST_HOSTS", default=("localhost", "127.0.0.1", "[::1]")))
ROOT_URLCONF = "audit.urls"
WSGI_APPLICATION = "audit.wsgi.application"

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "django_tasks_db",
    "memory.apps.MemoryConfig",
    "audit.apps.AuditConfig",
]

MIDDLEWARE = [
    "audit.middleware.request_identity",
    "audit.middleware.access_log",
    "audit.middleware.secure_cookies",
    "django.middleware.security.SecurityMiddleware",
    "audit.compression.CompressedPages",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "audit.posting.told_methods",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [CHECKOUT / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.csp",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "audit.frame.framed",
            ],
        },
    }
]

STATIC_URL = "/static/"
STATICFILES_DIRS = [CHECKOUT / "static"]
# Served straight from the source folders: there is no collecting step to forget.
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"

# People.
LOGIN_URL = "/sign-in"
LOGIN_REDIRECT_URL = "/"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
# A one-time sign-in link works for a day.
PASSWORD_RESET_TIMEOUT = 24 * 60 * 60

# Safety.
SECURE_CSP = {
    "default-src": [CSP.NONE],
    "script-src": [CSP.SELF, CSP.NONCE],
    "style-src": [CSP.SELF, CSP.NONCE],
    "img-src": [CSP.SELF, "data:"],
    "font-src": [CSP.SELF],
    "connect-src": [CSP.SELF],
    "form-action": [CSP.SELF],
    "frame-ancestors": [CSP.NONE],
    "base-uri": [CSP.NONE],
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True

# A newcomer opens http://127.0.0.1:8000 and must be able to sign in there, so cookies are marked Secure on every answer
# given over https (audit.middleware.secure_cookies). PALIMPSEST_HTTPS, for a site behind a proxy that ends TLS, makes
# https the only way in.
PALIMPSEST_HTTPS = read_flag("PALIMPSEST_HTTPS")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PALIMPSEST_HTTPS
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_SSL_REDIRECT = PALIMPSEST_HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if PALIMPSEST_HTTPS else None
SECURE_HSTS_SECONDS = 365 * 24 * 60 * 60 if PALIMPSEST_HTTPS else 0
CSRF_FAILURE_VIEW = "audit.problems.csrf_failure"
# A larger body, uploaded files apart, is answered 413.
DATA_UPLOAD_MAX_MEMORY_SIZE = 16 * 1024 * 1024

LOGGING = log_settings(
    level=read_choice("PALIMPSEST_LOG_LEVEL", default="INFO", choices=("DEBUG", "INFO", "WARNING", "ERROR")),
    debug=DEBUG,
)
