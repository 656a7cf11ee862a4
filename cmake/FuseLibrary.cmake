# fuse_library(NAME sources... [LINK libs...]): one layer of docs/Layout.md.
#
# A layer links only the layers that its row in docs/Layout.md names, and MLIR's shared library. All layers share one
# precompiled header, since MLIR's headers dominate the compile time.

set(FUSE_CXX_OPTIONS -Wall -Wextra -Wno-unused-parameter -Werror=return-type -fno-exceptions)

function(fuse_target_options target)
  target_compile_options(${target} PRIVATE ${FUSE_CXX_OPTIONS})
  # Without the time of the headers in it the precompiled header hits in ccache.
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(${target} PRIVATE -Xclang -fno-pch-timestamp)
  endif()
  get_target_property(type ${target} TYPE)
  if(TARGET FusePch AND NOT target STREQUAL FusePch AND type STREQUAL STATIC_LIBRARY)
    target_precompile_headers(${target} REUSE_FROM FusePch)
  endif()
endfunction()

function(fuse_library name)
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  fuse_target_options(${name})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR)
  add_dependencies(${name} FuseHeadersGen ${ARG_DEPENDS})
endfunction()
