import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracle.core.chunks import Source
from oracle.core.search import ranking
from oracle.tools import ToolRegistry, project_tools
from oracle.tools.code import CodeTools
from oracle.tools.code_exact import FEW
from oracle.tools.paths import Root
from oracle.tools.text import LINES_FOUND_CHARS

NAMED_FILES = {
    "service/run_loop.py": "'''Ticks on events.'''\n\n\nclass RunLoop:\n    def tick(self):\n        self.ticks += 1\n",
    "service/kinds/loop.py": "class Loop:\n    '''Again and again; guards are ticked first.'''\n",
    "service/kinds/subtree.py": "class Subtree:\n    '''Another tree: `subtree: fallback`.'''\n",
    "trees/fallback.yaml": "tree: fallback\nroot: {sequence: [classify_response, strategies]}\n",
    "trees/scenarios/fallback.yaml": "scenarios:\n  - name: The fallback subtree is asked, and the fallback answers\n",
    "docs/naming.md": "Nodes of a subtree are named so: `fallback/give_up`. The fallback subtree has three.\n",
}


@pytest.fixture
def project(root: Path) -> ToolRegistry:
    return ToolRegistry(project_tools(root))


async def best(project: ToolRegistry, query: str, **arguments: object) -> list[str]:
    result = await project.call("search_code", {"query": query, **arguments})
    assert not result.is_error, result.text
    return [f"{source.path}:{source.line}" for source in result.sources]


SEARCHES = [
    pytest.param("AuthMiddleware", "service/auth/middleware.py:3", id="a class"),
    pytest.param("auth middleware", "service/auth/middleware.py:3", id="a class in words"),
    pytest.param("check_token", "service/auth/middleware.py:6", id="a definition above usages"),
    pytest.param("How are mistakes in a tree file reported?", "service/tree/report.py:3", id="a question"),
    pytest.param("fetch invoice", "service/http/client.ts:1", id="words of a camelCase name"),
    pytest.param("where do we refresh sessions", "service/auth/sessions.py:1", id="another form of a word"),
    pytest.param("yield 2**attempt", "service/http/retry.py:3", id="a literal piece of code"),
    pytest.param('"no token"', "service/auth/middleware.py:8", id="in quotes"),
    pytest.param(r"raise \w+Error\(", "service/auth/middleware.py:8", id="a regular expression"),
    pytest.param(r"def backoff.*attempts|class Nothing", "service/http/retry.py:1", id="alternatives"),
    pytest.param("dockerfile", "Dockerfile:1", id="the path alone"),
    pytest.param("explain service/http/retry.py", "service/http/retry.py:1", id="a file that is named"),
    pytest.param(
        'File "/srv/x/service/tree/reader.py", line 2, in read', "service/tree/reader.py:2", id="a stack trace's line"
    ),
    pytest.param("test check token", "tests/test_middleware.py:1", id="a test, when tests are asked for"),
]


@pytest.mark.parametrize(("query", "expected"), SEARCHES)
async def test_a_search_finds_the_right_place_first(project: ToolRegistry, query: str, expected: str) -> None:
    assert (await best(project, query))[0] == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param("How does the fallback subtree work?", "trees/fallback.yaml", id="a tree"),
        pytest.param("Where is the tick loop?", "service/run_loop.py", id="a loop that ticks, and not any loop"),
        pytest.param("Where is the loop kept?", "service/kinds/loop.py", id="a class by its whole name"),
    ],
)
async def test_a_file_that_the_words_of_a_question_name_comes_first(
    root: Path, project: ToolRegistry, write: Callable[..., Path], query: str, expected: str
) -> None:
    for path, text in NAMED_FILES.items():
        write(f"project/{path}", text)
    assert (await best(project, query))[0].partition(":")[0] == expected


async def test_words_are_not_found_inside_other_words(project: ToolRegistry) -> None:
    assert all(not place.startswith("service/street.py") for place in (await best(project, "tree file", limit=50)))


async def test_a_hit_is_shown_with_its_place_score_and_lines(project: ToolRegistry) -> None:
    result = await project.call("search_code", {"query": "backoff delays", "limit": 1})
    assert len(result.sources) == 1
    source = result.sources[0]
    assert (source.path, source.source_type, source.line) == ("service/http/retry.py", "code", 1)
    assert source.snippet == "def backoff_delays(attempts):"
    assert result.text == (
        f"service/http/retry.py:1 (score {source.score:.2f})\n"
        "> 1 | def backoff_delays(attempts):\n"
        "  2 |     for attempt in range(attempts):\n"
        "  3 |         yield 2**attempt"
    )


