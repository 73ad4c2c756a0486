# cpack: the Debian packages satin (the command), libsatin0.2 (shared libraries), libsatin-dev, satin-view
# (the page of `satin view`), python3-satin (if SATIN_BUILD_PYTHON is on), satin-heif: the module for
# libheif, which in Debian links an encoder under the GPL, and a package of plug-ins for each host.
#
# Debian requires the address of a maintainer in every package. example.org is reserved for examples: mail to
# it reaches nobody.
set(SATIN_CONTACT "Unnamed packager of Satin <nobody@example.org>" CACHE STRING
    "The maintainer whom the Debian packages name: set it to your own name and address before you give packages to others")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME satin)
set(CPACK_PACKAGE_VENDOR Satin)
set(CPACK_PACKAGE_CONTACT "${SATIN_CONTACT}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_SATIN_PACKAGES ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGE_DIRECTORY ${CPACK_SATIN_PACKAGES})
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/src/cmake/packages.cmake)
set(CPACK_COMPONENTS_ALL libraries development)
if(TARGET satin_app)
  list(APPEND CPACK_COMPONENTS_ALL command)
endif()
set(satin_recommended "")
if(TARGET satin_view_server)
  list(APPEND CPACK_COMPONENTS_ALL view)
  list(APPEND satin_recommended satin-view)
endif()
if(TARGET satin_io_heif)
  list(APPEND CPACK_COMPONENTS_ALL heif)
  list(APPEND satin_recommended satin-heif)
endif()
foreach(host frei0r vips gegl)
  if(TARGET satin_${host})
    list(APPEND CPACK_COMPONENTS_ALL ${host})
  endif()
endforeach()
if(SATIN_BUILD_PYTHON AND satin_shared)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
list(JOIN satin_recommended ", " CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/src/cmake/debian.cmake)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
if(CMAKE_CROSSCOMPILING)
  execute_process(COMMAND dpkg-architecture -t ${CMAKE_LIBRARY_ARCHITECTURE} -q DEB_HOST_ARCH
                  OUTPUT_VARIABLE CPACK_DEBIAN_PACKAGE_ARCHITECTURE OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()

# satin_package(COMPONENT NAME SECTION DEPENDS DESCRIPTION): describes the package of a component. The command needs the libraries
# for the codec modules.
macro(satin_package component name section depends description)
  set(CPACK_DEBIAN_${component}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${component}_PACKAGE_SECTION ${section})
  set(CPACK_COMPONENT_${component}_DEPENDS "${depends}")
  set(CPACK_COMPONENT_${component}_DESCRIPTION "${description}")
endmacro()
satin_package(LIBRARIES libsatin${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} libs ""
              "Filters and scans, and the image files for them: shared libraries.")
satin_package(DEVELOPMENT libsatin-dev libdevel libraries "Headers, static libraries, and what CMake and pkg-config need.")
satin_package(COMMAND satin graphics libraries "The command satin.")
satin_package(VIEW satin-view graphics command "The page on which pictures are filtered by hand, for satin view.")
satin_package(HEIF satin-heif graphics libraries "Reads HEIC and AVIF for satin, by libheif.")
satin_package(FREI0R frei0r-satin video libraries "Filters for programs that load frei0r plug-ins: ffmpeg, melt, Kdenlive, Shotcut.")
satin_package(GEGL gegl-satin graphics libraries "Filters as operations of GEGL: for GIMP and the command gegl.")
satin_package(VIPS vips-satin graphics libraries "Filters as operations of libvips: for the command vips, pyvips and programs on libvips.")
satin_package(PYTHON python3-satin python libraries "Filters, scans and image files for Python, on NumPy's arrays and others.")

# Dependencies of programs that are linked with the libraries: a minor version has one interface.
set(satin_shlibs "")
foreach(library IN LISTS satin_shared)
  string(REGEX REPLACE "_shared$" "" name ${library})
  string(APPEND satin_shlibs "lib${name} ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} "
                             "${CPACK_DEBIAN_LIBRARIES_PACKAGE_NAME} (>= ${PROJECT_VERSION})\n")
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/debian/shlibs CONTENT "${satin_shlibs}" @ONLY)
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/src/cmake/triggers ${PROJECT_BINARY_DIR}/debian/shlibs)
# The module works with one minor version of Python: nanobind's stable interface begins with 3.12.
math(EXPR satin_next_python "${Python_VERSION_MINOR} + 1")
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
    "python3 (>= 3.${Python_VERSION_MINOR}), python3 (<< 3.${satin_next_python}), python3-numpy")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/src/cmake/postinst ${PROJECT_SOURCE_DIR}/src/cmake/prerm)
# The module finds the libraries in the build tree. Its component declares the dependency on their package.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/src ${PROJECT_BINARY_DIR}/src/io ${PROJECT_BINARY_DIR}/src/batch)
include(CPack)
