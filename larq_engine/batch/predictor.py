"""Makes a model a function from batches of rows to batches of rows."""

import inspect
import operator
import os
from collections.abc import Iterator, Mapping, Sequence, Sized
from typing import Any

import numpy as np

from larq_engine.batch.cpus import given_cpus
from larq_engine.batch.rows import Rows, check_rows, row_shape
from larq_engine.python.arguments import has_batch
from larq_engine.python.interpreter import Interpreter
from larq_engine.python.model_file import ModelSource
from larq_engine.python.tensors import Array, TensorInfo
from larq_engine.python.turns import computed_once

_ON_ERROR = ("raise", "null")


class _RefusedShapeError(ValueError):
    """An error for rows whose shape the model refuses, though its file leaves sizes open."""


class Predictor:
    """Runs a model on dictionaries of columns, as Ray Data, Spark, Dask and pandas hand them over.

    Called with a dictionary from column to rows, it returns one with the columns that the model
    does not read, and a column for each output. A copy by pickle opens the model at its first use,
    so a Predictor may be made where neither the model nor a GPU is.

    Rows with NaN are refused. `Interpreter.predict` computes with them, as hosts do; in columns
    they stand for missing values, and results would not show that.

    Args:
        model: The path of a .tflite file, or its content. A path is better for many workers.
        column: The column that the model reads; of a model with several inputs a dictionary from
            input name to column. If None, columns have the names of the inputs.
        outputs: The column that the model's output becomes; or a dictionary from output name to
            column: other outputs are left out. If None, each output becomes a column of its name.
        batch_size: The most rows to run at once; None: a number that suits the model.
        num_threads: If None, the number in the environment variable OMP_NUM_THREADS, which Ray
            sets, else the CPUs that this process may use; never more than these.
        on_error: What happens if the model cannot take a row. With "raise", a ValueError names the
            first such row. With "null", its outputs are null (NaN where they are floats, else None
            in an array of objects), and `error_column` says why; of good rows it is "".
        error_column: The name of that column, with on_error="null".
        **options: Other arguments of `larq_engine.Interpreter`, such as device="cuda".

    Raises:
        TypeError: There is no such option. When called: the batch is no dictionary.
        ValueError: An argument is not valid. When called, also: the model is not valid or does not
            fit the columns, or with on_error="raise" it cannot take a row.
    """

    def __init__(
        self,
        model: ModelSource,
        column: str | Mapping[str, str] | None = None,
        *,
        outputs: str | Mapping[str, str] | None = None,
        batch_size: int | None = None,
        num_threads: int | None = None,
        on_error: str = "raise",
        error_column: str = "error",
        **options: Any,
    ) -> None:
        if on_error not in _ON_ERROR:
            raise ValueError(f"on_error: expected one of {_ON_ERROR}, got {on_error!r}")
        if not isinstance(error_column, str) or not error_column:
            raise ValueError(f"error_column: expected a name, got {error_column!r}")
        inspect.signature(Interpreter).bind_partial(model, **options)
        self._source = model
        self._column = column
        self._outputs = outputs
        self._batch_size = _check_batch_size(batch_size)
        self._num_threads = num_threads
        self._error_column = error_column if on_error == "null" else None
        self._options = options

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_model"}

    def __repr__(self) -> str:
        """Describes columns and outputs from the arguments, as the model may be absent yet."""
        source = self._source
        if isinstance(source, (str, os.PathLike)):
            model = repr(os.fspath(source))
        elif isinstance(source, Sized):
            model = f"a model of {len(source)} bytes"
        else:
            model = type(source).__name__  # opening it will refuse this type
        reads = "inputs by name" if self._column is None else f"column {self._column!r}"
        makes = "outputs by name" if self._outputs is None else repr(self._outputs)
        return f"<Predictor of {model}: {reads} to {makes}>"

    @computed_once
    def _model(self) -> Interpreter:
        threads = given_cpus() if self._num_threads is None else self._num_threads
        model = Interpreter(self._source, num_threads=threads, **self._options)
        if not has_batch(model._inputs):
            shapes = dict(zip(model.input_names, model.input_shapes, strict=True))
            raise ValueError(
                f"model: expected inputs with samples along their first axis, got {shapes}; "
                "use larq_engine.Interpreter"
            )
        return model

    def open(self) -> "Predictor":
        """Opens the model now; else the first call opens it, and takes longer."""
        self._input_columns()
        self._output_columns()
        return self

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        columns = self._input_columns()
        # Data frames of pandas have columns too, and are no Mapping.
        if not hasattr(batch, "items"):
            named = ", ".join(f"{column!r}: rows" for column in columns.values())
            raise TypeError(
                "batch: expected a dictionary from column to rows, got "
                f"{type(batch).__name__}; as in predict({{{named}}}), or give arrays to "
                "larq_engine.Interpreter"
            )
        for column in columns.values():
            if column not in batch:
                raise ValueError(
                    f"batch: expected a column '{column}', got {sorted(map(str, batch))}; "
                    "say which column the model reads, with Predictor(column=...)"
                )
        rows = {
            name: check_rows(self._title(name, columns[name]), batch[columns[name]], info)
            for name, info in zip(self._model.input_names, self._model._inputs, strict=True)
        }
        counts = {columns[name]: len(checked.values) for name, checked in rows.items()}
        if len(set(counts.values())) > 1:
            raise ValueError(f"batch: expected as many rows in each column, got {counts}")
        count = next(iter(counts.values()))
        errors: dict[int, str] = {}
        for checked in rows.values():
            errors = checked.errors | errors
        self._raise_first(errors, count)
        result = {name: rows for name, rows in batch.items() if name not in columns.values()}
        made = self._run(rows, errors, count)
        if self._error_column is not None:
            texts = [errors.get(number, "") for number in range(count)]
            made[self._error_column] = np.array(texts, dtype=object)
        for name in made:
            if name in result:
                raise ValueError(
                    f"outputs: expected columns that the batch does not have, got '{name}'; name "
                    "others in Predictor(outputs=..., error_column=...)"
                )
        return result | made

    def _title(self, input_name: str, column: str) -> str:
        """Returns how errors in rows begin; a server, which has no columns, overrides it."""
        return f"column '{column}'"

    def _raise_first(self, errors: Mapping[int, str], count: int) -> None:
        if errors and self._error_column is None:
            first = min(errors)
            raise ValueError(
                f"row {first} of {count}: {errors[first]}; correct the row, or let rows like this "
                "be null with on_error='null'"
            )

    def _input_columns(self) -> dict[str, str]:
        """Returns the column of each input."""
        names = self._model.input_names
        asked = self._column
        if isinstance(asked, str) and len(names) == 1:
            return {names[0]: asked}
        if asked is None:
            return {name: name for name in names}
        if not isinstance(asked, Mapping) or set(asked) != set(names):
            raise ValueError(
                f"column: expected a dictionary from each of {names}, the model's inputs, to a "
                f"column, got {asked!r}"
            )
        return dict(asked)

    def _output_columns(self) -> dict[str, str]:
        """Returns the column of each output that is asked for."""
        names = self._model.output_names
        asked = self._outputs
        if isinstance(asked, str) and len(names) == 1:
            asked = {names[0]: asked}
        elif asked is None:
            asked = {name: name for name in names}
        elif not isinstance(asked, Mapping) or not asked or not set(asked) <= set(names):
            raise ValueError(
                f"outputs: expected a dictionary from some of {names}, the model's outputs, to "
                f"columns, got {asked!r}"
            )
        columns = [*asked.values(), *([self._error_column] if self._error_column else [])]
        if len(set(columns)) < len(columns):
            raise ValueError(
                f"outputs: expected a column of its own for each output and for errors, got "
                f"{columns}; name others in Predictor(outputs=..., error_column=...)"
            )
        return dict(asked)

    def _run(self, rows: Mapping[str, Rows], errors: dict[int, str], count: int) -> dict[str, Any]:
        """Returns the columns of outputs; adds errors of rows whose shapes the model refuses."""
        wanted = self._output_columns()
        pieces: dict[str, list[tuple[Sequence[int], Array]]] = {name: [] for name in wanted}
        good = [number for number in range(count) if number not in errors]
        for numbers in self._groups(rows, good):
            arrays = {name: checked.take(numbers) for name, checked in rows.items()}
            try:
                results = self._predict(arrays, len(numbers))
            except _RefusedShapeError as error:
                errors |= dict.fromkeys(numbers, str(error))
                self._raise_first(errors, count)
                continue
            for name, array in results.items():
                if name in wanted:
                    pieces[name].append((numbers, array))
        return {
            wanted[info.name]: self._join(pieces[info.name], count, info)
            for info in self._model._outputs
            if info.name in wanted
        }

    def _groups(self, rows: Mapping[str, Rows], good: list[int]) -> Iterator[list[int]]:
        """Yields the numbers of rows to run at once: they have one shape, and the wanted number."""
        by_shape: dict[Any, list[int]] = {}
        for number in good:
            shapes = tuple(checked.values[number].shape for checked in rows.values())
            by_shape.setdefault(shapes, []).append(number)
        for numbers in by_shape.values():
            step = self._batch_size or len(numbers)
            for start in range(0, len(numbers), step):
                yield numbers[start : start + step]

    def _predict(self, arrays: dict[str, Array], count: int) -> dict[str, Array]:
        # A model may fix a batch of several rows: copies of the last row fill it up.
        missing = -count % self._model.input_shapes[0][0]
        if missing:
            arrays = {
                name: np.concatenate([array, np.repeat(array[-1:], missing, axis=0)])
                for name, array in arrays.items()
            }
        try:
            results: dict[str, Array] = self._model.predict(arrays)
        except ValueError as error:
            # Rows were checked, so the model can only refuse sizes that its file leaves open.
            if any("?" in row_shape(info) for info in self._model._inputs):
                raise _RefusedShapeError(str(error)) from error
            raise
        for name, array in results.items():
            if array.shape[:1] != (count + missing,):
                raise ValueError(
                    f"output '{name}': expected a row for each of {count + missing} rows, got the "
                    f"shape {array.shape}; leave it out with Predictor(outputs=...)"
                )
        return {name: array[:count] for name, array in results.items()}

    def _join(
        self, pieces: Sequence[tuple[Sequence[int], Array]], count: int, info: TensorInfo
    ) -> Array:
        """Makes the column of an output.

        Its type does not depend on whether there are bad rows, as parts of a data set are joined
        later."""
        shapes = {array.shape[1:] for _, array in pieces} or {info.shape[1:]}
        is_float = info.dtype.kind == "f"
        if len(shapes) == 1 and (self._error_column is None or is_float):
            if len(pieces) == 1 and len(pieces[0][0]) == count:
                return pieces[0][1]
            whole = np.empty((count, *shapes.pop()), info.dtype)
            if is_float:
                whole.fill(np.nan)
            for numbers, array in pieces:
                whole[numbers] = array
            return whole
        rows = np.empty(count, object)
        for numbers, array in pieces:
            for number, row in zip(numbers, array, strict=True):
                rows[number] = row
        return rows


def _check_batch_size(batch_size: Any) -> int | None:
    if batch_size is None:
        return None
    # NumPy's integers are taken too; bools, which nobody means as a number, are not.
    if not isinstance(batch_size, (bool, np.bool_)) and hasattr(batch_size, "__index__"):
        size = operator.index(batch_size)
        if size > 0:
            return size
    raise ValueError(f"batch_size: expected a positive integer or None, got {batch_size!r}")
