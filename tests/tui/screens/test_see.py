from tests.tui.screens.profile_stage import *
async def test_see():
    async with profiled() as seen:
        await seen.go(route.profile(seen.ids[0])); print(seen.text)
        await seen.press("m"); print(seen.text)
        await seen.press("2"); print(seen.text)
        await seen.press("enter"); print(seen.text)
        await seen.press("escape"); 
        await seen.press("3", "down", "down"); print(seen.text)
        await seen.press("4"); print(seen.text)
        await seen.press("escape")
        await seen.go(route.theory(seen.project, "approximated")); print(seen.text)
        await seen.press("2"); print(seen.text)
        await seen.press("3"); print(seen.text)
