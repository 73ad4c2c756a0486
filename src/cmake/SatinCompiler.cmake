# Stops if there is no C++ compiler, before project() does so without naming a package.
if(CMAKE_HOST_UNIX AND NOT CMAKE_CXX_COMPILER AND NOT CMAKE_TOOLCHAIN_FILE AND NOT DEFINED ENV{CXX})
  find_program(satin_compiler NAMES c++ g++ clang++ icpx NO_CACHE)
  if(NOT satin_compiler)
    message(FATAL_ERROR "Satin: there is no C++ compiler. Debian and Ubuntu have one: apt-get install g++ make")
  endif()
endif()
