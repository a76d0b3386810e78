"""Checks the version of Keras."""


def require_keras_3() -> None:
    """Raises ImportError if `import keras` is not Keras 3."""
    remedy = 'pip install "keras>=3", with TensorFlow, JAX or PyTorch as its backend'
    try:
        import keras
    except ModuleNotFoundError as error:
        if error.name != "keras":
            raise
        raise ImportError(f"larq_engine.keras: Keras 3 is not installed; {remedy}") from error
    if int(keras.__version__.split(".")[0]) < 3:
        raise ImportError(
            f"larq_engine.keras: expected Keras 3, got Keras {keras.__version__}; {remedy}. larq "
            "itself is for Keras 2"
        )
