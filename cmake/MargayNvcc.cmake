# MargayNvcc.cmake - finds nvcc, wherever it is, and compiles CUDA with it.
#
# nvcc is looked for in $NVCC, $CUDA_HOME, $CUDA_PATH, PATH, the build folder's cuda/ (NVIDIA's wheels) and
# /usr/local/cuda. CMake's own CUDA language is not used: it does not know the wheels' layout. Sets MARGAY_NVCC, and
# MARGAY_CUDA_ROOT, MARGAY_CUDA_LIBS (folders for -L) where it was found.
include_guard(GLOBAL)
set(mg_wheels ${CMAKE_BINARY_DIR}/cuda)
find_program(MARGAY_NVCC nvcc
    HINTS "$ENV{NVCC}" ENV CUDA_HOME ENV CUDA_PATH
    PATHS ${mg_wheels} ${mg_wheels}/nvidia/cu13 ${CMAKE_SOURCE_DIR}/build/cuda
          ${CMAKE_SOURCE_DIR}/build/cuda/nvidia/cu13 /usr/local/cuda
    PATH_SUFFIXES bin
    DOC "NVIDIA's compiler")
if(DEFINED ENV{NVCC} AND EXISTS "$ENV{NVCC}")
    set(MARGAY_NVCC "$ENV{NVCC}" CACHE FILEPATH "NVIDIA's compiler" FORCE)
endif()
set(MARGAY_CUDA_ARCH 90 CACHE STRING "Compute capability that CUDA code is compiled for: its machine code, and its PTX")
option(MARGAY_CUDA_PTX_ONLY "Compile CUDA code to PTX alone: enough for the simulator, and quicker" OFF)

# What compiles in a build, in place of nvcc itself: it takes what the same command made before. MARGAY_NVCC_KEEPS is that
# as one program, for tests; empty without nvcc.
get_filename_component(MARGAY_NVCC_MAKES ${CMAKE_CURRENT_LIST_DIR}/../tools/nvcc.sh ABSOLUTE)
list(APPEND MARGAY_NVCC_MAKES ${CMAKE_BINARY_DIR} ${MARGAY_NVCC})
set(MARGAY_NVCC_KEEPS "")
if(MARGAY_NVCC)
    set(MARGAY_NVCC_KEEPS ${CMAKE_BINARY_DIR}/nvcc)
    string(REPLACE ";" "' '" words "${MARGAY_NVCC_MAKES}")
    file(WRITE ${MARGAY_NVCC_KEEPS} "#!/bin/sh\nexec '${words}' \"$@\"\n")
    file(CHMOD ${MARGAY_NVCC_KEEPS} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
    get_filename_component(MARGAY_CUDA_ROOT ${MARGAY_NVCC} REALPATH)
    get_filename_component(MARGAY_CUDA_ROOT ${MARGAY_CUDA_ROOT} DIRECTORY)
    get_filename_component(MARGAY_CUDA_ROOT ${MARGAY_CUDA_ROOT} DIRECTORY)
    # The wheels keep their libraries in lib/, where nvcc does not look by itself.
    set(MARGAY_CUDA_LIBS)
    foreach(dir lib64 lib targets/x86_64-linux/lib targets/sbsa-linux/lib)
        if(EXISTS ${MARGAY_CUDA_ROOT}/${dir}/libcudart_static.a)
            list(APPEND MARGAY_CUDA_LIBS ${MARGAY_CUDA_ROOT}/${dir})
        endif()
    endforeach()
endif()

# mg_cuda_objects(OUT SOURCES ... DEPENDS ... FLAGS ...): compiles each .cu with nvcc; OUT gets the object files.
# Position-independent, -lineinfo, and the first folder of an include path is the project's include/.
function(mg_cuda_objects out)
    cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;FLAGS" ${ARGN})
    set(code "compute_${MARGAY_CUDA_ARCH}")
    if(NOT MARGAY_CUDA_PTX_ONLY)
        set(code "[compute_${MARGAY_CUDA_ARCH},sm_${MARGAY_CUDA_ARCH}]")
    endif()
    set(objects)
    foreach(source ${ARG_SOURCES})
        get_filename_component(source ${source} ABSOLUTE)
        file(RELATIVE_PATH name ${CMAKE_CURRENT_SOURCE_DIR} ${source})
        set(object ${CMAKE_CURRENT_BINARY_DIR}/cuda-objects/${name}.o)
        get_filename_component(dir ${object} DIRECTORY)
        file(MAKE_DIRECTORY ${dir})
        add_custom_command(OUTPUT ${object}
            COMMAND ${MARGAY_NVCC_MAKES} -c -O3 -std=c++17 -lineinfo -Xcompiler=-fPIC,-fvisibility=hidden,-Wall
                    -gencode "arch=compute_${MARGAY_CUDA_ARCH},code=${code}" ${ARG_FLAGS}
                    -MD -MF ${object}.d -o ${object} ${source}
            DEPENDS ${source} ${ARG_DEPENDS} DEPFILE ${object}.d COMMENT "nvcc ${name}" VERBATIM)
        list(APPEND objects ${object})
    endforeach()
    set(${out} ${objects} PARENT_SCOPE)
endfunction()
