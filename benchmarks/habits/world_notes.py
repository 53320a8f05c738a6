"""The vault of the product in the stand-in world, and its web pages. Path to text."""

# ruff: noqa: E501  a note a row

from collections.abc import Mapping

_DECISIONS = {
    "001-queues": ("Queues instead of cron", "2025-02-03", "Labels are made by workers that read queues. Cron lost jobs at each deploy."),
    "002-postgres": ("PostgreSQL for parcels", "2025-02-17", "Parcels are kept in PostgreSQL. SQLite was ruled out because two workers write at once."),
    "003-webhook-signatures": ("Signed webhooks", "2025-03-10", "Deliveries are signed with SHA-384. Customers with old servers asked for SHA-1; that was refused."),
    "004-refunds": ("Refunds", "2025-04-02", "Lost parcels are refunded after 14 working days, up to 520 euros. Amara Obi signs refunds above 150 euros."),
    "005-carrier-onboarding": ("New carriers", "2025-05-19", "A new carrier runs on probation for 6 weeks with at most 3 % of the parcels."),
    "006-api-versions": ("Versions of the API", "2025-06-11", "A version of the API is served for 18 months after its successor. The header is Ferry-Version."),
    "007-feature-flags": ("Feature flags", "2025-07-07", "Flags live in the table `switches`. A flag that is older than 100 days breaks the build."),
    "008-cache": ("Cache of rates", "2025-08-14", "Rates are cached for 11 minutes. Superseded by 012-rate-cache."),
    "009-languages": ("Languages of the console", "2025-09-01", "The console speaks English, German, Polish and French. Spanish waits for a second translator."),
    "010-on-call": ("On call", "2025-10-20", "On-call weeks begin on Wednesday at 10:00. The runbook is runbooks/alarm-at-night.md."),
    "011-retention": ("How long data is kept", "2025-11-05", "Parcels are kept for 26 months, invoices for 10 years. The tax adviser asked for the latter."),
    "012-rate-cache": ("Cache of rates, again", "2026-01-12", "Rates are cached for 90 seconds, because carriers change surcharges during the day. Replaces 008."),
}  # fmt: skip

_RUNBOOKS = {
    "alarm-at-night": ("Alarm at night", "1. Look at the board `ferry-night`.\n2. Ring the second person after 25 minutes.\n3. Write what happened into the thread incidents.\n"),
    "restore-database": ("Restore the database", "1. Stop the workers.\n2. Restore with `ferryctl rewind --to TIME`.\n3. Compare the counts; see runbooks/compare-counts.md.\n"),
    "compare-counts": ("Compare counts", "Counts may differ by at most 0.02 % after a restore. More than that goes to Tomasz Wrona.\n"),
    "rotate-secrets": ("Rotate secrets", "Secrets of webhooks are rotated every 45 days with `ferryctl turn-keys`.\n"),
    "staging-database": ("A database for a branch", "Ask the bot: `/staging fork BRANCH`. It lives for 72 hours.\n"),
}  # fmt: skip

_MEETINGS = {
    "2026-01-19-planning": ("Planning", "Release 5.4 is planned for 12 March. Bulk labels go first; returns by QR code wait for 5.5."),
    "2026-02-02-carriers": ("Carriers", "Eastlink asks for larger windows. Harbour raises prices in April. Jonna Lind talks to both."),
    "2026-02-16-retro": ("Retrospective", "Deploys took 38 minutes on average. We want 15. Build cache first."),
    "2026-03-02-security": ("Security", "The audit found two open redirects. Both were closed on 27 February. The next audit is in September by Kestrel Labs."),
    "2026-03-16-support": ("Support", "Most tickets are about customs forms: 212 in February. A page in the help is to be written by Mirela."),
}  # fmt: skip

_THREADS = {
    "incidents": (
        ("2026-01-08T06:40:00Z", "Labels stood still from 05:10 to 06:25. Cause: the certificate of Corvid had expired."),
        ("2026-02-21T22:15:00Z", "Webhooks were late by 50 minutes. Cause: a customer answered each delivery after 30 s."),
        ("2026-03-11T03:35:00Z", "The janitor deleted nothing for nine nights. Cause: clock of worker-4 was a year ahead."),
    ),
    "bulk-labels": (
        ("2026-01-20T09:00:00Z", "Piotr: one PDF with all labels is too slow above 400 labels."),
        ("2026-01-22T11:30:00Z", "Jonna: customers want one file. Let us stream it."),
        ("2026-01-27T15:45:00Z", "Agreed: a ZIP of sheets with 48 labels each, made while it is downloaded."),
    ),
    "pricing": (
        ("2026-02-03T10:10:00Z", "Amara: islands cost us more than we charge."),
        ("2026-02-10T14:20:00Z", "Objection by Piotr: a surcharge for islands alone is unfair to Norway."),
        ("2026-02-12T08:05:00Z", "Left open until the figures of the first quarter are there."),
    ),
    "hiring": (
        ("2026-02-26T12:00:00Z", "Two offers are out. Desta begins on 4 May, in the team for tracking."),
    ),
}  # fmt: skip

_PEOPLE = """# People

- Amara Obi: finance
- Jonna Lind: carriers
- Tomasz Wrona: databases
- Mirela Pop: support
- Piotr Zych: labels
"""


def _thread(name: str, entries: tuple[tuple[str, str], ...]) -> str:
    return f"# {name}\n" + "".join(f"\n## {time}\n\n{text}\n" for time, text in entries)


NOTES: Mapping[str, str] = {
    "people.md": _PEOPLE,
    **{
        f"decisions/{name}.md": f"# {title}\n\nDate: {date}\nStatus: accepted\n\n{text}\n"
        for name, (title, date, text) in _DECISIONS.items()
    },
    **{f"runbooks/{name}.md": f"# {title}\n\n{text}" for name, (title, text) in _RUNBOOKS.items()},
    **{f"meetings/{name}.md": f"# {title}\n\n{text}\n" for name, (title, text) in _MEETINGS.items()},
    **{f"threads/{name}.md": _thread(name, entries) for name, entries in _THREADS.items()},
}

PAGES: Mapping[str, tuple[str, str]] = {
    "https://docs.postgresql.example/18/release": (
        "PostgreSQL 18 release notes",
        "PostgreSQL 18 was released on 25 September 2025. Major changes: asynchronous I/O, and virtual generated columns.",
    ),
    "https://python.example/3.14/whatsnew": (
        "What's new in Python 3.14",
        "Python 3.14 was released on 7 October 2025. Annotations are evaluated lazily; template strings are new.",
    ),
    "https://customs.example/ioss": (
        "Import One-Stop Shop",
        "Consignments up to 150 euros may be declared by IOSS; the seller collects the value added tax at checkout.",
    ),
    "https://weather.example/gdansk": (
        "Weather in Gdańsk",
        "Gdańsk today: 7 degrees, wind from the north-west at 31 km/h.",
    ),
    "https://fuel.example/index": (
        "Diesel index",
        "The weekly index for diesel in Europe stands at 1.643 euros a litre.",
    ),
    "https://printers.example/zpl": (
        "ZPL guide",
        "ZPL files begin with ^XA and end with ^XZ. A resolution of 203 dpi is the default of most thermal printers.",
    ),
    "https://kubernetes.example/1.35": (
        "Kubernetes 1.35",
        "Kubernetes 1.35 removes cgroup v1 support and makes in-place resizing of pods stable.",
    ),
}
"""Address to title and text."""
