"""Images: every step, one step for all, true pixels, and two pictures against each other."""

import hashlib
import re
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page, expect

from mindinsight.proto.framing import encode_record
from mindinsight.proto.summary_pb2 import Event
from mindinsight.writer import SummaryRecord


def card(page: Any, tag: Any) -> Any:
    return page.get_by_role("group", name=tag, exact=True)


def shown(page: Any, tag: Any) -> Any:
    """The pixels of a card's picture as its file holds them, RGB."""
    picture = card(page, tag).locator("img.picture")
    pixels = picture.evaluate(
        """async picture => {
            while (!picture.naturalWidth || !picture.complete) await new Promise(requestAnimationFrame);
            const canvas = new OffscreenCanvas(picture.naturalWidth, picture.naturalHeight);
            const context = canvas.getContext("2d");
            context.drawImage(picture, 0, 0);
            return Array.from(context.getImageData(0, 0, canvas.width, canvas.height).data);
        }"""
    )
    return np.array(pixels, np.uint8).reshape(-1, 4)[:, :3]


def step_box(page: Any, tag: Any) -> Any:
    return card(page, tag).get_by_role("spinbutton", name="Step")


def test_the_newest_picture_is_shown_as_recorded(page: Any, samples: Any, expected: Any) -> None:
    known = expected("lenet", "image", "Image")
    page.goto(f"{samples}image?runs=lenet&q=Image")
    expect(card(page, "Image")).to_contain_text("31 of 31")
    expect(card(page, "Image")).to_contain_text("160 × 40")
    assert hashlib.sha256(shown(page, "Image").tobytes()).hexdigest() == known["last"]["pixel_sha256"]


def test_every_step_is_reached_by_box_slider_and_keys(page: Any, samples: Any, expected: Any) -> None:
    known = expected("lenet", "image", "Image")
    page.goto(f"{samples}image?runs=lenet&q=Image")
    expect(step_box(page, "Image")).to_have_value(str(known["steps"][-1]))
    step_box(page, "Image").fill("1")
    page.keyboard.press("Enter")
    expect(card(page, "Image").get_by_role("img", name="Image at step 1", exact=True)).to_be_visible()
    assert hashlib.sha256(shown(page, "Image").tobytes()).hexdigest() == known["first"]["pixel_sha256"]
    card(page, "Image").get_by_role("slider", name="Step").focus()
    for step in known["steps"][1:4]:
        page.keyboard.press("ArrowRight")
        expect(
            card(page, "Image").get_by_role("img", name=f"Image at step {step}", exact=True)
        ).to_be_visible()
    card(page, "Image").get_by_role("group", name="Image, ./lenet").focus()
    page.keyboard.press("ArrowLeft")
    expect(card(page, "Image")).to_contain_text("3 of 31")
    step_box(page, "Image").fill("19")
    page.keyboard.press("Enter")
    expect(step_box(page, "Image")).to_have_value("18")


def test_linked_cards_move_together(page: Any, samples: Any) -> None:
    page.goto(f"{samples}image?runs=lenet")
    page.get_by_label("Same step for all").check()
    step_box(page, "Image").fill("10")
    page.keyboard.press("Enter")
    expect(step_box(page, "input_data/auto")).to_have_value("10")
    page.reload()
    expect(step_box(page, "Image")).to_have_value("10")
    page.get_by_label("Same step for all").uncheck()
    step_box(page, "Image").fill("20")
    page.keyboard.press("Enter")
    expect(step_box(page, "input_data/auto")).to_have_value("10")


