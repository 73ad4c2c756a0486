# The headers that most files include.
set(satin_precompiled <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <limits> <memory> <optional> <span>
                      <string> <utility> <vector>)

# satin_target(NAME): what every target of the project is compiled with. No floating-point contraction anywhere:
# equal bytes on every device and SIMD target rest on it.
function(satin_target name)
  target_compile_options(${name} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -ffp-contract=off>
    # GCC 12 sees overlaps in joined strings that are not there (its bug 105651).
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
    $<$<AND:$<BOOL:${SATIN_WARNINGS_AS_ERRORS}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>)
  target_compile_definitions(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:HWY_DISABLED_TARGETS=${SATIN_DISABLED_TARGETS}>)
  get_filename_component(sources ${CMAKE_CURRENT_FUNCTION_LIST_DIR} DIRECTORY)  # src, from a package built by itself too
  target_include_directories(${name} PRIVATE ${sources})
  get_target_property(sources ${name} SOURCES)
  list(LENGTH sources files)
  if(SATIN_PRECOMPILE AND files GREATER 4)  # for fewer files precompiling takes longer than it saves
    target_precompile_headers(${name} PRIVATE ${satin_precompiled})
    # With precompiled headers GCC 12 to 14 see overlong strings and copies beyond them that are not there, for the same
    # reason. The other options let ccache keep what is compiled with them.
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

# satin_instances(SOURCE...): instances for every type and operator, which sanitizers take longer to optimise than to run.
function(satin_instances)
  if(SATIN_SANITIZE OR SATIN_FUZZ)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O0 SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()
