from __future__ import annotations

from tuibench.core.reason import Reason, because, legacy_text


def test_reasons_of_one_code_have_different_hashes() -> None:
    texts = [legacy_text(f"layer {number} is damaged") for number in range(1000)]
    assert len({hash(one) for one in texts}) > 990
    assert hash(because("several", reasons=[texts[0]])) == hash(because("several", reasons=[texts[1]]))


def test_equal_reasons_have_equal_hashes() -> None:
    one, two = Reason("limit", {"a": 1, "b": "x"}), Reason("limit", {"b": "x", "a": 1.0})
    assert one == two and hash(one) == hash(two)
