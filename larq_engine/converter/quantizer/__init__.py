"""int8 around the binary layers, with ranges that sample data show."""
