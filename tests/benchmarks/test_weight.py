"""The figures of `make weight`."""

from benchmarks.weight import kernel_modules, product_modules


def test_the_kernel_is_a_part_of_the_product_and_each_of_its_modules_is_counted_once():
    kernel = list(kernel_modules())
    assert len(kernel) == len(set(kernel)) > 100
    assert set(kernel) < set(product_modules())
