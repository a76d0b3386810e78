"""Models on columns of data: for pipelines that hand over batches of rows, as Ray, Spark, Dask and
pandas do. `Predictor` knows none of them; what Ray needs beside it is in modules of their own."""

from larq_engine.batch.predictor import Predictor

__all__ = ["Predictor"]
