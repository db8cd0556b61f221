# Run by CPack on the packages that it has built, for what only packing anew can change:
# * a package with shared libraries gets scripts from it that call ldconfig, which is what the trigger is for;
# * dpkg-shlibdeps takes the librdmacm that iwarp-tools brings along, for its own librspreload, for Debian's.
function(repack package edit)
  set(tree ${CPACK_TEMPORARY_DIRECTORY}-tree)
  file(REMOVE_RECURSE ${tree})
  execute_process(COMMAND dpkg-deb --raw-extract ${package} ${tree} COMMAND_ERROR_IS_FATAL ANY)
  cmake_language(CALL ${edit} ${tree}/DEBIAN)
  execute_process(COMMAND dpkg-deb --root-owner-group -Zxz --build ${tree} ${package}
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE_RECURSE ${tree})
endfunction()

function(without_scripts control)
  file(REMOVE ${control}/postinst ${control}/postrm)
endfunction()

function(without_rdma_core control)
  file(READ ${control}/control text)
  string(REGEX REPLACE ", librdmacm1 [^,\n]*" "" text "${text}")
  file(WRITE ${control}/control "${text}")
endfunction()

foreach(package IN LISTS CPACK_PACKAGE_FILES)
  if(package MATCHES "/libiwarp[0-9]+_")
    repack(${package} without_scripts)
  elseif(package MATCHES "/iwarp-tools_")
    repack(${package} without_rdma_core)
  endif()
endforeach()
