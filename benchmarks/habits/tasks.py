"""Questions about the stand-in world, and what a whole answer to each has; two fifths are not in English."""

# ruff: noqa: E501  a question and its facts a row

from dataclasses import dataclass

from benchmarks.habits.world_code import CARRIERS


@dataclass(frozen=True)
class Fact:
    """Something that a whole answer says.

    Args:
        key: names it.
        token: the text by which it is known, in a source and in an answer; of something that does not exist, what the
            answer says instead.
        places: where it stands, each `group:path`; of something that does not exist, the groups in which to look.
        words: searches that lead there, best first; none if another fact's source names the place.
        exists: false of what is to be looked for in vain.
        write: the call that makes it true, for what is to be written.
    """

    key: str
    token: str
    places: tuple[str, ...]
    words: tuple[str, ...] = ()
    exists: bool = True
    write: tuple[str, tuple[tuple[str, str], ...]] | None = None

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(place.partition(":")[0] for place in self.places))


@dataclass(frozen=True)
class Question:
    """One message of the user.

    Args:
        text: what is asked.
        facts: what the answer has; for a bare courtesy, nothing that needs a source.
    """

    text: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Task:
    """A conversation of one or two questions.

    Args:
        name: names it.
        questions: in order.
        language: of the questions.
        parts: how many replies a whole answer needs, because it is long.
    """

    name: str
    questions: tuple[Question, ...]
    language: str = "en"
    parts: int = 1


def _code(key: str, token: str, file: str, *words: str) -> Fact:
    return Fact(key, token, (f"code:src/ferry/{file}",), words)


def _note(key: str, token: str, file: str, *words: str) -> Fact:
    return Fact(key, token, (f"vault:{file}.md",), words)


def _talk(key: str, token: str, thread: str, *words: str) -> Fact:
    return Fact(key, token, (f"thread:threads/{thread}.md",), words)


def _page(key: str, token: str, url: str, *words: str) -> Fact:
    return Fact(key, token, (f"web:https://{url}",), words)


def _one(name: str, text: str, *facts: Fact, language: str = "en", parts: int = 1) -> Task:
    return Task(name, (Question(text, facts),), language, parts)


ATTEMPTS = _code("attempts", "MOST_ATTEMPTS = 7", "retries.py", "retry attempts carriers", "MOST_ATTEMPTS")
LONGEST = _code("longest wait", "LONGEST_WAIT_S = 45", "retries.py", "wait between attempts", "LONGEST_WAIT_S")
IDLE = _code("idle limit", "IDLE_LIMIT_MIN = 35", "sessions.py", "session idle expired", "IDLE_LIMIT_MIN")
TOKENS = _code("token days", "TOKEN_DAYS = 90", "tokens.py", "access token days", "TOKEN_DAYS")
MAC = _code("header", 'SIGNATURE_HEADER = "X-Ferry-Mac"', "webhooks.py", "webhook signature header", "SIGNATURE_HEADER")
DEAD = _code("dead letters", 'DEAD_LETTERS = "ferry.undelivered.v2"', "queues.py", "undelivered queue", "DEAD_LETTERS")
SWEEP = _code(
    "kept days", "KEEP_UNDELIVERED_DAYS = 21", "janitor.py", "janitor undelivered delete", "KEEP_UNDELIVERED_DAYS"
)
POLL = _code("poll", "POLL_EVERY_MIN = 17", "tracking.py", "tracking poll carrier", "POLL_EVERY_MIN")
FUEL = _code(
    "surcharge", "FUEL_SURCHARGE_PERCENT = 8.75", "rates.py", "fuel surcharge percent", "FUEL_SURCHARGE_PERCENT"
)
VOLUME = _code("divisor", "VOLUME_DIVISOR = 5000", "rates.py", "volume weight divisor", "VOLUME_DIVISOR")
RETURNS = _code("window", "RETURN_WINDOW_DAYS = 28", "returns.py", "return window days", "RETURN_WINDOW_DAYS")
ROWS = _code("rows", "MOST_ROWS = 65_000", "exports.py", "export rows limit csv", "MOST_ROWS")
TIMEOUT = _code("timeout", "TIMEOUT_S = 12.5", "http.py", "http client timeout", "TIMEOUT_S")
MONTHS = _code(
    "months", '"FERRY_RETENTION_MONTHS", "26"', "settings.py", "retention months setting", "RETENTION_MONTHS"
)
CUSTOMS = _code("form", 'FORM_ABOVE = "CN23"', "customs.py", "customs form value", "FORM_ABOVE")
LOW_VALUE = _code("low value", "LOW_VALUE_EUR = 22", "customs.py", "customs low value", "LOW_VALUE_EUR")
DPI = _code("dpi", "DPI = 203", "labels.py", "label resolution dpi", "DPI")
ISLES = _code("islands", "18.45", "zones.py", "zone islands price", "ISLES")
ALPINE = _code("alpine", "21.30", "zones.py", "zone alpine price", "ALPIN")

