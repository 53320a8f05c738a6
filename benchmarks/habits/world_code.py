"""The source code of the product in the stand-in world: Ferry sends parcels. Path to text."""

# ruff: noqa: E501  text as it stands in its file

from collections.abc import Mapping

CARRIERS: Mapping[str, tuple[str, str, str]] = {
    "ardent": ("16:10", "31.5", "ES"),
    "bluebird": ("15:25", "20.0", "GB"),
    "corvid": ("17:40", "25.0", "DE"),
    "delmar": ("14:05", "30.0", "PT"),
    "eastlink": ("18:15", "40.0", "PL"),
    "fjord": ("13:50", "35.0", "NO"),
    "gallop": ("16:55", "15.0", "FR"),
    "harbour": ("12:35", "70.0", "NL"),
}
"""Name to hour of the last pick-up, heaviest parcel in kg, and home country."""

_CARRIER = '''"""The carrier {title}."""

from ferry.carriers.base import Carrier


class {title}(Carrier):
    """Parcels with {title}, from {country}."""

    code = "{name}"
    home = "{country}"
    last_pickup_{name} = "{pickup}"
    heaviest_{name}_kg = {heaviest}

    def label_url(self, parcel):
        return f"https://labels.{name}.example/{{parcel.number}}"

    def track_url(self, parcel):
        return f"https://track.{name}.example/{{parcel.number}}"
'''


def _zones() -> str:
    """A file too long for one result: places for those who page through it, and two figures far down."""
    rows = [
        f'    ("{prefix:05d}", "zone {prefix % 7}", {(prefix * 37) % 900 / 100 + 2:.2f}),' for prefix in range(3_200)
    ]
    rows[1_650] = '    ("ISLES", "zone islands", 18.45),  # islands without a bridge'
    rows[3_050] = '    ("ALPIN", "zone alpine", 21.30),  # valleys that are closed in winter'
    return '"""Prices by the first digits of a postcode, in euros."""\n\nZONES = [\n' + "\n".join(rows) + "\n]\n"


