# cmake --install: headers, libraries, the command, and a package for find_package(satin CONFIG).
include(CMakePackageConfigHelpers)
set(satin_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/satin)

set(satin_libraries satin_core)
if(TARGET satin_kernels)
  list(APPEND satin_libraries satin_kernels)
endif()
if(TARGET satin_io)
  list(APPEND satin_libraries satin_io)
endif()
if(TARGET satin_batch)
  list(APPEND satin_libraries satin_batch)
endif()
foreach(library IN LISTS satin_libraries)
  string(REPLACE "satin_" "" component ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${component})
endforeach()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/satin DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING
        PATTERN "*.h" PATTERN "*.cuh")
install(TARGETS ${satin_libraries} EXPORT satin ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
                                                LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT satin NAMESPACE satin:: FILE satinTargets.cmake DESTINATION ${satin_package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/src/cmake/satinConfig.cmake.in ${PROJECT_BINARY_DIR}/satinConfig.cmake
                              INSTALL_DESTINATION ${satin_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/satinConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/satinConfig.cmake ${PROJECT_BINARY_DIR}/satinConfigVersion.cmake
        DESTINATION ${satin_package_dir})
