# For find_package(larq_engine): the plug-in as the target larq_engine::larq_engine, as it lies in a wheel
# and in the source tree after `make build`. Programs include "larq_engine/runtime/larq_engine.h".
get_filename_component(_larq_package "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
get_filename_component(_larq_parent "${_larq_package}/.." ABSOLUTE)

# The names by which programs ask the loader for it.
if(CMAKE_SYSTEM_NAME STREQUAL "Darwin")
  set(_larq_library "liblarq_engine.dylib")
  set(_larq_soname "@rpath/${_larq_library}")
else()
  set(_larq_library "liblarq_engine.so")
  set(_larq_soname "${_larq_library}")
endif()

# A library of another CPU would first be refused by the linker, which does not say where it comes from.
# The first bytes of an ELF file, and of a Mach-O file, name the CPU.
set(_larq_machine "")
if(EXISTS "${_larq_package}/${_larq_library}")
  file(READ "${_larq_package}/${_larq_library}" _larq_start LIMIT 20 HEX)
  if(_larq_start MATCHES "^7f454c46.*3e00$")
    set(_larq_machine "x86_64")
  elseif(_larq_start MATCHES "^7f454c46.*b700$" OR _larq_start MATCHES "^cffaedfe0c000001")
    set(_larq_machine "aarch64")
  elseif(_larq_start MATCHES "^7f454c46.*2800$")
    set(_larq_machine "armv7l")
  endif()
endif()
# Systems have several names for the same CPU. A project without a language has no CPU.
string(TOLOWER "${CMAKE_SYSTEM_PROCESSOR}" _larq_wanted)
if(APPLE AND CMAKE_OSX_ARCHITECTURES)
  string(TOLOWER "${CMAKE_OSX_ARCHITECTURES}" _larq_wanted)
endif()
if(_larq_wanted STREQUAL "amd64")
  set(_larq_wanted "x86_64")
elseif(_larq_wanted STREQUAL "arm64")
  set(_larq_wanted "aarch64")
elseif(_larq_wanted MATCHES "^arm")
  set(_larq_wanted "armv7l")
endif()

if(CMAKE_SYSTEM_NAME STREQUAL "Windows")
  set(_larq_problem
      "expected a system whose programs link with a shared library itself, got Windows: load larq_engine.dll with LoadLibrary")
elseif(NOT CMAKE_SYSTEM_NAME MATCHES "^(Linux|Darwin)$")
  set(_larq_problem
      "expected Linux with glibc, or macOS, got ${CMAKE_SYSTEM_NAME}: docs/deployment.md says how to build the library for Android")
elseif(NOT EXISTS "${_larq_package}/${_larq_library}")
  set(_larq_problem
      "expected ${_larq_package}/${_larq_library}; `make build` in the source tree or `pip install .` makes it")
elseif(_larq_wanted AND NOT _larq_machine STREQUAL _larq_wanted)
  set(_larq_problem
      "expected a library for ${_larq_wanted}, got ${_larq_package}/${_larq_library} for ${_larq_machine}; install the wheel of the target's CPU")
endif()

if(DEFINED _larq_problem)
  set(larq_engine_FOUND FALSE)
  set(larq_engine_NOT_FOUND_MESSAGE "${_larq_problem}")
elseif(NOT TARGET larq_engine::larq_engine)
  add_library(larq_engine::larq_engine SHARED IMPORTED)
  set_target_properties(larq_engine::larq_engine PROPERTIES
    IMPORTED_LOCATION "${_larq_package}/${_larq_library}"
    IMPORTED_SONAME "${_larq_soname}"
    INTERFACE_INCLUDE_DIRECTORIES "${_larq_parent}")
endif()
foreach(_larq_name library machine package parent problem soname start wanted)
  unset(_larq_${_larq_name})
endforeach()
unset(_larq_name)
