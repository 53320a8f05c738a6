"""docs/models.md: its providers, fields and example are those of the product."""

import re
from pathlib import Path

from bt_runtime.analysis.files import check_files
from oracle.features.openai_compatible.providers import BUILT_IN, Provider, read_providers
from oracle.features.scenarios.files import from_yaml
from oracle.features.scenarios.judging import judge
from oracle.features.scenarios.playing import Player
from oracle.llm.routing import ProviderModels
from tests.test_docs_control import edited

PAGE = (Path(__file__).parents[1] / "docs" / "models.md").read_text(encoding="utf-8")


def test_the_built_in_providers_are_those_of_the_product() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(http[^`]*)`.*?\| (?:`(\w+)`.*)?\|$", PAGE, re.MULTILINE)
    assert {name: (url, key or None) for name, url, key in rows} == {
        name: (each.base_url, each.key_env) for name, each in BUILT_IN.items()
    }


def test_each_field_has_its_default() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (?:`([^`]*)`)? ?\| [a-z]", PAGE.partition("| field |")[2], re.MULTILINE))
    defaults = {name: info.get_default(call_default_factory=True) for name, info in Provider.model_fields.items()}
    shown = {
        name: "" if value in (None, "") else f"{value:g}" if isinstance(value, float) else str(value)
        for name, value in defaults.items()
    }
    assert rows == {name: "false" if text == "False" else text for name, text in shown.items()}


def test_the_example_is_read(tmp_path: Path) -> None:
    file = tmp_path / "providers.yaml"
    file.write_text(re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0], encoding="utf-8")
    providers, roles = read_providers(file)
    assert set(providers) == {"gpu", "openrouter", "ollama"}
    assert ProviderModels(roles=roles).find("strong") == ("", "claude-opus-5-5")


def test_the_shipped_tree_falls_back_to_another_model_by_the_edit(tmp_path: Path) -> None:
    library = edited(tmp_path / "trees", re.findall(r"```diff\n(.*?)```", PAGE, re.DOTALL))
    report = check_files(library, [tmp_path / "trees"])
    assert (report.ok, report.warnings) == (True, ()), str(report)
    (scenario,) = from_yaml(
        """scenarios: [{ name: A, tree: oracle, model: [{ fault: provider_overloaded }, Done.], expect: {
        reason: completed, answer: Done., notices: [{ notice: Another model answers. }],
        requests: [{ nth: 1, model: strong }, { nth: 2, model: fast }] } }]"""
    )
    verdict = judge(scenario, Player(library).play(scenario))
    assert verdict.passed, verdict.report("")
