# Included by cpack before packing: stops if dpkg-shlibdeps is missing, and sets the version of the packages.
find_program(satin_shlibdeps dpkg-shlibdeps)
if(NOT satin_shlibdeps)
  message(FATAL_ERROR "Satin: dpkg-shlibdeps, which finds what the packages depend on, is missing. Debian and Ubuntu have it: apt-get install dpkg-dev")
endif()

# dpkg-shlibdeps looks for the libraries of this architecture.
if(CPACK_DEBIAN_PACKAGE_ARCHITECTURE)
  set(ENV{DEB_HOST_ARCH} ${CPACK_DEBIAN_PACKAGE_ARCHITECTURE})
endif()

# Adds the number of commits since the version's tag, or since the first commit, and the last hash, so that
# apt recognises newer packages.
get_filename_component(satin_source ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
if(EXISTS ${satin_source}/.git)
  set(satin_git git -c "safe.directory=*" -C ${satin_source})
  execute_process(COMMAND ${satin_git} rev-parse --quiet --verify v${CPACK_PACKAGE_VERSION}^0
                  OUTPUT_VARIABLE satin_tag OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(satin_tag)
    set(satin_tag ^${satin_tag})
  endif()
  execute_process(COMMAND ${satin_git} rev-list --count HEAD ${satin_tag}
                  OUTPUT_VARIABLE satin_commits OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND ${satin_git} rev-parse --short=8 HEAD
                  OUTPUT_VARIABLE satin_commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(satin_commits)  # neither 0, at the tag, nor empty, without git
    string(APPEND CPACK_PACKAGE_VERSION "+git${satin_commits}.${satin_commit}")
  endif()
endif()

# Removes packages of other versions, which `apt-get install ./build/packages/*.deb` would install too.
if(CPACK_PACKAGE_DIRECTORY STREQUAL CPACK_SATIN_PACKAGES)
  file(GLOB satin_old ${CPACK_SATIN_PACKAGES}/*.deb)
  if(satin_old)
    file(REMOVE ${satin_old})
  endif()
endif()
