"""The console's page and files, over a real socket."""

import gzip
import re

import pytest

from oracle.console.built import read_console
from oracle.server.api.console import ADDRESSES
from tests.oracle.server.api.conftest import ALICE, TOKENS

SCRIPT = b"export const answer = 42;\n" * 100
PAGES = [re.sub(r"\{\w+\}", "some-id", address) for address in ADDRESSES]


@pytest.fixture
def console(tmp_path_factory):
    folder = tmp_path_factory.mktemp("console")
    (folder / "assets").mkdir()
    (folder / "index.html").write_text('<meta property="csp-nonce" nonce="CSP_NONCE"><script src="/assets/a-1.js">')
    (folder / "icon.svg").write_text("<svg/>")
    (folder / "assets" / "a-1.js").write_bytes(SCRIPT)
    (folder / "assets" / "a-1.js.gz").write_bytes(gzip.compress(SCRIPT))
    return read_console(folder)


@pytest.fixture
async def served(start, console):
    """A service with a console, and with auth: the console is reached without a token all the same."""
    return await start(tokens=TOKENS, console=console)


@pytest.mark.parametrize("path", [*PAGES, "/runs/x?tick=13"])
async def test_each_address_of_the_console_is_its_page(served, path):
    response = await served.client.get(path)
    assert (response.status_code, response.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert '<script src="/assets/a-1.js">' in response.text
    assert response.headers["cache-control"] == "no-store"


async def test_the_policy_of_the_page_permits_its_own_files_and_nothing_else(served):
    response = await served.client.get("/")
    policy = dict(each.split(" ", 1) for each in response.headers["content-security-policy"].split("; "))
    nonce = re.search(r'nonce="([\w-]{20,})"', response.text)[1]
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": f"'self' 'nonce-{nonce}'",
        "img-src": "'self' data:",
        "font-src": "'self'",
        "connect-src": "'self'",
        "manifest-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "dompurify",
    }
    assert response.headers["cross-origin-opener-policy"] == "same-origin"
    assert response.headers["cross-origin-resource-policy"] == "same-origin"
    assert response.headers["x-frame-options"] == "DENY"
    assert response.headers["referrer-policy"] == "no-referrer"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "camera=()" in response.headers["permissions-policy"]


async def test_no_two_pages_share_a_nonce(served):
    pages = [await served.client.get("/") for _ in range(2)]
    first, second = ((each.text, each.headers["content-security-policy"]) for each in pages)
    assert first[0] != second[0]
    assert first[1] != second[1]


async def test_a_file_with_a_digest_in_its_name_is_kept_for_a_year(served):
    response = await served.client.get("/assets/a-1.js", headers={"Accept-Encoding": "identity"})
    assert (response.status_code, response.content) == (200, SCRIPT)
    assert response.headers["content-type"] == "text/javascript; charset=utf-8"
    assert response.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert response.headers["vary"] == "Accept-Encoding"
    assert "content-encoding" not in response.headers


async def test_a_file_is_sent_compressed_to_those_who_take_that(served):
    response = await served.client.get("/assets/a-1.js", headers={"Accept-Encoding": "gzip, br"})
    assert response.headers["content-encoding"] == "gzip"
    assert int(response.headers["content-length"]) < len(SCRIPT)
    assert response.content == SCRIPT


@pytest.mark.parametrize("path", ["/icon.svg", "/assets/a-1.js"])
async def test_a_file_that_has_not_changed_is_not_sent_again(served, path):
    first = await served.client.get(path)
    for known in (first.headers["etag"], f'"x", {first.headers["etag"]}', "*"):
        again = await served.client.get(path, headers={"If-None-Match": known})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"]
        assert again.headers["cache-control"] == first.headers["cache-control"]
    assert (await served.client.get(path, headers={"If-None-Match": '"x"'})).status_code == 200


async def test_the_icon_is_asked_for_again(served):
    assert (await served.client.get("/icon.svg")).headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("path", ["/", "/runs", "/icon.svg", "/assets/a-1.js"])
async def test_head_is_answered_like_get_without_a_body(served, path):
    got, head = await served.client.get(path), await served.client.head(path)
    assert (head.status_code, head.content) == (200, b"")
    for name in ("content-type", "content-length", "content-encoding", "cache-control", "etag"):
        assert head.headers.get(name) == got.headers.get(name)


@pytest.mark.parametrize(
    "path",
    [
        "/assets/b-2.js",
        "/assets/",
        "/assets/a-1.js.gz",
        "/assets/..%2findex.html",
        "/assets/%2e%2e/index.html",
        "/index.html",
        "/runs/",
        "/runs/x/y",
        "/chat",
        "/compare/x",
        "/nothing",
    ],
)
async def test_what_is_not_there_is_a_404_in_json(served, path):
    response = await served.client.get(path, headers={"Accept": "text/html"})
    assert (response.status_code, response.json()) == (404, {"detail": "Not Found"})


async def test_no_cache_keeps_that_a_file_is_missing(served):
    assert (await served.client.get("/assets/b-2.js")).headers["cache-control"] == "no-store"


async def test_the_page_takes_nothing(served):
    response = await served.client.post("/runs", headers=ALICE)
    assert (response.status_code, set(response.headers["allow"].split(", "))) == (405, {"GET", "HEAD"})


async def test_without_auth_a_foreign_host_gets_no_page(start, console):
    service = await start(console=console)
    for path in ("/", "/runs", "/assets/a-1.js"):
        assert (await service.client.get(path, headers={"Host": "evil.example"})).status_code == 400


async def test_where_it_has_not_been_built_the_page_says_how_and_loads_nothing(service):
    response = await service.client.get("/")
    assert (response.status_code, response.headers["content-type"]) == (200, "text/html; charset=utf-8")
    for told in ("make run", "Node.js 20", "apt-get install nodejs npm", "/api/oracle/stream"):
        assert told in response.text
    for hidden in ("<script", "http://", "https://"):
        assert hidden not in response.text
    policy = response.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


@pytest.mark.parametrize("path", PAGES[1:])
async def test_where_it_has_not_been_built_its_addresses_say_so(service, path):
    response = await service.client.get(path)
    assert response.status_code == 404
    assert "make run" in response.text


@pytest.mark.parametrize("path", ["/assets/a-1.js", "/icon.svg"])
async def test_where_it_has_not_been_built_there_are_no_files(service, path):
    assert (await service.client.get(path)).json() == {"detail": "Not Found"}
