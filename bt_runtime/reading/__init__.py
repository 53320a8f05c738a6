"""From the text of a tree file to checked definitions, with every mistake's place; `bt_runtime.parser` is the door."""
