# satin_shared(NAME [OTHER...]): beside the static library satin_NAME the shared one, satin_NAME_shared, of the same
# objects, linked with the shared OTHERs. It exports what the public headers declare and nothing else; whatever else it is
# linked with stays its own affair. None with sanitizers.
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
