"""The result of a conversion."""

from typing import Any

from larq_engine.converter.report import ConversionReport


class _ShortHelp(type):
    """Limits what `help` lists, which is what `dir` of a class returns: no methods of bytes."""

    def __dir__(cls) -> list[str]:
        return ["report"]


class ConvertedModel(bytes, metaclass=_ShortHelp):
    """The content of a .tflite file, to write or to give to an Interpreter.

    It is a `bytes` object with one more attribute.

    Attributes:
        report: A ConversionReport: what became of each layer.
    """

    report: ConversionReport

    def __new__(cls, content: bytes, report: ConversionReport) -> "ConvertedModel":
        model = super().__new__(cls, content)
        model.report = report
        return model

    def __repr__(self) -> str:
        return f"<ConvertedModel of {len(self)} bytes, layers: {self.report.summarize()}>"

    __str__ = __repr__

    def __reduce__(self) -> tuple[Any, ...]:
        return ConvertedModel, (bytes(self), self.report)
