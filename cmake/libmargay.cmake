# libmargay.so: the simulator and the limits of devices for C programs, as include/margay/margay.h and arch.h declare them.
# The rooms that hold those functions give their objects; what these need comes from the other rooms' archives. Only mg_* and
# ptx_run leave the library: mg__* is between rooms.
set_target_properties(mg_embed mg_arch PROPERTIES C_VISIBILITY_PRESET default)
set(script ${CMAKE_BINARY_DIR}/libmargay.map)
file(WRITE ${script} "LIBMARGAY_0 {\nglobal:\n    mg_[!_]*;\n    ptx_run;\nlocal:\n    *;\n};\n")
add_library(libmargay SHARED $<TARGET_OBJECTS:mg_embed> $<TARGET_OBJECTS:mg_arch>)
target_link_libraries(libmargay PRIVATE mg_embed)
target_link_options(libmargay PRIVATE -Wl,--version-script=${script})
set_target_properties(libmargay PROPERTIES OUTPUT_NAME margay VERSION ${PROJECT_VERSION} SOVERSION 0 LINKER_LANGUAGE C
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR} LINK_DEPENDS ${script})

file(RELATIVE_PATH MG_PC_PREFIX /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(${PROJECT_SOURCE_DIR}/cmake/margay.pc.in ${CMAKE_BINARY_DIR}/margay.pc @ONLY)
install(TARGETS libmargay LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/margay/margay.h include/margay/arch.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/margay)
install(FILES ${CMAKE_BINARY_DIR}/margay.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