ROUTING = """class BaseRouter:
    pass


class Router:
    def __init__(self, routes, redirect, default, lifespan, middleware, body):
        self.routes = routes
        self.redirect = redirect
        self.default = default
        self.lifespan = lifespan
        self.middleware = middleware
        self.body = body
        self.size = len(routes)
        self.names = [route.name for route in routes]

        for route in routes:
            route.owner = self

    def mount(self, path, app):
        def inner(scope):
            return app
        self.routes.append((path, inner))

    def add_route(self, path):
        self.routes.append(path)


router = Router([], None, None, None, None, None)
"""
HANDLING = """def run(app, scope):
    if scope.kind == "http":
        if scope.is_open:
            try:
                app(scope,
                    one=1,
                    two=2,
                    three=3)
            except Exception as exc:
                log(exc)
                raise Failed(scope) from exc
"""


@pytest.mark.parametrize("query", ["class Router", "Router", "class Router and its methods", "where is class Router?"])
async def test_a_class_that_is_asked_for_by_name_comes_first_with_its_methods(
    project: ToolRegistry, write: Callable[..., Path], query: str
) -> None:
    write("project/service/routing.py", ROUTING)
    write("project/service/app.py", "# The router of a Router: class Router, router, methods of a class.\n" * 5)
    result = await project.call("search_code", {"query": query})
    first = result.text.split("\n\n")[0].split("\n")
    assert first[0].startswith("service/routing.py:5 ")
    assert [line.partition(" | ")[2] for line in first[-2:]] == [
        "    def mount(self, path, app):",
        "    def add_route(self, path):",
    ]


async def test_a_hit_on_the_head_of_a_block_is_shown_with_the_block(
    project: ToolRegistry, write: Callable[..., Path]
) -> None:
    write("project/service/handling.py", HANDLING)
    result = await project.call("search_code", {"query": "except Exception"})
    block = result.text.split("\n\n")[0]
    assert ">  9 |             except Exception as exc:\n  10 |                 log(exc)\n  11 | " in block


async def test_a_class_is_shown_with_the_lines_further_inside_that_match_best(
    project: ToolRegistry, write: Callable[..., Path]
) -> None:
    write("project/service/routing.py", ROUTING.replace("return app\n", "raise RedirectLoop(scope)\n"))
    result = await project.call("search_code", {"query": "class Router redirect loop"})
    first = result.text.split("\n\n")[0]
    assert first.startswith("service/routing.py:5 ")
    assert "raise RedirectLoop(scope)" in first
    assert result.text.count("raise RedirectLoop(scope)") == 1


async def test_a_page_of_documentation_with_more_of_the_words_is_among_the_places(
    project: ToolRegistry, write: Callable[..., Path]
) -> None:
    for number in range(8):
        write(f"project/service/ghost{number}.py", "def ghost():\n    ghost_ghost = ghost\n" * 3)
    write("project/manual.md", "Text.\n" * 300 + "A ghost walks in the attic at midnight.\n" + "Text.\n" * 300)
    found = await best(project, "ghost attic")
    assert "manual.md:301" in found
    assert len(found) <= 5


async def test_places_far_below_the_best_one_are_left_out(project: ToolRegistry, write: Callable[..., Path]) -> None:
    write(
        "project/service/answer.py",
        "def answer(self):\n    if self.background is not None:\n        self.background()\n",
    )
    write("project/site/page.css", ".page { background: red }\n" * 9)
    assert await best(project, "self.background is not None") == ["service/answer.py:2"]


MODES = [
    pytest.param("check_token", "exact", "Lines with 'check_token', mode='exact': 5 of 5 (", id="a text"),
    pytest.param(
        "self.check_token(", "exact", "Lines with 'self.check_token(', mode='exact': 1 of 1.", id="with signs"
    ),
    pytest.param("Check_token", "exact", "No line of the code has 'Check_token', mode='exact'.", id="in another case"),
    pytest.param(
        r"(?i)Check_\w+\(", "regex", r"Lines with '(?i)Check_\\w+\\(', mode='regex': 4 of 4 (", id="an expression"
    ),
    pytest.param(
        r"^class \w+:$", "regex", r"Lines with '^class \\w+:$', mode='regex': 1 of 1.", id="anchored at lines"
    ),
    pytest.param("^(class|def) ", "regex", "Lines with '^(class|def) ', mode='regex': ", id="with a space at its end"),
]


