"""Provides larq's optimizers for Keras 3."""

from larq_engine.keras.bop import Bop
from larq_engine.keras.case_optimizer import CaseOptimizer

__all__ = ["Bop", "CaseOptimizer"]