REFUND = _note("refund", "after 14 working days", "decisions/004-refunds", "refunds lost parcels", "refund")
SIGNS = _note("who signs", "Amara Obi signs", "decisions/004-refunds", "refunds signed by", "refunds above")
PROBATION = _note("probation", "6 weeks", "decisions/005-carrier-onboarding", "new carrier probation", "onboarding")
SUNSET = _note("served", "18 months", "decisions/006-api-versions", "API version served", "version successor")
SQLITE = _note(
    "why", "two workers write at once", "decisions/002-postgres", "PostgreSQL SQLite decision", "parcels database"
)
SHA1 = _note("sha-1", "SHA-384", "decisions/003-webhook-signatures", "webhook signatures decision", "signed deliveries")
CACHE = _note("cache", "90 seconds", "decisions/012-rate-cache", "rate cache", "cache of rates superseded")
SPANISH = _note("spanish", "second translator", "decisions/009-languages", "languages console Spanish", "translator")
WEEKS = _note("on call", "Wednesday at 10:00", "decisions/010-on-call", "on-call weeks", "on call")
NIGHT = _note("second person", "after 25 minutes", "runbooks/alarm-at-night")
REWIND = _note("restore", "ferryctl rewind --to TIME", "runbooks/restore-database", "restore database", "restore")
COUNTS = _note("difference", "0.02 %", "runbooks/compare-counts")
ROTATE = _note("rotate", "every 45 days", "runbooks/rotate-secrets", "rotate secrets webhooks", "turn-keys")
STAGING = _note("staging", "/staging fork BRANCH", "runbooks/staging-database", "database for a branch", "staging")
RELEASE = _note("release", "12 March", "meetings/2026-01-19-planning", "release planned", "release 5.4")
DEPLOY = _note("deploys", "38 minutes", "meetings/2026-02-16-retro", "deploy duration retrospective", "deploys")
AUDIT = _note("auditor", "Kestrel Labs", "meetings/2026-03-02-security", "security audit next", "audit")
INVOICES = _note(
    "invoices", "invoices for 10 years", "decisions/011-retention", "how long data is kept", "retention invoices"
)
KEPT = _note("kept", "kept for 26 months", "decisions/011-retention", "how long data is kept", "retention parcels")
TICKETS = _note("tickets", "212 in February", "meetings/2026-03-16-support", "support tickets customs", "tickets")

CORVID = _talk("cause", "certificate of Corvid", "incidents", "labels stood still", "incident labels")
NIGHTS = _talk("nine nights", "clock of worker-4", "incidents", "janitor deleted nothing", "incident janitor")
SHEETS = _talk("agreed", "a ZIP of sheets with 48 labels", "bulk-labels", "bulk labels agreed", "bulk labels PDF")
ISLANDS = _talk("objection", "unfair to Norway", "pricing", "surcharge islands objection", "islands")
OPEN = _talk("state", "figures of the first quarter", "pricing", "islands surcharge left open", "islands pricing")
DESTA = _talk("desta", "4 May", "hiring", "Desta begins", "hiring offers")

PG18 = _page(
    "postgres 18", "virtual generated columns", "docs.postgresql.example/18/release", "PostgreSQL 18 release changes"
)
PY314 = _page("python 3.14", "template strings are new", "python.example/3.14/whatsnew", "what's new Python 3.14")
IOSS = _page("ioss", "up to 150 euros", "customs.example/ioss", "IOSS consignments euros limit")
GDANSK = _page("weather", "7 degrees", "weather.example/gdansk", "weather Gdańsk today")
DIESEL = _page("diesel", "1.643 euros", "fuel.example/index", "diesel index Europe week")
K8S = _page("kubernetes", "cgroup v1", "kubernetes.example/1.35", "Kubernetes 1.35 changes removes")