@pytest.mark.parametrize(("query", "mode", "heading"), MODES)
async def test_all_lines_with_a_text_are_found_and_counted(
    project: ToolRegistry, query: str, mode: str, heading: str
) -> None:
    result = await project.call("search_code", {"query": query, "mode": mode})
    assert result.text.startswith(heading)
    assert result.is_empty == heading.startswith("No line")


async def test_lines_are_shown_by_file_with_code_before_tests_and_data(project: ToolRegistry) -> None:
    result = await project.call("search_code", {"query": "check_token", "mode": "exact"})
    assert result.text == (
        "Lines with 'check_token', mode='exact': 5 of 5 (2 in service, 2 in tests, 1 in data).\n\n"
        "service/auth/middleware.py\n"
        "  4 |     def __call__(self, request):\n"
        "> 5 |         return self.check_token(request)\n"
        "> 6 |     def check_token(self, request):\n"
        "  7 |         if not request.token:\n"
        '  8 |             raise PermissionError("no token")\n\n'
        "tests/test_middleware.py\n> 1 | def test_check_token():\n> 2 |     assert check_token(request)\n\n"
        'data/tokens.json\n> 1 | {"token": "token token token check_token"}'
    )
    assert [(source.path, source.line) for source in result.sources] == [
        ("service/auth/middleware.py", 5),
        ("tests/test_middleware.py", 1),
        ("data/tokens.json", 1),
    ]
    of_python = await project.call("search_code", {"query": "check_token", "mode": "exact", "language": "python"})
    assert of_python.text.startswith("Lines with 'check_token', mode='exact', language='python': 4 of 4 (")


@pytest.mark.parametrize("mode", ["exact", "regex"])
async def test_few_lines_are_shown_with_those_around_and_many_without(
    project: ToolRegistry, write: Callable[..., Path], mode: str
) -> None:
    setting = '"delay{0}": {{\n    "value": "{0}",\n}},\n'
    write("project/settings.py", "".join(map(setting.format, range(FEW))))
    few = await project.call("search_code", {"query": '"delay', "mode": mode})
    assert '\n>  1 | "delay0": {\n   2 |     "value": "0",\n' in few.text
    assert few.text.count("> ") == FEW
    write("project/settings.py", "".join(map(setting.format, range(FEW + 1))))
    many = await project.call("search_code", {"query": '"delay', "mode": mode})
    assert '\n   1 | "delay0": {\n   4 | "delay1": {\n' in many.text


async def test_lines_around_that_do_not_fit_are_left_out(project: ToolRegistry, write: Callable[..., Path]) -> None:
    for name in "abcdefgh":
        write(f"project/{name}.py", f"def needle_{name}():\n" + f"    {'x' * 230}\n" * 14)
    result = await project.call("search_code", {"query": "needle", "mode": "exact"})
    assert "\n\na.py\n>  1 | def needle_a():\n   2 |     xxx" in result.text
    assert result.text.endswith("\n\nh.py\n  1 | def needle_h():")
    assert len(result.text) < LINES_FOUND_CHARS + 1_000


@pytest.mark.parametrize("path", ["tests", "./tests/", "tests/test_middleware.py", "test_*.py", "tests/**/*.py"])
async def test_a_search_is_narrowed_by_a_folder_a_file_or_a_glob(project: ToolRegistry, path: str) -> None:
    lines = await project.call("search_code", {"query": "check_token", "mode": "exact", "path": path})
    assert lines.text.startswith(f"Lines with 'check_token', mode='exact', path={path!r}: 2 of 2.\n")
    assert await best(project, "check token", path=path) == ["tests/test_middleware.py:1"]


async def test_a_path_without_files_is_an_error_with_a_suggestion(project: ToolRegistry) -> None:
    for mode in ("words", "exact"):
        result = await project.call("search_code", {"query": "token", "mode": mode, "path": "servise"})
        assert result.is_error
        assert result.text.startswith("path 'servise' has no files to search; give a folder, a file or a glob.")
        assert "Did you mean 'service'" in result.text
    outside = await project.call("search_code", {"query": "token", "path": "../other"})
    assert outside.is_error


