# Run by cpack between staging and packing, with one folder per component: adds files that Debian requires in
# packages. Each package gets its copyright, its changelog with the version and the packager, and compressed
# manual pages.
find_program(gzip gzip REQUIRED)
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)  # can be set by SOURCE_DATE_EPOCH
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(usr ${CPACK_TEMPORARY_DIRECTORY}/${component}${CPACK_PACKAGING_INSTALL_PREFIX})
  set(doc ${usr}/share/doc/${package})
  file(READ ${CPACK_RESOURCE_FILE_LICENSE} license)
  file(REMOVE ${usr}/share/doc/satin/LICENSE)
  file(WRITE ${doc}/copyright "${license}")
  file(WRITE ${doc}/changelog "satin (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * Release ${CPACK_PACKAGE_VERSION}. CHANGELOG.md in the sources says what is new.

 -- ${CPACK_PACKAGE_CONTACT}  ${now}
")
  file(GLOB manual ${usr}/share/man/*/*.[1-9])
  execute_process(COMMAND ${gzip} -9nf ${doc}/changelog ${manual} COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB left ${usr}/share/doc/satin/*)
  if(NOT left)
    file(REMOVE_RECURSE ${usr}/share/doc/satin)
  endif()
endforeach()