def test_true_size_brightness_and_the_value_under_the_pointer(page: Any, samples: Any) -> None:
    page.goto(f"{samples}image?runs=lenet&q=Image")
    picture = card(page, "Image").locator("img.picture")
    expect(card(page, "Image")).to_contain_text("160 × 40")
    assert picture.bounding_box()["width"] > 200
    page.get_by_label("Original size").check()
    assert picture.bounding_box()["width"] == 160
    box = picture.bounding_box()
    page.mouse.move(box["x"] + 10.5, box["y"] + 5.5)
    expected = shown(page, "Image").reshape(40, 160, 3)[5, 10]
    expect(card(page, "Image")).to_contain_text("(10, 5) {} {} {}".format(*expected))
    page.get_by_role("spinbutton", name="Brightness").fill("2")
    page.keyboard.press("Enter")
    assert "brightness(2)" in picture.evaluate("picture => picture.style.filter")
    page.reload()
    assert "brightness(2)" in picture.evaluate("picture => picture.style.filter")
    page.get_by_role("button", name="Reset").click()
    assert "brightness(1)" in picture.evaluate("picture => picture.style.filter")


def test_two_steps_are_seen_beside_each_other_blinking_or_as_difference(page: Any, samples: Any) -> None:
    page.goto(f"{samples}image?runs=lenet&q=Image")
    newest = shown(page, "Image").astype(int)
    step_box(page, "Image").fill("58")
    page.keyboard.press("Enter")
    expect(card(page, "Image")).to_contain_text("30 of 31")
    before = shown(page, "Image").astype(int)
    step_box(page, "Image").fill("60")
    page.keyboard.press("Enter")
    expect(card(page, "Image")).to_contain_text("31 of 31")
    card(page, "Image").get_by_role("button", name="Compare").click()
    box = page.get_by_role("dialog", name="Image")
    expect(box.locator("figcaption")).to_have_text(["lenet, step 60", "lenet, step 58"])
    box.get_by_role("button", name="Blink").click()
    expect(box.locator("figure:visible")).to_have_count(1)
    box.get_by_role("button", name="Difference").click()
    expect(box).to_contain_text(f"{np.abs(newest - before).max()} of 255")
    box.get_by_role("spinbutton", name="Step").fill("60")
    page.keyboard.press("Enter")
    expect(box).to_contain_text("No pixel of the two images differs as displayed")
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)


def test_new_pictures_and_tags_arrive_unless_a_step_is_held(page: Any, serve: Any, tmp_path: Path) -> None:
    picture = np.zeros((1, 3, 4, 4), np.uint8)
    with SummaryRecord(str(tmp_path / "live" / "run")) as record:
        for step in (1, 2):
            record.add_value("image", "seen", picture + step * 60)
            record.record(step)
        record.flush()
        page.goto(f"{serve(tmp_path / 'live')}image")
        expect(card(page, "seen")).to_contain_text("2 of 2")
        record.add_value("image", "seen", picture)
        record.record(3)
        record.flush()
        expect(card(page, "seen")).to_contain_text("3 of 3")
        step_box(page, "seen").fill("1")
        page.keyboard.press("Enter")
        record.add_value("image", "seen", picture)
        record.add_value("image", "other", picture)
        record.record(4)
        record.flush()
        expect(card(page, "other")).to_be_visible()