async def test_many_lines_are_shown_in_pages(project: ToolRegistry, write: Callable[..., Path]) -> None:
    write("project/many.py", "needle = 1\n" * 120)
    whole = await project.call("search_code", {"query": "needle", "mode": "exact"})
    assert whole.text.startswith("Lines with 'needle', mode='exact': 120 of 120.")
    seen: list[str] = []
    arguments: dict[str, object] = {"query": "needle", "mode": "exact", "limit": 50}
    headings = []
    while len(seen) < 120:
        text = (await project.call("search_code", {**arguments, "skip": len(seen)})).text
        headings.append(text.split("\n")[0])
        seen += [line for line in text.split("\n") if " | " in line]
    assert headings == [
        "Lines with 'needle', mode='exact': 1-50 of 120; go on with skip=50.",
        "Lines with 'needle', mode='exact': 51-100 of 120; go on with skip=100.",
        "Lines with 'needle', mode='exact': 101-120 of 120.",
    ]
    behind = await project.call("search_code", {**arguments, "skip": 120})
    assert behind.is_error
    assert behind.text == "skip is 120, but only 120 lines have 'needle', mode='exact'; give less."


async def test_long_lines_are_shown_in_shorter_pages(project: ToolRegistry, write: Callable[..., Path]) -> None:
    write("project/wide.py", f"needle = {'1' * 400}\n" * 120)
    result = await project.call("search_code", {"query": "needle", "mode": "exact"})
    assert re.match(r"Lines with 'needle', mode='exact': 1-(\d+) of 120; go on with skip=\1\.\n", result.text)
    assert 10_000 < len(result.text) < 16_000


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("(a", id="malformed"),
        pytest.param(r"(a)\1", id="a back reference"),
        pytest.param("(?<=a)b", id="look-around"),
        pytest.param("((a{0,99}){0,99}){0,99}", id="too large"),
        pytest.param("a\nb", id="two lines"),
        pytest.param("a" * 2_000, id="too long"),
    ],
)
async def test_an_expression_that_cannot_be_used_is_an_error_that_helps(project: ToolRegistry, query: str) -> None:
    result = await project.call("search_code", {"query": query, "mode": "regex"})
    assert result.is_error
    assert "mode='exact'" in result.text or "one line of at most 1,000 characters" in result.text


@pytest.mark.parametrize("query", ["(a+)+b", "(a|aa)*c", "(.*a){20}b", "[^x]*[^y]*[^z]*!", "(?:a{0,40}){0,40}b"])
async def test_a_hostile_expression_takes_time_in_proportion_to_the_text(
    project: ToolRegistry, write: Callable[..., Path], query: str
) -> None:
    write("project/hostile.py", ("a" * 400 + "\n") * 20 + "a" * 500_000)
    result = await project.call("search_code", {"query": query, "mode": "regex"})  # backtracking takes years
    assert not result.is_error
    assert "[The time was up" not in result.text


async def test_files_that_are_too_large_are_not_counted_and_the_result_says_so(
    project: ToolRegistry, write: Callable[..., Path]
) -> None:
    write("project/huge.py", "check_token\n" * 100_000)
    result = await project.call("search_code", {"query": "check_token", "mode": "exact"})
    assert result.text.startswith("Lines with 'check_token', mode='exact': 5 of 5 (")
    assert "[Not searched, for more than 1,000,000 bytes: 1 files.]" in result.text


async def test_an_empty_result_says_what_to_try_instead(project: ToolRegistry) -> None:
    result = await project.call("search_code", {"query": "quaternion"})
    assert result.is_empty
    assert not result.is_error
    assert "Nothing in the code matches 'quaternion'" in result.text
    assert result.sources == ()


@pytest.mark.parametrize("language", ["typescript", "TypeScript", "ts", ".tsx", "*.ts"])
async def test_a_language_is_given_by_name_or_extension(project: ToolRegistry, language: str) -> None:
    assert await best(project, "request", language=language) == ["service/http/client.ts:2"]


async def test_an_unknown_language_is_an_error_that_lists_the_known_ones(project: ToolRegistry) -> None:
    result = await project.call("search_code", {"query": "x", "language": "pyton"})
    assert result.is_error
    assert result.text.startswith("there is no language 'pyton'. Did you mean 'python'? Known: python, javascript")


@pytest.mark.parametrize(("limit", "expected"), [(1, 1), (2, 2), (0, 1), (-5, 1), ("2", 2)])
async def test_the_limit_is_the_maximum_number_of_hits(project: ToolRegistry, limit: object, expected: int) -> None:
    assert len(await best(project, "token", limit=limit)) == expected


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(max_size=60) | st.text(alphabet=r"ab_*+?()[]{}|\^$.-'\" ", max_size=40))
async def test_any_query_gives_a_result(project: ToolRegistry, query: str) -> None:
    result = await project.call("search_code", {"query": query})
    assert result.is_error == (not query.strip() or "\x00" in query)
    result.text.encode()


