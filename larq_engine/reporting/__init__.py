"""Shows profiles and placements: a page, tables, plots, and files for other tools.

Pure: it measures nothing, decides nothing, and opens no connection.
"""
