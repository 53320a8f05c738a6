"""Trees of another domain are explored with a question of each of its types."""

from bt_runtime.library.named import read_tree
from oracle.agent.nodes import registry_for
from oracle.core.sources import QueryTypes
from oracle.domains.domain import Domain
from oracle.domains.words import WordClassifier
from oracle.features.verifier.verify import Scope, verify

TYPES = QueryTypes({"order": ("orders",), "refund": ("orders", "write")})
EXAMPLES = {"order": ["Where is my parcel?"], "refund": ["I want my money back"]}
TREE = """
tree: desk
root:
  finally:
    child:
      sequence:
        - classify_query
        - selector:
            - sequence: [{ condition: query_type == "refund" }, { say: A person calls you. }]
            - say: It is on its way.
        - stop: completed
    then: { sequence: [explain_stop, finish] }
"""


def test_what_only_one_type_of_the_domain_reaches_is_reached():
    classifier = WordClassifier(TYPES, {}, EXAMPLES)
    examples = tuple(texts[0] for texts in EXAMPLES.values())
    domain = Domain(name="desk", types=TYPES, classifier=lambda: classifier, examples=examples)
    registry = registry_for(TYPES, domain)
    report = verify(read_tree(TREE, file="desk.yaml", registry=registry), Scope(registry=registry))
    assert {each.name: each.verdict for each in report.results}["reachable"] == "proven", str(report)
