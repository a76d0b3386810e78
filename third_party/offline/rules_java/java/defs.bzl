"""The names that Bazel 4's tool packages load from rules_java, all native rules there."""

java_binary = native.java_binary
java_import = native.java_import
java_library = native.java_library
java_runtime = native.java_runtime
java_toolchain = native.java_toolchain
