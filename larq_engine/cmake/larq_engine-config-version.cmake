# For find_package(larq_engine 0.1): before 1.0 a new minor version may change the interface, after it
# only a new major version.
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../version.txt" PACKAGE_VERSION LIMIT_COUNT 1)
string(REGEX MATCH "^(0\\.[0-9]+|[0-9]+)" _same "${PACKAGE_VERSION}")
string(REPLACE "." "\\." _same "${_same}")

if("${PACKAGE_FIND_VERSION}" VERSION_EQUAL "${PACKAGE_VERSION}")
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
if("${PACKAGE_FIND_VERSION}" VERSION_LESS_EQUAL "${PACKAGE_VERSION}"
   AND "${PACKAGE_FIND_VERSION}" MATCHES "^${_same}(\\.|$)")
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
unset(_same)
