"""Shows profiles and placements as a page, tables, plots, and files for other tools.

This package measures nothing, decides nothing, and opens no connection.
"""