PICKUPS = tuple(
    _code(
        f"pick-up {name}",
        f'last_pickup_{name} = "{pickup}"',
        f"carriers/{name}.py",
        f"last_pickup_{name}",
        f"{name} pickup",
    )
    for name, (pickup, _, _) in CARRIERS.items()
)
WEIGHTS = tuple(
    _code(f"heaviest {name}", f"heaviest_{name}_kg = {kg}", f"carriers/{name}.py", f"heaviest_{name}_kg", f"{name} kg")
    for name, (_, kg, _) in CARRIERS.items()
)


def _nowhere(key: str, *groups: str, words: tuple[str, ...]) -> Fact:
    return Fact(key, f"found nothing about {key}", tuple(f"{group}:" for group in groups), words, exists=False)


def _written(path: str, body: str) -> Fact:
    return Fact("note", f"Wrote {path}", (f"vault:{path}",), write=("vault_write", (("path", path), ("body", body))))


def _logged(thread: str, content: str) -> Fact:
    call = ("thread_push", (("thread", thread), ("content", content)))
    return Fact("entry", f"Added to the thread threads/{thread}.md", (f"thread:threads/{thread}.md",), write=call)


PLAIN = (
    _one("attempts", "How often does the code retry a call to a carrier?", ATTEMPTS),
    _one("idle", "Nach wie vielen Minuten läuft im Code eine Sitzung ab?", IDLE, language="de"),
    _one("tokens", "Where is the lifetime of access tokens defined in our code?", TOKENS),
    _one("webhook mac", "Quel en-tête notre code utilise-t-il pour signer les webhooks ?", MAC, language="fr"),
    _one("polling", "How often do we ask carriers where a parcel is?", POLL),
    _one("divisor", "Jaki dzielnik stosuje kod do wagi objętościowej?", VOLUME, language="pl"),
    _one("csv rows", "how many rows fit into an accounts export", ROWS),
    _one("customs", "¿Qué formulario de aduanas usa el código y desde qué valor?", CUSTOMS, LOW_VALUE, language="es"),
    _one("http timeout", "default timeout of the http client for carriers?", TIMEOUT),
    _one("refunds", "How do refunds work?", REFUND, SIGNS),
    _one(
        "probation",
        "Wie lange ist ein neuer Frachtführer laut unseren Entscheidungen auf Probe?",
        PROBATION,
        language="de",
    ),
    _one("postgres", "Why did we decide on PostgreSQL instead of SQLite?", SQLITE),
    _one("spanish", "¿Por qué la consola todavía no habla español?", SPANISH, language="es"),
    _one("staging", "how do i get a database for my branch", STAGING),
    _one("audit", "Who does the next security audit?", AUDIT),
    _one("deploys", "Combien de temps durent nos déploiements d'après la rétrospective ?", DEPLOY, language="fr"),
    _one("labels incident", "What was the cause when labels stood still in January?", CORVID),
    _one("bulk labels", "What was agreed in the thread about bulk labels?", SHEETS),
    _one("islands", "Wer hatte im Thread etwas gegen den Inselzuschlag, und warum?", ISLANDS, language="de"),
    _one("postgres 18", "What is new in PostgreSQL 18?", PG18),
    _one("weather", "Jaka jest dziś pogoda w Gdańsku?", GDANSK, language="pl"),
    _one("ioss", "Up to which value can a consignment be declared by IOSS?", IOSS),
    _one("kubernetes", "Kubernetes 1.35 有哪些重大变更?", K8S, language="zh"),
    _one("returns", "返品は何日以内なら受け付けていますか。コードではどうなっていますか。", RETURNS, language="ja"),
    _one("dpi", "Qual é a resolução das etiquetas no código?", DPI, language="pt"),
)
"""One look, or two."""

