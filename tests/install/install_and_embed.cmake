include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first)
file(RENAME ${WORK}/first ${WORK}/prefix)  # it does not matter where it lies
set(prefix ${WORK}/prefix)
set(lib ${prefix}/${LIBDIR})

# By the shared libraries, without the packages that they are linked with, nor nvcc.
embed(${prefix} ${WORK}/shared -DCMAKE_DISABLE_FIND_PACKAGE_hwy=ON -DCMAKE_DISABLE_FIND_PACKAGE_TBB=ON
      -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON)
run(readelf -d ${WORK}/shared/three_lines)
if(NOT output MATCHES "NEEDED[^\n]*libsatin_core.so.0\\]" OR NOT output MATCHES "NEEDED[^\n]*libsatin_io.so.0\\]")
  message(FATAL_ERROR "The consumer does not need libsatin_core.so.0 and libsatin_io.so.0: ${output}")
endif()
run(readelf -d ${lib}/libsatin_core.so)
if(output MATCHES "libcuda")
  message(FATAL_ERROR "The library needs CUDA to be loaded: ${output}")
endif()

# By the static ones.
embed(${prefix} ${WORK}/static -Dsatin_USE_STATIC_LIBS=ON)
run(readelf -d ${WORK}/static/three_lines)
if(output MATCHES "libsatin")
  message(FATAL_ERROR "The static consumer needs a shared library of Satin: ${output}")
endif()

# By pkg-config.
find_program(pkg_config pkg-config)
if(pkg_config)
  set(ENV{PKG_CONFIG_PATH} ${lib}/pkgconfig)
  run(${pkg_config} --cflags --libs satin-io)
  separate_arguments(flags UNIX_COMMAND "${output}")
  run_clean(${CXX_COMPILER} -std=c++20 ${EMBED}/three_lines.cpp -o ${WORK}/three_lines ${flags} -Wl,-rpath,${lib})
  run_clean(${WORK}/three_lines)
  run(${pkg_config} --modversion satin)
  if(NOT output STREQUAL "${VERSION}\n")
    message(FATAL_ERROR "pkg-config says version ${output}")
  endif()
else()
  message(STATUS "Skipped: pkg-config is missing")
endif()

# Versions: any of this major number that is not newer.
foreach(case "${VERSION} TRUE" "0.0.9 TRUE" "0.99 FALSE" "1.0 FALSE")
  separate_arguments(case)
  list(GET case 0 PACKAGE_FIND_VERSION)
  list(GET case 1 expected)
  string(REGEX MATCH "^[0-9]+" PACKAGE_FIND_VERSION_MAJOR ${PACKAGE_FIND_VERSION})
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
  include(${lib}/cmake/satin/satinConfigVersion.cmake)
  if(NOT PACKAGE_VERSION_COMPATIBLE STREQUAL expected)
    message(FATAL_ERROR "find_package(satin ${PACKAGE_FIND_VERSION}): ${PACKAGE_VERSION_COMPATIBLE}, not ${expected}")
  endif()
endforeach()

run_clean(${prefix}/bin/satin --version)
