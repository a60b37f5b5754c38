# The drop-in libraries. libmargay_cuda.so holds the runtime, the driver and all below; libcudart.so.12, libcudart.so.13 and
# libcuda.so.1 are the names alone, and a process that loads several of them has one simulator.
set(script ${CMAKE_BINARY_DIR}/libmargay_cuda.map)
file(WRITE ${script} "{\nglobal:\n    mg__entry_*;\n    mg__cudart_start;\n    margay_hosted*;\n    __gmon_start__;\nlocal:\n    *;\n};\n")
add_library(mg_libcuda SHARED ${PROJECT_SOURCE_DIR}/src/cudart/entries.c ${PROJECT_SOURCE_DIR}/src/cuda/entries.c)
target_link_libraries(mg_libcuda PRIVATE mg_cuda)
target_link_options(mg_libcuda PRIVATE -Wl,--version-script=${script} -Wl,-z,nodelete)
set_target_properties(mg_libcuda PROPERTIES OUTPUT_NAME margay_cuda SUFFIX .so.0 LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib LINK_DEPENDS ${script})
install(TARGETS mg_libcuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/margay)

# mg_drop_in(TARGET LIBRARY SOURCE SYMBOLS ...): a library of names. A program's references carry the version node, if there is one.
function(mg_drop_in target library source node)
    string(REPLACE ";" ";\n    " names "${ARGN}")
    set(script ${CMAKE_BINARY_DIR}/${library}.map)
    file(WRITE ${script} "${node} {\nglobal:\n    ${names};\nlocal:\n    *;\n};\n")
    add_library(${target} SHARED ${source})
    target_link_libraries(${target} PRIVATE mg_libcuda mg_flags)
    target_link_options(${target} PRIVATE -Wl,--version-script=${script} -Wl,-z,nodelete -Wl,--no-as-needed -Wl,-soname,${library})
    string(REGEX REPLACE "^lib([A-Za-z]+).*" "\\1" name ${library})
    string(REGEX REPLACE "^lib[A-Za-z]+" "" suffix ${library})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} PREFIX lib SUFFIX ${suffix} NO_SONAME ON BUILD_WITH_INSTALL_RPATH ON
        INSTALL_RPATH "$ORIGIN" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib LINK_DEPENDS ${script})
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/margay)
endfunction()

# initfirst, because their constructor must come before that of any object that registers a fatbin.
foreach(version 12 13)
    mg_drop_in(mg_cudart_${version} libcudart.so.${version} ${PROJECT_SOURCE_DIR}/src/cudart/exports.c libcudart.so.${version} cuda* __cuda*)
    target_compile_definitions(mg_cudart_${version} PRIVATE MARGAY_CUDART=${version})
    if(NOT MARGAY_SANITIZE) # whose own runtime must come first
        target_link_options(mg_cudart_${version} PRIVATE -Wl,-z,initfirst -Wl,--no-undefined)
    endif()
endforeach()
# Python looks first for an nvJitLink that the process has already, and takes NVIDIA's if there is none: the driver brings them.
foreach(version 12 13)
    mg_drop_in(mg_nvjitlink_${version} libnvJitLink.so.${version} ${PROJECT_SOURCE_DIR}/src/cuda/nvjitlink_exports.c
               libnvJitLink.so.${version} nvJitLink* __nvJitLink*)
    target_compile_definitions(mg_nvjitlink_${version} PRIVATE MARGAY_NVJITLINK=${version})
endforeach()
# So with NVRTC, whose machine code is PTX here. It needs nothing of the simulator.
foreach(version 12 13)
    set(script ${CMAKE_BINARY_DIR}/libnvrtc.so.${version}.map)
    file(WRITE ${script} "libnvrtc.so.${version} {\nglobal:\n    nvrtc*;\nlocal:\n    *;\n};\n")
    add_library(mg_nvrtc_${version} SHARED ${PROJECT_SOURCE_DIR}/src/cuda/nvrtc.c ${PROJECT_SOURCE_DIR}/src/cuda/nvrtc_text.c
                ${PROJECT_SOURCE_DIR}/src/cuda/theirs.c ${PROJECT_SOURCE_DIR}/src/ptx/source.c)
    target_compile_definitions(mg_nvrtc_${version} PRIVATE MARGAY_NVRTC=${version})
    target_link_libraries(mg_nvrtc_${version} PRIVATE mg_flags ${CMAKE_DL_LIBS})
    target_link_options(mg_nvrtc_${version} PRIVATE -Wl,--version-script=${script} -Wl,-z,nodelete -Wl,-soname,libnvrtc.so.${version})
    set_target_properties(mg_nvrtc_${version} PROPERTIES OUTPUT_NAME nvrtc PREFIX lib SUFFIX .so.${version} NO_SONAME ON
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib LINK_DEPENDS ${script})
    install(TARGETS mg_nvrtc_${version} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/margay)
endforeach()
mg_drop_in(mg_cuda_1 libcuda.so.1 ${PROJECT_SOURCE_DIR}/src/cuda/exports.c "" cu*)
# By the name without a version, as drivers install it, Taichi, Dr.Jit and Halide open it. No link: a wheel holds none, and Python
# loads it beforehand under its own name.
mg_drop_in(mg_cuda_0 libcuda.so ${PROJECT_SOURCE_DIR}/src/cuda/exports.c "" cu*)
foreach(driver mg_cuda_0 mg_cuda_1)
    target_link_libraries(${driver} PRIVATE mg_nvjitlink_12 mg_nvjitlink_13 mg_nvrtc_12 mg_nvrtc_13)
endforeach()

# What Triton takes for the assembler, and PyCUDA for the compiler.
foreach(tool ptxas nvcc)
    configure_file(${PROJECT_SOURCE_DIR}/src/cuda/${tool}.sh ${CMAKE_BINARY_DIR}/lib/tools/${tool} COPYONLY)
    install(PROGRAMS ${PROJECT_SOURCE_DIR}/src/cuda/${tool}.sh DESTINATION ${CMAKE_INSTALL_LIBDIR}/margay/tools RENAME ${tool})
endforeach()
