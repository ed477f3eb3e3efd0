from __future__ import annotations

from tuibench.present.plots.drawing import Canvas, text_of


def drawn(canvas: Canvas) -> list[str]:
    return text_of(canvas.rows()).splitlines()


def test_line_consists_of_the_dots_it_crosses() -> None:
    canvas = Canvas(2, 1)
    canvas.line((0, 3), (3, 0), "series-1")
    assert canvas.rows() == ((("⡠⠊", "series-1"),),)


def test_signs_hide_lines_and_lines_hide_the_backdrop() -> None:
    canvas = Canvas(3, 1)
    canvas.sign(0, 0, "●", "mark")
    for column in range(3):
        canvas.backdrop(column, 0, "·", "ideal")
    canvas.line((0, 0), (3, 0), "series-1")
    assert canvas.rows() == ((("●", "mark"), ("⠉", "series-1"), ("·", "ideal")),)


def test_character_cell_shows_only_the_last_line() -> None:
    canvas = Canvas(1, 1)
    canvas.line((0, 0), (1, 0), "series-1")
    canvas.line((0, 3), (1, 3), "series-2")
    assert canvas.rows() == ((("⣀", "series-2"),),)
    canvas.line((0, 0), (0, 0), "series-2")
    assert canvas.rows() == ((("⣁", "series-2"),),)


def test_ascii_lines_show_their_direction() -> None:
    up, down, steep, flat = (Canvas(4, 4, ascii_only=True) for _ in range(4))
    up.line((0, 15), (7, 0), "")
    down.line((0, 0), (7, 15), "")
    steep.line((3, 0), (3, 15), "")
    flat.line((0, 6), (7, 6), "")
    assert set("".join(drawn(up))) <= set("/ |") and drawn(up)[0].endswith("/")
    assert "\\" in drawn(down)[0] and "/" not in "".join(drawn(down))
    assert drawn(steep) == [" |"] * 4
    assert drawn(flat)[:2] == ["", "----"] and not any(drawn(flat)[2:])


def test_marks_outside_the_canvas_are_not_drawn() -> None:
    canvas = Canvas(2, 1)
    canvas.line((-4, -4), (9, 9), "")
    canvas.sign(5, 5, "x", "")
    assert [len("".join(text for text, _ in row)) for row in canvas.rows()] == [2]
