# For find_package(larq_engine): the plug-in as the target larq_engine::larq_engine, as it lies in a wheel
# and in the source tree after `make build`. Programs include "larq_engine/runtime/larq_engine.h".
get_filename_component(_package "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
get_filename_component(_parent "${_package}/.." ABSOLUTE)

# The names by which programs ask the loader for it.
if(APPLE)
  set(_library "liblarq_engine.dylib")
  set(_soname "@rpath/${_library}")
else()
  set(_library "liblarq_engine.so")
  set(_soname "${_library}")
endif()

if(WIN32)
  set(larq_engine_FOUND FALSE)
  set(larq_engine_NOT_FOUND_MESSAGE
      "expected a system whose programs link with a shared library itself, got Windows: load larq_engine.dll with LoadLibrary")
elseif(NOT EXISTS "${_package}/${_library}")
  set(larq_engine_FOUND FALSE)
  set(larq_engine_NOT_FOUND_MESSAGE
      "expected ${_package}/${_library}; `make build` in the source tree or `pip install .` makes it")
elseif(NOT TARGET larq_engine::larq_engine)
  add_library(larq_engine::larq_engine SHARED IMPORTED)
  set_target_properties(larq_engine::larq_engine PROPERTIES
    IMPORTED_LOCATION "${_package}/${_library}"
    IMPORTED_SONAME "${_soname}"
    INTERFACE_INCLUDE_DIRECTORIES "${_parent}")
endif()
unset(_package)
unset(_parent)
unset(_library)
unset(_soname)
