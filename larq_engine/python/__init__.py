"""The Python side of the plug-in: interpreter, hosts, profile."""
