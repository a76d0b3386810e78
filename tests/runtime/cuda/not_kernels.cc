// A library that lies where that of the kernels is expected.
