from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class LazyEvent(_message.Message):
    __slots__ = ("wall_time", "step", "version", "graph_def", "summary", "explain", "alert", "closing")
    WALL_TIME_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    GRAPH_DEF_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    EXPLAIN_FIELD_NUMBER: _ClassVar[int]
    ALERT_FIELD_NUMBER: _ClassVar[int]
    CLOSING_FIELD_NUMBER: _ClassVar[int]
    wall_time: float
    step: int
    version: str
    graph_def: bytes
    summary: LazySummary
    explain: bytes
    alert: bytes
    closing: bytes
    def __init__(self, wall_time: _Optional[float] = ..., step: _Optional[int] = ..., version: _Optional[str] = ..., graph_def: _Optional[bytes] = ..., summary: _Optional[_Union[LazySummary, _Mapping]] = ..., explain: _Optional[bytes] = ..., alert: _Optional[bytes] = ..., closing: _Optional[bytes] = ...) -> None: ...

class LazyLayout(_message.Message):
    __slots__ = ("category",)
    class Category(_message.Message):
        __slots__ = ("title", "chart")
        TITLE_FIELD_NUMBER: _ClassVar[int]
        CHART_FIELD_NUMBER: _ClassVar[int]
        title: bytes
        chart: _containers.RepeatedCompositeFieldContainer[LazyLayout.Chart]
        def __init__(self, title: _Optional[bytes] = ..., chart: _Optional[_Iterable[_Union[LazyLayout.Chart, _Mapping]]] = ...) -> None: ...
    class Chart(_message.Message):
        __slots__ = ("title", "multiline", "margin")
        TITLE_FIELD_NUMBER: _ClassVar[int]
        MULTILINE_FIELD_NUMBER: _ClassVar[int]
        MARGIN_FIELD_NUMBER: _ClassVar[int]
        title: bytes
        multiline: LazyLayout.Multiline
        margin: LazyLayout.Margin
        def __init__(self, title: _Optional[bytes] = ..., multiline: _Optional[_Union[LazyLayout.Multiline, _Mapping]] = ..., margin: _Optional[_Union[LazyLayout.Margin, _Mapping]] = ...) -> None: ...
    class Multiline(_message.Message):
        __slots__ = ("tag",)
        TAG_FIELD_NUMBER: _ClassVar[int]
        tag: _containers.RepeatedScalarFieldContainer[bytes]
        def __init__(self, tag: _Optional[_Iterable[bytes]] = ...) -> None: ...
    class Margin(_message.Message):
        __slots__ = ("series",)
        SERIES_FIELD_NUMBER: _ClassVar[int]
        series: _containers.RepeatedCompositeFieldContainer[LazyLayout.Series]
        def __init__(self, series: _Optional[_Iterable[_Union[LazyLayout.Series, _Mapping]]] = ...) -> None: ...
    class Series(_message.Message):
        __slots__ = ("value", "lower", "upper")
        VALUE_FIELD_NUMBER: _ClassVar[int]
        LOWER_FIELD_NUMBER: _ClassVar[int]
        UPPER_FIELD_NUMBER: _ClassVar[int]
        value: bytes
        lower: bytes
        upper: bytes
        def __init__(self, value: _Optional[bytes] = ..., lower: _Optional[bytes] = ..., upper: _Optional[bytes] = ...) -> None: ...
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    category: _containers.RepeatedCompositeFieldContainer[LazyLayout.Category]
    def __init__(self, category: _Optional[_Iterable[_Union[LazyLayout.Category, _Mapping]]] = ...) -> None: ...

class LazySummary(_message.Message):
    __slots__ = ("value",)
    class Value(_message.Message):
        __slots__ = ("tag", "scalar_value", "image", "tensor", "histogram", "loss_landscape", "text", "audio", "pr_curve", "layout", "code", "exact_scalar")
        TAG_FIELD_NUMBER: _ClassVar[int]
        SCALAR_VALUE_FIELD_NUMBER: _ClassVar[int]
        IMAGE_FIELD_NUMBER: _ClassVar[int]
        TENSOR_FIELD_NUMBER: _ClassVar[int]
        HISTOGRAM_FIELD_NUMBER: _ClassVar[int]
        LOSS_LANDSCAPE_FIELD_NUMBER: _ClassVar[int]
        TEXT_FIELD_NUMBER: _ClassVar[int]
        AUDIO_FIELD_NUMBER: _ClassVar[int]
        PR_CURVE_FIELD_NUMBER: _ClassVar[int]
        LAYOUT_FIELD_NUMBER: _ClassVar[int]
        CODE_FIELD_NUMBER: _ClassVar[int]
        EXACT_SCALAR_FIELD_NUMBER: _ClassVar[int]
        tag: bytes
        scalar_value: float
        image: bytes
        tensor: bytes
        histogram: bytes
        loss_landscape: bytes
        text: bytes
        audio: bytes
        pr_curve: bytes
        layout: bytes
        code: bytes
        exact_scalar: float
        def __init__(self, tag: _Optional[bytes] = ..., scalar_value: _Optional[float] = ..., image: _Optional[bytes] = ..., tensor: _Optional[bytes] = ..., histogram: _Optional[bytes] = ..., loss_landscape: _Optional[bytes] = ..., text: _Optional[bytes] = ..., audio: _Optional[bytes] = ..., pr_curve: _Optional[bytes] = ..., layout: _Optional[bytes] = ..., code: _Optional[bytes] = ..., exact_scalar: _Optional[float] = ...) -> None: ...
    VALUE_FIELD_NUMBER: _ClassVar[int]
    value: _containers.RepeatedCompositeFieldContainer[LazySummary.Value]
    def __init__(self, value: _Optional[_Iterable[_Union[LazySummary.Value, _Mapping]]] = ...) -> None: ...
