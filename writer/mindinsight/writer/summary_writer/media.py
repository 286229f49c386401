"""Methods of SummaryWriter for pictures and sounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindinsight.writer import options
from mindinsight.writer.encoding import sounds
from mindinsight.writer.summary_writer import pictures
from mindinsight.writer.summary_writer.run_files import RunFiles, moment


class MediaMethods(RunFiles):
    """Pictures, figures, videos and sounds."""

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """Record a picture: uint8, or numbers within 0..1."""
        batch = pictures.batch(img_tensor, dataformats)
        self._files().images(options.tag(tag), batch, moment(global_step, walltime))

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Record a batch of pictures as one, eight in a row."""
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_image_with_boxes(
        self,
        tag: str,
        img_tensor: Any,
        box_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        rescale: float = 1,
        dataformats: str = "CHW",
        labels: str | Sequence[str] | None = None,
    ) -> None:
        """Record a picture with rectangles [n, (left, top, right, bottom)] drawn into it. Needs Pillow."""
        names = [labels] if isinstance(labels, str) else labels
        drawn = pictures.with_boxes(pictures.batch(img_tensor, dataformats), box_tensor, names, rescale)
        self._files().images(options.tag(tag), drawn, moment(global_step, walltime))

    def add_figure(
        self,
        tag: str,
        figure: Any,
        global_step: Any = None,
        close: bool = True,
        walltime: float | None = None,
    ) -> None:
        """Record a figure of matplotlib, or a list of equally large ones, as a picture."""
        drawn = pictures.of_figures(figure if isinstance(figure, list) else [figure], close)
        self._files().images(options.tag(tag), drawn, moment(global_step, walltime))

    def add_video(
        self,
        tag: str,
        vid_tensor: Any,
        global_step: Any = None,
        fps: float = 4,
        walltime: float | None = None,
    ) -> None:
        """Record the frames of videos (N, T, C, H, W) as one picture, eight in a row. ``fps`` is not kept."""
        del fps
        self._files().images(options.tag(tag), pictures.frames(vid_tensor), moment(global_step, walltime))

    def add_audio(
        self,
        tag: str,
        snd_tensor: Any,
        global_step: Any = None,
        sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:
        """Record a sound: samples within -1..1."""
        sound = sounds.sound(snd_tensor, sample_rate)
        self._files().audio(options.tag(tag), sound, moment(global_step, walltime))
