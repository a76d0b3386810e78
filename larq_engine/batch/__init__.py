"""Runs models on columns of data, for pipelines that hand over batches of rows.

Ray, Spark, Dask and pandas do so. `Predictor` knows none of them; modules of their own have what
Ray needs besides."""

from larq_engine.batch.predictor import Predictor

__all__ = ["Predictor"]
