# Run by cpack between staging and packing, a folder a component: what Debian wants in a package and a prefix has no use for.
# Each package gets its copyright and its changelog, which names the version and whoever packs it, and compressed manual pages.
find_program(gzip gzip REQUIRED)
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)  # SOURCE_DATE_EPOCH sets it
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
