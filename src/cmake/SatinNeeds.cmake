# The compilers and libraries that the build needs. Decides SATIN_WITH_CUDA from SATIN_CUDA and
# SATIN_WITH_TESTS from SATIN_BUILD_TESTS.
include(CheckLanguage)
set(SATIN_WITH_CUDA OFF)
if(SATIN_CUDA STREQUAL "ON")
  set(SATIN_WITH_CUDA ON)
elseif(SATIN_CUDA STREQUAL "AUTO" AND EXISTS /dev/nvidiactl)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(SATIN_WITH_CUDA ON)
  endif()
endif()

if(SATIN_WITH_CUDA)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    if(EXISTS /dev/nvidiactl)
      set(CMAKE_CUDA_ARCHITECTURES native)
    else()
      set(CMAKE_CUDA_ARCHITECTURES 75-virtual 90-real)
    endif()
  endif()
  enable_language(CUDA)
  find_package(CUDAToolkit 12 REQUIRED)
  set(CMAKE_CUDA_STANDARD 20)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake before 3.26 does not know that nvcc 12 supports C++20
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  endif()
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
endif()
message(STATUS "Satin: CUDA kernels ${SATIN_WITH_CUDA}, codecs ${SATIN_CODECS}")

# Required libraries: all missing ones are reported at once, by the names of their Debian packages.
set(satin_missing "")

# satin_needs(PACKAGE DEBIAN_NAME): a package that find_package() finds.
macro(satin_needs package debian)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    list(APPEND satin_missing ${debian})
  endif()
endmacro()

satin_needs(hwy libhwy-dev)
satin_needs(TBB libtbb-dev)
if(NOT SATIN_CODECS STREQUAL "NONE")
  satin_needs(EXPAT libexpat1-dev)
  find_path(STB_INCLUDE_DIR stb/stb_image.h)
  mark_as_advanced(STB_INCLUDE_DIR)
  if(NOT STB_INCLUDE_DIR)
    list(APPEND satin_missing libstb-dev)
  endif()
  if(SATIN_BUILD_APP)
    satin_needs(CLI11 libcli11-dev)
    satin_needs(nlohmann_json nlohmann-json3-dev)
  endif()
endif()
if(SATIN_BUILD_PYTHON)
  find_package(Python 3.9 QUIET COMPONENTS Interpreter Development.Module)
  if(NOT Python_FOUND)
    list(APPEND satin_missing python3-dev)
  endif()
endif()
if(satin_missing)
  list(JOIN satin_missing " " satin_missing)
  message(FATAL_ERROR "Satin: libraries are missing. Debian and Ubuntu have them: apt-get install ${satin_missing}\n"
                      "(SATIN_CODECS=NONE leaves out files, and what reading them needs.)")
endif()

# Before 1.0.5, Highway's TruncateTo() mixes up lanes in AVX3_DL, a target that is compiled only on request or
# for such a processor alone (-march=native -DHWY_COMPILE_ONLY_STATIC). AVX3 takes its place. HWY_AVX3-1 is
# every target above AVX3.
if(NOT "${hwy_VERSION}" VERSION_GREATER_EQUAL 1.0.5)
  set(SATIN_DISABLED_TARGETS "(${SATIN_DISABLED_TARGETS})|(HWY_AVX3-1)")
endif()

# Tests need GoogleTest.
set(SATIN_WITH_TESTS OFF)
if(SATIN_BUILD_TESTS AND (PROJECT_IS_TOP_LEVEL OR NOT SATIN_BUILD_TESTS STREQUAL "AUTO"))
  find_package(GTest QUIET)
  set(SATIN_WITH_TESTS ${GTest_FOUND})
  if(NOT GTest_FOUND AND SATIN_BUILD_TESTS STREQUAL "AUTO")
    message(STATUS "Satin: tests are left out, as GoogleTest was not found (Debian and Ubuntu: libgtest-dev)")
  elseif(NOT GTest_FOUND)
    message(FATAL_ERROR "Satin: GoogleTest was not found. Install it (Debian and Ubuntu: libgtest-dev), "
                        "or configure with SATIN_BUILD_TESTS=OFF.")
  endif()
endif()
