# How targets are built: precompiled headers, compile options, shared libraries, the linker.
set(satin_precompiled <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <limits> <memory> <optional> <span>
                      <string> <utility> <vector>)

# satin_target(NAME): sets the compile options of a target. Floating-point contraction is off everywhere:
# equal bytes on every device and SIMD target depend on it.
function(satin_target name)
  target_compile_options(${name} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -ffp-contract=off>
    # GCC 12 warns of overlaps in joined strings that do not exist (its bug 105651).
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
    $<$<AND:$<BOOL:${SATIN_WARNINGS_AS_ERRORS}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>)
  target_compile_definitions(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:HWY_DISABLED_TARGETS=${SATIN_DISABLED_TARGETS}>)
  get_filename_component(sources ${CMAKE_CURRENT_FUNCTION_LIST_DIR} DIRECTORY)  # src, also if src/python is built by itself
  target_include_directories(${name} PRIVATE ${sources})
  get_target_property(sources ${name} SOURCES)
  list(LENGTH sources files)
  if(SATIN_PRECOMPILE AND files GREATER 4)  # precompiling for fewer files takes longer than it saves
    target_precompile_headers(${name} PRIVATE ${satin_precompiled})
    # With precompiled headers GCC 12 to 14 warns of overlong strings and copies that do not exist, for the
    # same reason. The other options let ccache cache objects that use them.
    target_compile_options(${name} PRIVATE
      $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-stringop-overflow;-Wno-array-bounds;-fpch-preprocess>
      "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:Clang>>:SHELL:-Xclang -fno-pch-timestamp>")
  endif()
  if(SATIN_FUZZ)
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
                                           -fno-omit-frame-pointer)
    target_link_options(${name} PRIVATE -fsanitize=address,undefined)
  endif()
  if(SATIN_SANITIZE)
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${SATIN_SANITIZE} -fno-omit-frame-pointer
                                                                    -fno-sanitize-recover=all>)
    target_link_options(${name} PRIVATE -fsanitize=${SATIN_SANITIZE})
  endif()
endfunction()

# satin_instances(SOURCE...): does not optimise instances for every type and operator in builds with
# sanitizers, where optimising takes longer than running.
function(satin_instances)
  if(SATIN_SANITIZE OR SATIN_FUZZ)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O0 SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

# satin_shared(NAME [OTHER...]): adds the shared library satin_NAME_shared, made from the objects of the
# static library satin_NAME and linked with the shared OTHERs. It exports only the public headers'
# declarations; other libraries are linked privately. Builds with sanitizers have no shared libraries.
set(SATIN_SYMBOLS ${PROJECT_SOURCE_DIR}/src/cmake/symbols.map)

function(satin_shared name)
  if(SATIN_SANITIZE OR SATIN_FUZZ)
    return()
  endif()
  set(library satin_${name}_shared)
  set(objects $<TARGET_OBJECTS:satin_${name}>)
  get_target_property(links satin_${name} LINK_LIBRARIES)
  list(FILTER links EXCLUDE REGEX "^satin(_|::)")
  if(name STREQUAL "core" AND SATIN_WITH_CUDA)
    list(APPEND objects $<TARGET_OBJECTS:satin_cuda> $<TARGET_OBJECTS:satin_kernels>)
    list(APPEND links CUDA::cudart_static)
  endif()

  add_library(${library} SHARED ${objects})
  foreach(link IN LISTS links)
    target_link_libraries(${library} PRIVATE $<BUILD_INTERFACE:${link}>)
  endforeach()
  foreach(other IN LISTS ARGN)
    target_link_libraries(${library} PUBLIC satin_${other}_shared)
  endforeach()
  target_compile_features(${library} PUBLIC cxx_std_20)
  target_include_directories(${library} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_options(${library} PRIVATE -Wl,--version-script=${SATIN_SYMBOLS} -Wl,--no-undefined)
  set_target_properties(${library} PROPERTIES
    LINKER_LANGUAGE CXX OUTPUT_NAME satin_${name} VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    INSTALL_RPATH $ORIGIN LINK_DEPENDS ${SATIN_SYMBOLS} EXPORT_NAME ${name})
endfunction()

# SATIN_QUICK_LINKER: links with the quickest linker that is found.
if(SATIN_QUICK_LINKER)
  include(CheckLinkerFlag)
  foreach(linker mold lld)
    check_linker_flag(CXX -fuse-ld=${linker} SATIN_LINKS_BY_${linker})
    if(SATIN_LINKS_BY_${linker})
      add_link_options(-fuse-ld=${linker})
      break()
    endif()
  endforeach()
endif()