COMPOUND = (
    _one("retention", "Does the code keep parcels as long as our decision on retention says?", MONTHS, KEPT),
    _one("night alarm", "Was ist nach unserer Bereitschaftsregel bei einem Alarm in der Nacht zu tun?", WEEKS, NIGHT, language="de"),
    _one("restore", "How do we restore the database, and how far may the counts differ afterwards?", REWIND, COUNTS),
    _one("webhook hash", "Which hash do we sign webhooks with, why not SHA-1, and which header carries it?", MAC, SHA1),
    _one("undelivered", "What happens to webhooks that cannot be delivered: which queue, and when are they deleted?", DEAD, SWEEP),
    _one("janitor", "Pourquoi le nettoyage n'a-t-il rien supprimé en mars, et que fait le code normalement ?", NIGHTS, SWEEP, language="fr"),
    _one("island price", "Ile kosztuje strefa wysp w kodzie i co ustalono o dopłacie w wątku?", ISLES, OPEN, language="pl"),
    _one("fuel", "Is our fuel surcharge in line with this week's diesel index?", FUEL, DIESEL),
    _one("secrets", "How often are webhook secrets rotated, and where is the signature computed?", ROTATE, MAC),
    Task(
        "rate cache",
        (
            Question("What did we decide about the cache of rates?", (CACHE,)),
            Question("And where is the fuel surcharge in the code?", (FUEL,)),
        ),
    ),
    Task(
        "versions",
        (
            Question("How long is an old version of our API served?", (SUNSET,)),
            Question("and when is release 5.4 planned?", (RELEASE,)),
        ),
    ),
    Task(
        "hiring",
        (
            Question("Wann fängt Desta an?", (DESTA,)),
            Question("Und wie lange bewahren wir Rechnungen auf?", (INVOICES,)),
        ),
        language="de",
    ),
    Task(
        "python",
        (
            Question("What's new in Python 3.14?", (PY314,)),
            Question("Thanks! And how many support tickets about customs forms did we have?", (TICKETS,)),
        ),
    ),
)  # fmt: skip
"""Several sources, one that leads to another, or a second question."""

LONG = (
    _one("all pick-ups", "List the hour of the last pick-up of every carrier in the code.", *PICKUPS),
    _one("all weights", "Liste für jeden Frachtführer im Code das Höchstgewicht auf.", *WEIGHTS, language="de"),
    _one("pick-ups and weights", "Give me a table of all carriers in the code: last pick-up and heaviest parcel.", *PICKUPS, *WEIGHTS),
    _one("all limits", "Go through src/ferry and list its limits: attempts, waits, idle time, token life, rows, timeout, polling.",
         ATTEMPTS, LONGEST, IDLE, TOKENS, ROWS, TIMEOUT, POLL),
    _one("far down", "What do the zones for islands and for alpine valleys cost, in src/ferry/zones.py?", ISLES, ALPINE),
    _one("webhook dossier", "Write up how webhooks work here: header, hash and why, dead letters, when they are deleted, rotation of secrets.",
         MAC, SHA1, DEAD, SWEEP, ROTATE),
    _one("incidents review", "Review March: what stopped the janitor, what does its code do, what did support report, what is planned?",
         NIGHTS, SWEEP, TICKETS, RELEASE),
    _one("decisions review", "Résume nos décisions : remboursements, essai des transporteurs, versions, cache des tarifs, astreinte.",
         REFUND, PROBATION, SUNSET, CACHE, WEEKS, language="fr"),
    _one("handbook", "Erkläre in mehreren Teilen, wie Erstattungen, Retouren und Aufbewahrung geregelt sind.",
         REFUND, RETURNS, KEPT, INVOICES, language="de", parts=3),
    _one("tour", "Explain in three instalments how a parcel is priced: surcharge, volume weight, zones of islands.", FUEL, VOLUME, ISLES, parts=3),
)  # fmt: skip
"""Much work, all of it needed."""

BARREN = (
    _one("drones", "Where in the code are drone deliveries handled?", _nowhere("drones", "code", words=("drone delivery", "drone"))),
    _one("pensions", "Was haben wir zur Betriebsrente beschlossen?",
         _nowhere("pensions", "vault", "thread", words=("pension scheme", "Betriebsrente")), language="de"),
    _one("kafka", "Why did we decide against Kafka?", _nowhere("Kafka", "vault", "thread", words=("Kafka queue", "Kafka"))),
)  # fmt: skip
"""What is asked for is nowhere."""

WRITING = (
    _one("write a note", "Write a note notes/pickups.md about the last pick-up of Harbour, as the code has it.",
         PICKUPS[-1], _written("notes/pickups.md", "The last pick-up of Harbour is 12:35.")),
    _one("log it", "Trage in den Thread incidents ein, dass die Uhr von worker-4 wieder stimmt.",
         _logged("incidents", "Die Uhr von worker-4 stimmt wieder."), language="de"),
)  # fmt: skip
"""Something is to be written."""

TALK = (
    Task("thanks", (Question("Thanks, that helps!", (Fact("courtesy", "You are welcome.", ()),)),)),
    Task("danke", (Question("Super, danke dir!", (Fact("courtesy", "Gern geschehen.", ()),)),), "de"),
)
"""No source is needed."""

TASKS = (*PLAIN, *COMPOUND, *LONG, *BARREN, *WRITING, *TALK)
