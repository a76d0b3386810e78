# For find_package(larq_engine): the plug-in as the target larq_engine::larq_engine, as it lies in a wheel
# and in the source tree after `make build`. Programs include "larq_engine/runtime/larq_engine.h".
get_filename_component(_package "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
get_filename_component(_parent "${_package}/.." ABSOLUTE)

if(NOT EXISTS "${_package}/liblarq_engine.so")
  set(larq_engine_FOUND FALSE)
  set(larq_engine_NOT_FOUND_MESSAGE
      "expected ${_package}/liblarq_engine.so; `make build` in the source tree or `pip install .` makes it")
elseif(NOT TARGET larq_engine::larq_engine)
  add_library(larq_engine::larq_engine SHARED IMPORTED)
  set_target_properties(larq_engine::larq_engine PROPERTIES
    IMPORTED_LOCATION "${_package}/liblarq_engine.so"
    IMPORTED_SONAME liblarq_engine.so
    INTERFACE_INCLUDE_DIRECTORIES "${_parent}")
endif()
unset(_package)
unset(_parent)
