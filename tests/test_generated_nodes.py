import runpy
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from bt_runtime import Key, Kind, NodeSettings
from bt_runtime.language.kind import argument_meanings
from bt_runtime.language.registry import Registry
from bt_runtime.testing import registry_of

render_kinds = runpy.run_path(str(Path(__file__).parents[1] / "docs" / "generate.py"))["render_kinds"]


class OddSettings(NodeSettings):
    """Settings of `odd`.

    Args:
        first: what it does,
            on two lines: a colon.
        second: a | pipe.

    Other text: is no argument.
    """

    first: Annotated[int, Field(ge=1, lt=9)]
    second: str | None = None
    third: tuple[Literal["a", "b"], ...] = ()
    fourth: Mapping[str, int] = Field(default_factory=dict, alias="map")

    def uses(self) -> Iterator:
        return iter(())


ODD = Kind("odd", "guard", OddSettings, shorthand="first", doc="Odd.\n\nSUCCESS, always.\n\n```yaml\nodd: 1\n```")


def test_every_kind_and_key_is_on_the_page():
    registry = registry_of()
    page = render_kinds(registry)
    assert [page.count(f"\n### `{name}`\n") for name in registry.kinds] == [1] * len(registry.kinds)
    assert all(f"|`{name}`|" in page for name in registry.keys)
    assert all(
        bool(kind.slots or kind.settings.model_fields) == (f"```yaml\n{kind.name}:" in page)
        for kind in registry.kinds.values()
    )


def test_every_setting_of_a_built_in_kind_has_a_meaning():
    for kind in registry_of().kinds.values():
        assert set(argument_meanings(kind.settings)) == set(kind.settings.model_fields), kind.name


def test_settings_are_listed_with_type_bounds_default_and_meaning():
    page = render_kinds(Registry([ODD], [Key("note", "str", "a|b", "A | pipe.")]))
    assert page.endswith("\n")
    assert "## Guards" in page
    assert "## Actions" not in page
    rows = [line for line in page.splitlines() if line.startswith("|`")]
    assert rows == [
        "|`first`*|whole number, at least 1, less than 9|required|What it does, on two lines: a colon.|",
        "|`second`|text|`null`|A \\| pipe.|",
        '|`third`|list of `"a"`/`"b"`|`[]`||',
        "|`map`|mapping of whole number|`{}`||",
        '|`note`|str|`"a\\|b"`|A \\| pipe.|',
    ]


def test_an_empty_registry_has_no_kinds():
    assert render_kinds(Registry([])) == ""
