"""Runs models on columns of data, for pipelines that hand over batches of rows.

Ray, Spark, Dask and pandas do so. `Predictor` imports none of them; what only Ray needs is in other
modules of this package."""

from larq_engine.batch.predictor import Predictor

__all__ = ["Predictor"]
