from tests.tui.screens.profile_stage import *


async def test_see() -> None:
    async with profiled() as seen:
        await seen.go(route.project(seen.project, "performance"))
        await seen.press("space", "c")
        print(seen.text)
        await seen.press("f")
        print(seen.text)
        await seen.press("enter")
        print(seen.text)
        await seen.press("escape", "escape", "n")
        print(seen.text)
        await seen.press("ctrl+r")
        print(seen.text)
        print(seen.answers.started)
        await seen.go(route.profile(seen.ids[0], "depth"))
        await seen.press("down", "down")
        print(seen.text)
