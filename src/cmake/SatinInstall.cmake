# cmake --install: headers, static and shared libraries, the command, the Python package if it is built, and
# packages for find_package(satin CONFIG) and pkg-config. CPack makes a Debian package of each component.
include(CMakePackageConfigHelpers)
set(satin_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/satin)

set(satin_static satin_core)
set(satin_shared "")
foreach(name kernels io batch)
  if(TARGET satin_${name})
    list(APPEND satin_static satin_${name})
  endif()
endforeach()
foreach(library IN LISTS satin_static)
  string(REPLACE "satin_" "" name ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
  if(TARGET ${library}_shared)
    list(APPEND satin_shared ${library}_shared)
  endif()
endforeach()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/satin DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
        FILES_MATCHING PATTERN "*.h" PATTERN "*.cuh")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT libraries)
install(TARGETS ${satin_static} EXPORT satin_static
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(EXPORT satin_static NAMESPACE satin:: FILE satinStatic.cmake DESTINATION ${satin_package_dir}
        COMPONENT development)
if(satin_shared)
  install(TARGETS ${satin_shared} EXPORT satin_shared
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libraries NAMELINK_COMPONENT development)
  install(EXPORT satin_shared NAMESPACE satin:: FILE satinShared.cmake DESTINATION ${satin_package_dir}
          COMPONENT development)
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/src/cmake/satinConfig.cmake.in ${PROJECT_BINARY_DIR}/satinConfig.cmake
                              INSTALL_DESTINATION ${satin_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/satinConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/satinConfig.cmake ${PROJECT_BINARY_DIR}/satinConfigVersion.cmake
        DESTINATION ${satin_package_dir} COMPONENT development)

# pkg-config: satin is the core, satin-io reads and writes files. --static adds the dependencies of static
# libraries.
set(satin_static_libs "-lhwy -ltbb")
if(TARGET satin_kernels)
  string(PREPEND satin_static_libs "-lsatin_kernels ")
  string(APPEND satin_static_libs " -lcudart_static -lrt -ldl -lpthread")
endif()
set(satin_io_static_libs "")
if(TARGET satin_io)
  get_target_property(satin_io_links satin_io LINK_LIBRARIES)
  foreach(pair "EXPAT::EXPAT=expat" "PNG::PNG=png" "JPEG::JPEG=jpeg" "TIFF::TIFF=tiff" "${SATIN_LCMS_LIBRARY}=lcms2" "${CMAKE_DL_LIBS}=dl")
    string(REGEX MATCH "^(.*)=(.*)$" matched "${pair}")
    if(CMAKE_MATCH_1 AND CMAKE_MATCH_1 IN_LIST satin_io_links)
      string(APPEND satin_io_static_libs " -l${CMAKE_MATCH_2}")
    endif()
  endforeach()
endif()
file(RELATIVE_PATH satin_root_of_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(package satin satin-io)
  if(package STREQUAL "satin" OR TARGET satin_io)
    configure_file(${PROJECT_SOURCE_DIR}/src/cmake/${package}.pc.in ${PROJECT_BINARY_DIR}/${package}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
            COMPONENT development)
  endif()
endforeach()

set(satin_own_folders ${CMAKE_INSTALL_INCLUDEDIR}/satin ${CMAKE_INSTALL_LIBDIR}/satin ${satin_package_dir} ${CMAKE_INSTALL_DOCDIR})
if(SATIN_BUILD_PYTHON)
  set(SATIN_PYTHON_INSTALL_DIR lib/python3/dist-packages CACHE STRING
      "Where cmake --install puts the Python package, below the prefix: a folder that the system's Python looks into")
  list(APPEND satin_own_folders ${SATIN_PYTHON_INSTALL_DIR}/satin ${SATIN_PYTHON_INSTALL_DIR}/satin_image-${PROJECT_VERSION}.dist-info)
endif()
if(PROJECT_IS_TOP_LEVEL)
  include(SatinPackage)
  add_custom_target(uninstall VERBATIM COMMENT "Removing what install_manifest.txt lists"
    COMMAND ${CMAKE_COMMAND} -DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt "-DFOLDERS=${satin_own_folders}"
            -P ${PROJECT_SOURCE_DIR}/src/cmake/uninstall.cmake)
endif()
