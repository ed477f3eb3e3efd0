"""Foreign names from models, engines and users are plain text on every profile page."""

from __future__ import annotations

from dataclasses import replace

from tests.present.profile.sample_data import make_costs, make_loss, make_performance
from tests.tui.counting import CountingDriver, sent_by
from tests.tui.hostile import EVIL, check_sent
from tests.tui.pilot import replace_methods
from tests.tui.screens.profile_stage import ProfileAnswers, profile_run, profiled
from tuibench.core.profile import LOSS, PERFORMANCE, CostProfile, LossProfile, PerformanceProfile, Profile
from tuibench.core.reason import legacy_text
from tuibench.services.form_values import APPROXIMATED, FLOPS, ProfileCheck, ProfileStart, ProfileValues
from tuibench.tui import route


def evil_costs() -> CostProfile:
    costs = make_costs()
    nodes = [
        replace(node, id=f"{EVIL}{n}", op=EVIL, name=EVIL, weight=EVIL, why=legacy_text(EVIL))
        for n, node in enumerate(costs.nodes)
    ]
    return replace(costs, nodes=tuple(nodes), dims={EVIL: 1}, shapes_from=legacy_text(EVIL), notes=(legacy_text(EVIL),))


def evil_times() -> PerformanceProfile:
    found = make_performance()
    layers = [
        replace(
            row, key=f"{EVIL}{n}", op=EVIL, nodes=(f"{EVIL}{n}",) if row.nodes else (), kernels=(EVIL,),
            kernel_op=EVIL, weight=EVIL, roof=EVIL, ms=replace(row.ms, reason=legacy_text(EVIL)),
        )
        for n, row in enumerate(found.layers)
    ]  # fmt: skip
    return replace(
        found,
        engine=EVIL,
        engine_version=EVIL,
        isa=(EVIL,),
        dims={EVIL: 1},
        layers=tuple(layers),
        notes=(legacy_text(EVIL),),
    )


def evil_losses(*, measured: bool = True) -> LossProfile:
    found = make_loss(measured=measured)
    layers = [
        replace(one, id=f"{EVIL}{n}", op=EVIL, name=EVIL, weight=EVIL, reason=legacy_text(EVIL))
        for n, one in enumerate(found.layers)
    ]
    return replace(found, data=EVIL, layers=tuple(layers), notes=(legacy_text(EVIL),))


async def test_hostile_names_on_every_page_are_plain_text() -> None:
    answers = ProfileAnswers()
    answers.start = ProfileStart(
        ProfileValues(dims=((EVIL, EVIL),), name=EVIL, inputs_file=EVIL), EVIL, EVIL, place=EVIL
    )
    answers.check = ProfileCheck(performance_s=1.0, commands=(EVIL,), busy=EVIL)
    named = {"warnings": (legacy_text(EVIL),)}
    results = (
        profile_run(1, 60, Profile(PERFORMANCE, evil_costs(), performance=evil_times()), **named),
        profile_run(2, 90, Profile(PERFORMANCE, evil_costs(), performance=make_performance()), **named),
        profile_run(3, 99, Profile(LOSS, evil_costs(), loss=evil_losses()), **named),
    )
    async with profiled((80, 24), *results, answers=answers, driver=CountingDriver) as seen:
        replace_methods(seen.app.services, theory__costs=lambda project: evil_costs())
        replace_methods(seen.app.services, theory__approximated=lambda project: evil_losses(measured=False))
        seen.services.library.edit(seen.ids[0], name=EVIL, note=EVIL)
        one, other, loss = seen.ids
        pages = {
            "list": lambda: route.project(seen.project, "performance"),
            "losses": lambda: route.project(seen.project, "loss"),
            "profile": lambda: route.profile(one),
            "loss": lambda: route.profile(loss),
            "flops": lambda: route.theory(seen.project, FLOPS),
            "approximated": lambda: route.theory(seen.project, APPROXIMATED),
            "form": lambda: route.profile_form(seen.project),
            "comparison": lambda: route.profile_comparison(other, one),
        }
        for name, way in pages.items():

            async def tour(name: str = name, way=way) -> None:  # type: ignore[no-untyped-def]
                await seen.go(way())
                for key in (
                    "m",
                    "2",
                    "down",
                    "w",
                    "w",
                    "enter",
                    "escape",
                    "3",
                    "down",
                    "4",
                    "5",
                    "1",
                    "enter",
                    "escape",
                ):
                    if name in ("profile", "loss", "flops", "approximated"):
                        await seen.press(key)
                if name == "comparison":
                    await seen.press("enter", "escape")
                assert all(row.isprintable() for row in seen.rows), name

            check_sent(await sent_by(seen.pilot, tour), name)
            while len(seen.app.screen_stack) > 1:
                seen.app.pop_screen()
                await seen.press()
