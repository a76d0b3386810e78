"""Reads ONNX models: makes a float .tflite file of one, for the converter to go on with."""
