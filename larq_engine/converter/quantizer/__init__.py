"""Makes the layers around binary ones int8, with ranges that sample data show."""
