"""Reads ONNX models: makes a float .tflite file of a model, which the converter then reads."""
