"""Checks the outputs of an included tree: private keys of it whose values are copied to keys of the including tree."""

from collections.abc import Iterator, Mapping

from bt_runtime.language.reading.header import Header
from bt_runtime.text import Mistake, Place, brief, did_you_mean, listing
from bt_runtime.text.yaml_reader import Entry


def output_mistakes(
    header: Header, outputs: Mapping[str, str], outer: Header, written: Mapping[str, Entry], place: Place
) -> Iterator[Mistake]:
    """Outputs that the tree does not have, or that do not fit their keys.

    Args:
        outer: the header of the tree that includes it.
        header: the header of the tree that is included.
        outputs: the names of the keys there, and here.
        written: the outputs as written, by their names.
        place: where the tree is included.
    """
    private = {name: key for name, key in header.keys.items() if key.private}
    for name, target in outputs.items():
        entry, source, into = written.get(name), private.get(name), outer.keys.get(target)
        if source is None:
            hint = did_you_mean(name, private) or f"private keys: {listing(private) or 'none'}"
            if name in header.keys:
                hint = "trees share the keys that are not private, so nothing has to be copied"
            message = f"the tree {brief(header.name)} has no private key {brief(name)}"
            yield Mistake(entry.place if entry else place, message, hint)
        elif (
            into is not None and into.type not in {"any", source.type} and (source.type, into.type) != ("int", "float")
        ):
            message = f"{name!r} is declared as {source.type}, but {target!r} as {into.type}"
            yield Mistake(entry.node.place if entry else place, message, "choose a key of the same type")
