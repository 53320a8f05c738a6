from parcel.carriers import CARRIERS, register


def test_how_do_i_add_a_carrier_of_my_own():
    @register("own")
    class Own: ...

    assert CARRIERS["own"] is Own