_FILES: Mapping[str, str] = {
    "README.md": "# Ferry\n\nFerry sends parcels with many carriers. The service is in `src/ferry`, its tests in `tests`.\n",
    "src/ferry/__init__.py": '"""Ferry sends parcels."""\n',
    "src/ferry/carriers/__init__.py": '"""One file per carrier."""\n',
    "src/ferry/carriers/base.py": '''"""What carriers have in common."""


class Carrier:
    """A company that takes parcels; see the files beside this one."""

    code = ""
    home = ""

    def label_url(self, parcel):
        raise NotImplementedError

    def track_url(self, parcel):
        raise NotImplementedError
''',
    "src/ferry/retries.py": '''"""Calls to carriers are tried again when they fail."""

MOST_ATTEMPTS = 7
FIRST_WAIT_S = 0.4
LONGEST_WAIT_S = 45


def waits():
    """The waits between the attempts: each twice as long as the one before."""
    wait = FIRST_WAIT_S
    for _ in range(MOST_ATTEMPTS - 1):
        yield min(wait, LONGEST_WAIT_S)
        wait *= 2
''',
    "src/ferry/sessions.py": '''"""Signed-in users."""

IDLE_LIMIT_MIN = 35
COOKIE = "ferry_session"


def is_expired(session, now):
    """Whether a session has been idle for too long."""
    return (now - session.last_seen).total_seconds() > IDLE_LIMIT_MIN * 60


def renew(session, now):
    session.last_seen = now
''',
    "src/ferry/tokens.py": '''"""Access tokens of the API."""

TOKEN_DAYS = 90
PREFIX = "fry_"


def issue(user, clock):
    """A new token; `revoke` ends all tokens of a user."""
    return PREFIX + user.secret(clock.now(), days=TOKEN_DAYS)


def revoke(user):
    user.tokens.clear()
''',
    "src/ferry/webhooks.py": '''"""Tells customers' servers about parcels."""

import hashlib
import hmac

SIGNATURE_HEADER = "X-Ferry-Mac"
MOST_DELIVERIES = 12


def sign(body, secret):
    """The signature of a delivery."""
    return hmac.new(secret, body, hashlib.sha384).hexdigest()


def deliver(hook, event, http):
    """Send an event; failed deliveries go to the queue named in `ferry.queues`."""
    headers = {SIGNATURE_HEADER: sign(event.body, hook.secret)}
    return http.post(hook.url, event.body, headers=headers)
''',
    "src/ferry/queues.py": '''"""Names of the queues, and who reads them."""

DEAD_LETTERS = "ferry.undelivered.v2"
LABELS = "ferry.labels"
WORKERS_PER_QUEUE = 6


def reader(queue):
    """The worker of a queue; undelivered events are read by `ferry.janitor`."""
    return f"{queue}.reader"
''',
    "src/ferry/janitor.py": '''"""Cleans up at night."""

RUNS_AT = "03:20"
KEEP_UNDELIVERED_DAYS = 21


def sweep(store, now):
    """Delete undelivered events after KEEP_UNDELIVERED_DAYS."""
    return store.delete_before(now, days=KEEP_UNDELIVERED_DAYS)
''',
    "src/ferry/labels.py": '''"""Labels of parcels."""

DPI = 203
FORMAT = "ZPL"


def render(parcel):
    """The label of a parcel, as ZPL for thermal printers."""
    return f"^XA^FO50,50^FD{parcel.number}^FS^XZ"
''',
    "src/ferry/rates.py": '''"""What a parcel costs."""

FUEL_SURCHARGE_PERCENT = 8.75
VOLUME_DIVISOR = 5000


def volume_weight_kg(parcel):
    """Length times width times height in cm, by VOLUME_DIVISOR."""
    return parcel.length * parcel.width * parcel.height / VOLUME_DIVISOR


def price(parcel, zone):
    """Base price of the zone (`ferry.zones`) with the fuel surcharge."""
    return zone.base * (1 + FUEL_SURCHARGE_PERCENT / 100)
''',
    "src/ferry/returns.py": '''"""Parcels that come back."""

RETURN_WINDOW_DAYS = 28


def may_return(parcel, today):
    """Whether a parcel may still be sent back."""
    return (today - parcel.delivered).days <= RETURN_WINDOW_DAYS
''',
    "src/ferry/tracking.py": '''"""Where parcels are."""

POLL_EVERY_MIN = 17
FINAL_STATES = ("delivered", "returned", "lost")


def next_poll(parcel, now):
    """When the carrier is asked again; never, in a final state."""
    return None if parcel.state in FINAL_STATES else now + POLL_EVERY_MIN * 60
''',
    "src/ferry/exports.py": '''"""Lists for the accounts department."""

SEPARATOR = ";"
MOST_ROWS = 65_000


def write(rows, file):
    """Write rows as CSV, with a byte order mark for spreadsheets."""
    file.write("\\ufeff")
    for row in rows[:MOST_ROWS]:
        file.write(SEPARATOR.join(map(str, row)) + "\\n")
''',
    "src/ferry/holidays.py": '''"""Days on which nothing is picked up."""

COUNTRIES_WITH_OWN_LISTS = ("DE", "FR", "PL", "NO")


def is_holiday(day, country):
    return day in load(country)


def load(country):
    """The holidays of a country, from the calendar service."""
    return ()
''',
    "src/ferry/http.py": '''"""The HTTP client for carriers."""

TIMEOUT_S = 12.5
POOL_SIZE = 48


def post(url, body, headers=None):
    """Send a request; carriers that need longer have their own setting."""
    raise NotImplementedError
''',
    "src/ferry/settings.py": '''"""Settings from the environment."""

import os

REGION = os.environ.get("FERRY_REGION", "eu-north-2")
LOG_LEVEL = os.environ.get("FERRY_LOG", "info")
RETENTION_MONTHS = int(os.environ.get("FERRY_RETENTION_MONTHS", "26"))
''',
    "src/ferry/addresses.py": '''"""Postal addresses."""

MOST_LINES = 5


def normalise(address):
    """Upper case, without accents where a carrier cannot print them."""
    return [line.strip().upper() for line in address.lines[:MOST_LINES]]
''',
    "src/ferry/customs.py": '''"""Papers for parcels that leave the customs union."""

LOW_VALUE_EUR = 22
FORM_ABOVE = "CN23"
FORM_BELOW = "CN22"


def form_for(parcel):
    """CN22 up to LOW_VALUE_EUR, CN23 above."""
    return FORM_BELOW if parcel.value_eur <= LOW_VALUE_EUR else FORM_ABOVE
''',
    "tests/test_retries.py": """from ferry.retries import waits


def test_waits_double():
    first, second, *_ = waits()
    assert second == 2 * first
""",
    "tests/test_webhooks.py": """from ferry.webhooks import sign


def test_signature_is_hex():
    assert set(sign(b"body", b"secret")) <= set("0123456789abcdef")
""",
    "tests/test_rates.py": """from ferry import rates


def test_surcharge_is_a_percentage():
    assert 0 < rates.FUEL_SURCHARGE_PERCENT < 100
""",
}

CODE: Mapping[str, str] = {
    **_FILES,
    "src/ferry/zones.py": _zones(),
    **{
        f"src/ferry/carriers/{name}.py": _CARRIER.format(
            name=name, title=name.title(), pickup=pickup, heaviest=heaviest, country=country
        )
        for name, (pickup, heaviest, country) in CARRIERS.items()
    },
}
