"""From a profile to a placement: which device computes which operator, decided exactly.

Pure: it measures nothing and runs nothing.
"""
