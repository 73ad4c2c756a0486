include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first)
file(RENAME ${WORK}/first ${WORK}/prefix)  # it does not matter where it lies
set(prefix ${WORK}/prefix)
set(lib ${prefix}/${LIBDIR})
foreach(text man/man1/satin.1 bash-completion/completions/satin fish/vendor_completions.d/satin.fish zsh/site-functions/_satin)
  file(READ ${prefix}/share/${text} content LIMIT 9)
  if(NOT content)
    message(FATAL_ERROR "share/${text} is empty.")
  endif()
endforeach()

# The shared libraries are enough: neither the packages that they are linked with are there, nor nvcc.
embed(${prefix} ${WORK}/shared -DCMAKE_DISABLE_FIND_PACKAGE_hwy=ON -DCMAKE_DISABLE_FIND_PACKAGE_TBB=ON
      -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON)
run(readelf -d ${WORK}/shared/three_lines)
if(NOT output MATCHES "NEEDED[^\n]*libsatin_core.so.0.2\\]" OR NOT output MATCHES "NEEDED[^\n]*libsatin_io.so.0.2\\]")
  message(FATAL_ERROR "The consumer does not need libsatin_core.so.0.2 and libsatin_io.so.0.2: ${output}")
endif()
run(readelf -d ${lib}/libsatin_core.so)
if(output MATCHES "libcuda")
  message(FATAL_ERROR "The library needs CUDA to be loaded: ${output}")
endif()

# A component that does not exist is refused with the names of those that do.
file(WRITE ${WORK}/wrong/CMakeLists.txt "cmake_minimum_required(VERSION 3.24)\nproject(wrong LANGUAGES C)\n"
     "find_package(satin 0.2 CONFIG REQUIRED COMPONENTS core files)\n")
execute_process(COMMAND ${CMAKE_COMMAND} -S ${WORK}/wrong -B ${WORK}/wrong/build -DCMAKE_PREFIX_PATH=${prefix}
                RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE output)
string(REGEX REPLACE "[ \n]+" " " output "${output}")
if(result EQUAL 0 OR NOT output MATCHES "no component 'files'. This installation of Satin has: core io batch")
  message(FATAL_ERROR "A wrong component: ${output}")
endif()

# The static libraries need those packages.
embed(${prefix} ${WORK}/static -Dsatin_USE_STATIC_LIBS=ON)
run(readelf -d ${WORK}/static/three_lines)
if(output MATCHES "libsatin")
  message(FATAL_ERROR "The static consumer needs a shared library of Satin: ${output}")
endif()

# pkg-config finds both.
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

# Programs may ask for versions of this minor number that are not newer.
foreach(case "${VERSION} TRUE" "0.2 TRUE" "0.1.9 FALSE" "0.99 FALSE" "1.0 FALSE")
  separate_arguments(case)
  list(GET case 0 PACKAGE_FIND_VERSION)
  list(GET case 1 expected)
  string(REGEX MATCH "^([0-9]+)\\.([0-9]+)" numbers ${PACKAGE_FIND_VERSION})
  set(PACKAGE_FIND_VERSION_MAJOR ${CMAKE_MATCH_1})
  set(PACKAGE_FIND_VERSION_MINOR ${CMAKE_MATCH_2})
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
  include(${lib}/cmake/satin/satinConfigVersion.cmake)
  if(NOT PACKAGE_VERSION_COMPATIBLE STREQUAL expected)
    message(FATAL_ERROR "find_package(satin ${PACKAGE_FIND_VERSION}): ${PACKAGE_VERSION_COMPATIBLE}, not ${expected}")
  endif()
endforeach()

run_clean(${prefix}/bin/satin --version)
