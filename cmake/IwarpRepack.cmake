# Run by CPack on the packages that it has built. It gives a package with shared libraries scripts that call
# ldconfig, which is what the trigger is for; nothing but packing anew takes them out.
foreach(package IN LISTS CPACK_PACKAGE_FILES)
  if(package MATCHES "/libiwarp[0-9]+_")
    set(tree ${CPACK_TEMPORARY_DIRECTORY}-tree)
    file(REMOVE_RECURSE ${tree})
    execute_process(COMMAND dpkg-deb --raw-extract ${package} ${tree} COMMAND_ERROR_IS_FATAL ANY)
    file(REMOVE ${tree}/DEBIAN/postinst ${tree}/DEBIAN/postrm)
    execute_process(COMMAND dpkg-deb --root-owner-group -Zxz --build ${tree} ${package}
      OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
    file(REMOVE_RECURSE ${tree})
  endif()
endforeach()
