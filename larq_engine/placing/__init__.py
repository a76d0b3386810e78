"""Turns a profile into a placement: decides exactly which device computes which operator.

This package measures nothing and runs nothing.
"""
