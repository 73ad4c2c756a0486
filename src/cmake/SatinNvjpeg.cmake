# The target satin_nvjpeg: nvJPEG of the CUDA toolkit, or below SATIN_NVJPEG_ROOT, or what pip install nvidia-nvjpeg has put
# among Python's packages.
if(NOT SATIN_WITH_CUDA)
  message(FATAL_ERROR "Satin: SATIN_NVJPEG needs CUDA. Configure with SATIN_CUDA=ON where nvcc is installed.")
endif()
set(SATIN_NVJPEG_ROOT "" CACHE PATH "Where nvJPEG is, if not in the CUDA toolkit: the folder with include/nvjpeg.h, or site-packages")

set(satin_nvjpeg_roots ${SATIN_NVJPEG_ROOT} ${CUDAToolkit_INCLUDE_DIRS}/.. ${CUDAToolkit_LIBRARY_DIR}/..)
find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_FOUND)
  list(APPEND satin_nvjpeg_roots ${Python3_SITELIB} ${Python3_SITEARCH})
endif()
set(satin_nvjpeg_wheels nvidia/cu${CUDAToolkit_VERSION_MAJOR} nvidia/nvjpeg cu${CUDAToolkit_VERSION_MAJOR})
list(TRANSFORM satin_nvjpeg_wheels APPEND /include OUTPUT_VARIABLE satin_nvjpeg_headers)
list(TRANSFORM satin_nvjpeg_wheels APPEND /lib OUTPUT_VARIABLE satin_nvjpeg_libraries)

# A wheel has no file for the linker but the library under its full name.
find_path(SATIN_NVJPEG_INCLUDE_DIR nvjpeg.h HINTS ${satin_nvjpeg_roots} PATH_SUFFIXES include ${satin_nvjpeg_headers})
find_library(SATIN_NVJPEG_LIBRARY NAMES nvjpeg libnvjpeg.so.${CUDAToolkit_VERSION_MAJOR} HINTS ${satin_nvjpeg_roots}
             PATH_SUFFIXES lib64 lib ${satin_nvjpeg_libraries})
mark_as_advanced(SATIN_NVJPEG_INCLUDE_DIR SATIN_NVJPEG_LIBRARY)
if(NOT SATIN_NVJPEG_INCLUDE_DIR OR NOT SATIN_NVJPEG_LIBRARY)
  message(FATAL_ERROR "Satin: nvJPEG was not found. Install it with the CUDA toolkit, or pip install nvidia-nvjpeg and name "
                      "the folder of that package in SATIN_NVJPEG_ROOT, or configure with SATIN_NVJPEG=OFF.")
endif()
message(STATUS "Satin: nvJPEG is ${SATIN_NVJPEG_LIBRARY}")

add_library(satin_nvjpeg INTERFACE)
target_include_directories(satin_nvjpeg SYSTEM INTERFACE ${SATIN_NVJPEG_INCLUDE_DIR} ${CUDAToolkit_INCLUDE_DIRS})
target_link_libraries(satin_nvjpeg INTERFACE ${SATIN_NVJPEG_LIBRARY})