def blank(side: int) -> bytes:
    """A PNG of so many pixels a side, one bit each and all black: 400 million of them are 50 kB."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        )

    head = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    pixels = zlib.compress(bytes((1 + -(-side // 8)) * side))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def test_a_picture_of_400_million_pixels_leaves_the_page_usable(
    page: Any, serve: Any, tmp_path: Path
) -> None:
    records = []
    for step in (1, 2):
        event = Event(wall_time=float(step), step=step)
        for tag, side in (("huge", 20_000), ("small", 8)):
            image = event.summary.value.add(tag=tag).image
            image.height = image.width = side
            image.encoded_image = blank(side)
        records.append(encode_record(event.SerializeToString()))
    folder = tmp_path / "base" / "run"
    folder.mkdir(parents=True)
    (folder / "events.out.events.summary.1700000000.0.host_MS").write_bytes(b"".join(records))
    page.goto(f"{serve(tmp_path / 'base')}image")
    expect(card(page, "huge")).to_contain_text("20000 × 20000")
    assert shown(page, "small").shape == (64, 3)
    step_box(page, "small").fill("1")
    page.keyboard.press("Enter")
    expect(card(page, "small").get_by_role("img", name="small at step 1", exact=True)).to_be_visible()
    step_box(page, "huge").fill("1")
    page.keyboard.press("Enter")
    expect(card(page, "huge").get_by_role("img", name="huge at step 1", exact=True)).to_be_visible()
    expect(card(page, "huge")).to_contain_text("20000 × 20000")


def test_back_and_forward_show_what_the_address_says(page: Any, samples: Any) -> None:
    page.goto(f"{samples}image?runs=lenet&q=Image&link=1&at=10&b=2")
    expect(step_box(page, "Image")).to_have_value("10")
    page.evaluate("history.pushState(null, '', 'image?runs=lenet&size=1')")
    page.go_back()
    page.go_forward()
    expect(page.locator(".card")).to_have_count(2)
    expect(page.get_by_label("Original size")).to_be_checked()
    expect(page.get_by_label("Same step for all")).not_to_be_checked()
    expect(page.get_by_role("spinbutton", name="Brightness")).to_have_value("1")
    expect(step_box(page, "Image")).not_to_have_value("10")
    page.go_back()
    expect(page.locator(".card")).to_have_count(1)
    expect(step_box(page, "Image")).to_have_value("10")
    expect(page.get_by_role("spinbutton", name="Brightness")).to_have_value("2")


def test_pages_without_images_say_what_to_do(page: Any, samples: Any) -> None:
    page.goto(f"{samples}image?runs=values")
    expect(page.get_by_role("heading", name=re.compile("runs have images"))).to_be_visible()


def test_a_picture_is_played_zoomed_and_downloaded(page: Any, samples: Any) -> None:
    page.goto(f"{samples}image?runs=lenet&q=Image")
    expect(card(page, "Image")).to_contain_text("31 of 31")
    link = card(page, "Image").get_by_role("link", name="Download this image")
    expect(link).to_have_attribute("download", re.compile("^Image_[0-9]+$"))
    expect(link).to_have_attribute("href", re.compile("v2/image/picture.*row=30"))
    card(page, "Image").get_by_role("button", name="Play the steps").click()
    expect(card(page, "Image")).to_contain_text(re.compile("[23] of 31"))
    card(page, "Image").get_by_role("button", name="Pause").click()
    stage = card(page, "Image").locator(".stage")
    picture = stage.locator("img")
    stage.focus()
    stage.hover()
    page.mouse.wheel(0, -100)
    expect(picture).to_have_css("transform", re.compile(r"matrix\(1\.25"))
    page.keyboard.press("+")
    expect(picture).to_have_css("transform", re.compile(r"matrix\(1\.56"))
    stage.dblclick()
    expect(picture).to_have_css("transform", "none")


def test_several_runs_have_a_column_each(page: Any, samples: Any) -> None:
    page.goto(f"{samples}image?runs=lenet,images")
    grid = page.locator(".cards.by-run")
    expect(grid.get_by_text("This run has no such image").first).to_be_visible()
    columns = grid.evaluate("grid => getComputedStyle(grid).gridTemplateColumns.split(' ').length")
    cells = grid.locator("> *").count()
    assert (columns, cells % 2) == (2, 0)


def test_a_comparison_opens_on_the_other_charted_run_at_the_same_step(
    page: Page, serve: Callable[[Path], str], tmp_path: Path
) -> None:
    for name, steps in (("a", (1, 2, 3)), ("b", (1, 3))):
        with SummaryRecord(str(tmp_path / "base" / name)) as record:
            for step in steps:
                record.add_value("image", "seen", np.full((1, 3, 4, 4), step, np.uint8))
                record.record(step)
    page.goto(f"{serve(tmp_path / 'base')}image?runs=a,b")
    card(page, "seen").first.get_by_role("button", name="Compare").click()
    captions = page.get_by_role("dialog", name="seen").locator("figcaption")
    expect(captions).to_have_count(2)
    assert sorted(captions.all_inner_texts()) == ["a, step 3", "b, step 3"]
    page.get_by_label("Other run").select_option(captions.first.inner_text().partition(",")[0])
    expect(captions.nth(1)).not_to_contain_text("step 3")  # the step before, of the same run
