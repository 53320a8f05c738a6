import oracle.tools


def test_the_package_exports_the_names_it_lists() -> None:
    assert all(hasattr(oracle.tools, name) for name in oracle.tools.__all__)
