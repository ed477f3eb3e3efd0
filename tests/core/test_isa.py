from __future__ import annotations

import pytest

from tests.build import SERVER_ISA
from tuibench.core.machine import isa_words


@pytest.mark.parametrize(
    ("isa", "words"),
    [
        (SERVER_ISA, "amx int8 bf16, avx512 vnni bf16 fp16, avx vnni"),
        (("avx2", "fma", "f16c", "avx_vnni"), "avx vnni, avx2 fma f16c"),
        (("avx2", "fma"), "avx2 fma"),
        (("avx512f",), "avx512"),
        (("asimd", "asimdhp", "asimddp", "i8mm", "bf16", "sve", "svei8mm"), "sve i8mm, asimd hp dp, i8mm bf16"),
        ((), ""),
    ],
)
def test_isa_words_start_with_the_features_that_matter_for_speed(isa: tuple[str, ...], words: str) -> None:
    assert isa_words(isa) == words
    assert len(f" instruction sets: {words}") < 79, "it fits into a terminal of 80 columns"
