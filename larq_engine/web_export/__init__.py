"""Writes a model as a page that runs by itself in a browser: the engine, the model, a form.

`page/` has the page's own files, and `engine/` those that `make web` puts there: the JavaScript of
`/web/` and the WebAssembly modules.
"""
