"""Names of runs and tags that are HTML, or far too long."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Dialog, Page, expect

from mindinsight.proto.framing import encode_record
from mindinsight.proto.summary_pb2 import Event

MARKUP = "<img src=x onerror=window.hit=1><script>window.hit=1<"


# In HTML, attributes, scripts, addresses, styles, Markdown and templates.
PAYLOADS = """\
<script>window.hit=1</script>
<ScRiPt>window.hit=1</sCrIpT>
</script><script>window.hit=1</script>
<script src=data:,window.hit=1></script>
<img src=x onerror=window.hit=1>
<img/src=x/onerror=window.hit=1>
<img src="x" onerror="window.hit=1">
<img src=x onerror=window.hit=1//
<svg onload=window.hit=1>
<svg><script>window.hit=1</script></svg>
<svg><animate onbegin=window.hit=1 attributeName=x dur=1s>
<svg><set onbegin=window.hit=1>
<body onload=window.hit=1>
<body onpageshow=window.hit=1>
<iframe srcdoc='<script>parent.hit=1</script>'>
<iframe src=javascript:parent.hit=1>
<object data=javascript:window.hit=1>
<embed src=javascript:hit=1>
<video><source onerror=window.hit=1></video>
<audio src=x onerror=window.hit=1>
<details open ontoggle=window.hit=1>
<input autofocus onfocus=window.hit=1>
<select autofocus onfocus=window.hit=1>
<textarea autofocus onfocus=window.hit=1>
<div style=animation-name:x onanimationstart=window.hit=1>
<marquee onstart=window.hit=1>
<style>@keyframes x{}</style><b style=animation-name:x onanimationstart=hit=1>
<style>*{display:none}</style>
<base href=//127.0.0.2/>
<meta http-equiv=refresh content=0;url=/health>
<link rel=stylesheet href=//127.0.0.2/x.css>
<form><button formaction=javascript:hit=1 autofocus>
<math><mtext></form><form><mglyph><style></math><img src onerror=hit=1>
<noscript><p title='</noscript><img src=x onerror=window.hit=1>'>
<template><script>hit=1</script></template>
<a href=javascript:window.hit=1 autofocus onfocus=window.hit=1>a</a>
[a](javascript:window.hit=1)
![a](x' onerror='window.hit=1)
![a](javascript:window.hit=1)
<javascript:window.hit=1>
" onmouseover="window.hit=1
' autofocus onfocus='window.hit=1
`${window.hit=1}`
{{constructor.hit=1}}
\u2028window.hit=1\u2029
<!--><img src=x onerror=window.hit=1>-->""".split("\n")  # noqa: SIM905 (one a line)


def write_run(folder: Path, tag: str, text: str = "") -> None:
    folder.mkdir(parents=True)
    records = []
    for step in range(3):
        event = Event(wall_time=float(step), step=step)
        event.summary.value.add(tag=tag, scalar_value=1.0)
        if text:
            event.summary.value.add(tag=f"{tag} as text").text.content = text
        records.append(encode_record(event.SerializeToString()))
    (folder / "events.out.events.summary.1700000000.0.host_MS").write_bytes(b"".join(records))


def test_names_that_are_html_are_text(serve: Any, page: Any, tmp_path: Path) -> None:
    write_run(tmp_path / "base" / MARKUP, MARKUP)
    url = serve(tmp_path / "base")
    for view in ("", "scalar"):
        page.goto(url + view)
        page.get_by_text(MARKUP).first.wait_for(state="attached")
        page.wait_for_timeout(500)
        assert page.evaluate("window.hit") is None
        assert page.locator("img[src=x]").count() == 0


def test_nothing_of_what_payloads_say_is_done(page: Page, serve: Any, tmp_path: Path) -> None:
    """Each payload is a tag and a text, and the name of a run where a folder may be called so."""
    assert len(PAYLOADS) == 46
    for number, payload in enumerate(PAYLOADS):
        name = payload if "/" not in payload else f"run{number}"
        write_run(tmp_path / "base" / name, payload, payload)
    url, dialogs = serve(tmp_path / "base"), list[str]()

    def dismiss(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)
    for view in ("", "scalar", "text", "text?q=hit", "scalar?q=hit"):
        page.goto(url + view)
        page.get_by_text(PAYLOADS[4]).first.wait_for(state="attached")
        page.mouse.move(300, 300)
        page.keyboard.press("Tab")
        page.wait_for_timeout(500)
        assert (page.evaluate("window.hit"), dialogs) == (None, [])
        assert page.url.startswith(url + view.partition("?")[0])
        assert (
            page.locator("iframe, object, embed, marquee, base, img[src=x], [onfocus], [onerror]").count()
            == 0
        )


def test_long_names_are_cut_where_they_are_alike(
    serve: Callable[[Path], str], page: Page, tmp_path: Path
) -> None:
    for seed in range(2):
        name = f"resnet50_imagenet_bs256_lr0.1_momentum0.9_seed{seed}"
        write_run(tmp_path / "base" / name, "encoder/" + 30 * "layer/" + "weight")
    page.goto(serve(tmp_path / "base") + "scalar")
    shown = page.locator("#side .long-name").filter(has_text="seed1")
    expect(shown).to_have_attribute("title", "./resnet50_imagenet_bs256_lr0.1_momentum0.9_seed1")
    expect(shown.locator(".head")).to_have_attribute("data-text", "…seed1")
    heading = page.get_by_role("heading", name="encoder/layer")
    tail = heading.locator(".tail")
    expect(tail).to_have_attribute("data-text", "layer/layer/layer/weight")
    expect(tail).to_be_in_viewport(ratio=1)
    assert heading.evaluate("element => element.scrollWidth <= element.clientWidth")
