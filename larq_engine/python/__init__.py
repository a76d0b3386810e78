"""The Python side of the plug-in: interpreter, host runtimes, profile."""
