"""TensorBoard's messages, made by protobuf itself from a table of fields; what files hold of them."""

from typing import Any

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from tests.writer.conftest import payloads
from tests.writer.plain_values import digest, layout_charts, number, pixels

# Message -> "name number type", a * before the type for repeated ones. Types in capitals are messages.
MESSAGES = {
    "Event": "wall_time 1 double, step 2 int64, file_version 3 string, graph_def 4 bytes, summary 5 Summary,"
    " session_log 7 SessionLog, source_metadata 10 Source",
    "Source": "writer 1 string",
    "SessionLog": "status 1 int32",
    "Summary": "value 1 *Value",
    "Value": "tag 1 string, simple_value 2 float, image 4 Image, histo 5 Histogram, audio 6 Audio,"
    " tensor 8 Tensor, metadata 9 Metadata",
    "Metadata": "plugin_data 1 PluginData",
    "PluginData": "plugin_name 1 string, content 2 bytes",
    "Image": "height 1 int32, width 2 int32, colorspace 3 int32, encoded 4 bytes",
    "Audio": "sample_rate 1 float, num_channels 2 int64, length_frames 3 int64, encoded 4 bytes,"
    " content_type 5 string",
    "Histogram": "min 1 double, max 2 double, num 3 double, sum 4 double, sum_squares 5 double,"
    " bucket_limit 6 *double, bucket 7 *double",
    "Tensor": "dtype 1 int32, shape 2 Shape, content 4 bytes, string_val 8 *bytes",
    "Shape": "dim 2 *Dim",
    "Dim": "size 1 int64",
    "GraphDef": "node 1 *Node, versions 4 Versions",
    "Versions": "producer 1 int32",
    "Node": "name 1 string, op 2 string, input 3 *string, attr 5 *Attr",
    "Attr": "key 1 string, value 2 AttrValue",
    "AttrValue": "list 1 AttrList, s 2 bytes",
    "AttrList": "shape 7 *Shape",
    "HParams": "version 1 int32, experiment 2 Experiment, session_start_info 3 Start, session_end_info 4 End",
    "Experiment": "hparam_infos 4 *HParamInfo, metric_infos 5 *MetricInfo",
    "HParamInfo": "name 1 string, type 4 int32, domain 5 Values",
    "Values": "values 1 *Struct",
    "MetricInfo": "name 1 MetricName",
    "MetricName": "tag 2 string",
    "Start": "hparams 1 *Entry",
    "Entry": "key 1 string, value 2 Struct",
    "Struct": "number 2 double, string 3 string, bool 4 bool",
    "End": "status 1 int32",
    "Layout": "category 2 *Category",
    "Category": "title 1 string, chart 2 *Chart",
    "Chart": "title 1 string, multiline 2 Lines, margin 3 Margin",
    "Lines": "tag 1 *string",
    "Margin": "series 1 *Series",
    "Series": "value 1 string, lower 2 string, upper 3 string",
}
STOPPED = 2
DTYPES = {1: "<f4", 2: "<f8", 3: "<i4", 4: "u1", 5: "<i2", 6: "i1", 7: "S", 9: "<i8", 10: "?", 14: "bfloat16"}


def _classes() -> dict[Any, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="tensorboard_test.proto", package="tb", syntax="proto2")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for text in fields.split(","):
            field, number, kind = text.split()
            label = 3 if kind[0] == "*" else 1
            kind = kind.lstrip("*")
            added = message.field.add(name=field, number=int(number), label=label)
            if kind in MESSAGES:
                added.type, added.type_name = 11, f".tb.{kind}"
            else:
                added.type = getattr(descriptor_pb2.FieldDescriptorProto, f"TYPE_{kind.upper()}")
                if label == 3 and kind == "double":
                    added.options.packed = True
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {name: message_class(pool.FindMessageTypeByName(f"tb.{name}")) for name in MESSAGES}


def message_class(descriptor: Any) -> Any:
    """The class of a message; before protobuf 4.22 a factory made it."""
    make = getattr(message_factory, "GetMessageClass", None) or message_factory.MessageFactory().GetPrototype
    return make(descriptor)


CLASSES = _classes()


def parse(name: Any, content: Any) -> Any:
    """The message called ``name``; fails on a field that is not in the table."""
    message = CLASSES[name].FromString(content)
    assert message.SerializeToString() and not _unknown(message), (
        f"fields of {name} that TensorBoard does not have"
    )
    return message


def _unknown(message: Any) -> bool:
    before = message.ByteSize()
    message.DiscardUnknownFields()
    return message.ByteSize() != before


def events(directory: Any) -> Any:
    """Every Event of the tfevents files in ``directory``, without those that open and close a file."""
    messages = []
    for path in sorted(directory.glob("*.tfevents.*")):
        records, rest = payloads(path)
        assert rest == b""
        first, *others = [parse("Event", record) for record in records]
        assert first.file_version == "brain.Event:2"
        messages += [event for event in others if event.session_log.status != STOPPED]
    return messages


def read(directory: Any) -> Any:
    """What the runs below ``directory`` hold, by run and tag, as plain JSON values."""
    runs: dict[Any, Any] = {}
    for folder in sorted({path.parent for path in directory.rglob("*.tfevents.*")}):
        tags = runs.setdefault(folder.relative_to(directory).as_posix(), {})
        for event in events(folder):
            for value in event.summary.value:
                tags.setdefault(value.tag, []).append([event.step, *_plain(value)])
    return runs


def _plain(value: Any) -> Any:
    plugin = value.metadata.plugin_data.plugin_name
    if value.HasField("simple_value"):
        return "scalar", number(value.simple_value)
    if value.HasField("image"):
        image = value.image
        return "image", image.width, image.height, image.colorspace, pixels(image.encoded)
    if value.HasField("histo"):
        histo = value.histo
        sums = (histo.min, histo.max, histo.num, histo.sum, histo.sum_squares)
        return "histogram", *map(number, sums), list(histo.bucket_limit), list(histo.bucket)
    if value.HasField("audio"):
        audio = value.audio
        return "audio", audio.sample_rate, audio.length_frames, audio.content_type, digest(audio.encoded)
    if plugin == "hparams":
        return "hparams", hparams(value.metadata.plugin_data.content)
    if plugin == "custom_scalars":
        return "layout", layout(value.tensor.string_val[0])
    if value.tensor.dtype == 7:
        return plugin, [text.decode() for text in value.tensor.string_val]
    array = np.frombuffer(value.tensor.content, DTYPES[value.tensor.dtype])
    return plugin, [dim.size for dim in value.tensor.shape.dim], [number(item) for item in array.tolist()]


def hparams(content: Any) -> list[Any]:
    message = parse("HParams", content)
    declared = {
        info.name: [info.type, [_struct(choice) for choice in info.domain.values]]
        for info in message.experiment.hparam_infos
    }
    values = {entry.key: _struct(entry.value) for entry in message.session_start_info.hparams}
    metrics = [info.name.tag for info in message.experiment.metric_infos]
    return [declared, metrics, values, message.session_end_info.status]


def layout(content: Any) -> Any:
    return layout_charts(parse("Layout", content))


def _struct(value: Any) -> Any:
    return next((content for _, content in value.ListFields()), None)
