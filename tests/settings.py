"""The settings of the site as tests use them: the same, with a throw-away home and the five changes listed here.

Invariants
- A test run never touches the state of the checkout. Workers of one run have a home each, below the one that the first
  process made: an erasure sweeps the jobs of its node, and would take those of another worker's tests along.
- The engine is chosen by DATABASE_URL alone, as in production.
- SQLite databases are files, so that journal mode, locks and triggers are the ones of production.
"""

import atexit
import os
import shutil
import tempfile

if "PALIMPSEST_TEST_HOME" not in os.environ:
    os.environ["PALIMPSEST_TEST_HOME"] = tempfile.mkdtemp(prefix="palimpsest-test-")
    atexit.register(shutil.rmtree, os.environ["PALIMPSEST_TEST_HOME"], ignore_errors=True)
os.environ["PALIMPSEST_HOME"] = os.path.join(  # noqa: PTH118
    os.environ["PALIMPSEST_TEST_HOME"], os.environ.get("PYTEST_XDIST_WORKER", "")
)

from audit.settings import *  # noqa: F403
from audit.settings import DATABASES, PALIMPSEST_HOME

for alias, database in DATABASES.items():
    database["TEST"] = {"NAME": f"test_{alias}"}
    if database["ENGINE"].endswith("sqlite3"):
        database["TEST"]["NAME"] = str(PALIMPSEST_HOME / f"test_{alias}.sqlite3")

# A task runs where it is enqueued: no worker process to wait for.
TASKS = {"default": {"BACKEND": "django.tasks.backends.immediate.ImmediateBackend"}}
# A slow hash protects people's passwords; no test needs it.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Counters of throttles must not pass from one worker of the run to another.
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
# Each test client builds the chain of middleware anew; it need look for no static file but those that are asked for.
WHITENOISE_AUTOREFRESH = True