async def test_symbols_and_parts_of_words_are_found_literally(
    root: Path, project: ToolRegistry, write: Callable[..., Path]
) -> None:
    write("project/-odd name.ts", "const sum = (a) => a ?? 0\n")
    write("project/latin.py", b"name = 'caf\xe9'\n")
    for query, expected in (("??", "-odd name.ts:1"), ("ackoff_del", "service/http/retry.py:1"), ("caf", "latin.py:1")):
        assert (await best(project, query))[0] == expected


async def test_a_search_sees_every_change(root: Path, project: ToolRegistry, write: Callable[..., Path]) -> None:
    assert await best(project, "zebra") == []
    write("project/new.py", "zebra = 1\n")
    assert await best(project, "zebra") == ["new.py:1"]
    write("project/new.py", "tiger = 1\n")  # the same size, within the same moment
    assert (await best(project, "zebra"), await best(project, "tiger")) == ([], ["new.py:1"])
    (root / "new.py").rename(root / "moved.py")
    assert await best(project, "tiger") == ["moved.py:1"]
    (root / "moved.py").unlink()
    assert await best(project, "tiger") == []


def test_a_search_that_times_out_says_so(root: Path) -> None:
    code = CodeTools(Root(root, label="the project"), search_timeout_s=-1)
    assert "[The time was up after 0 of 11 files" in code.search_code(query="token").text


def test_lines_that_are_counted_when_the_time_is_up_are_not_called_all(root: Path) -> None:
    code = CodeTools(Root(root, label="the project"), search_timeout_s=-1)
    assert "[The time was up before all files were searched" in code.search_code(query="token", mode="exact").text


def test_a_project_that_is_too_large_for_the_index_says_so(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "MAX_SIZE", 1)
    code = CodeTools(Root(root, label="the project"))
    assert "[Only 1 of 11 files are searched" in code.search_code(query="FROM python").text


def make_repository(folder: Path) -> None:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)


@pytest.mark.long("searches files of the greatest size")
@pytest.mark.parametrize(
    "content",
    ["\n" * 900_000, "ab" * 450_000, "a_b " * 225_000, "ab\n" * 300_000, "aB" * 450_000, "((" * 450_000],
    ids=["empty lines", "one long word", "many names", "many hits", "all humps", "brackets"],
)
async def test_a_hostile_file_is_searched_in_bounded_time(
    tmp_path: Path, write: Callable[..., Path], content: str
) -> None:
    write("project/slow_ab.py", content)
    project = ToolRegistry(project_tools(tmp_path / "project"))
    started = time.process_time()
    for query in ("ab a_b aB b_a ba", r"(a|b)*((a|b)*)*c", "((("):
        assert not (await project.call("search_code", {"query": query})).is_error
    assert time.process_time() - started < 20  # seconds of CPU; a search that is quadratic here takes hours


@pytest.mark.parametrize("is_git", [True, False], ids=["in git", "outside git"])
async def test_ignored_hidden_secret_binary_and_huge_files_are_not_searched(
    tmp_path: Path, write: Callable[..., Path], is_git: bool
) -> None:
    skipped = {
        "node_modules/a.js": "needle",
        "build/b.py": "needle",
        ".hidden/c.py": "needle",
        "deep/.venv/d.py": "needle",
        "__pycache__/e.py": "needle",
        ".env": "needle",
        "server.pem": "needle",
        "binary.py": b"needle\x00",
        "huge.py": b"needle " * 200_000,
    }
    for path, text in skipped.items():
        write(f"project/{path}", text)
    write("project/good.py", "needle = 1\n")
    write("project/wrong.py", b"needle = '\xff\xfe'\n")
    write("outside.py", "needle\n")
    (tmp_path / "project" / "link.py").symlink_to(tmp_path / "outside.py")
    (tmp_path / "project" / "folder").symlink_to(tmp_path)
    if is_git:
        write("project/.gitignore", "node_modules/\nbuild/\n.hidden/\n.venv/\n__pycache__/\n")
        make_repository(tmp_path / "project")
    project = ToolRegistry(project_tools(tmp_path / "project"))
    found = await best(project, "needle", limit=50)
    assert sorted(found) == ["good.py:1", "wrong.py:1"]


async def test_sources_of_a_search_are_of_type_code(project: ToolRegistry) -> None:
    result = await project.call("search_code", {"query": "token"})
    assert all(isinstance(source, Source) and source.source_type == "code" for source in result.sources)
    scores = [source.score or 0 for source in result.sources]
    assert scores == sorted(scores, reverse=True)
