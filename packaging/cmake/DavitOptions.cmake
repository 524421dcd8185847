# What every target of the build has in common.
option(DAVIT_BUILD_TESTS "Build the tests" ON)
option(DAVIT_WARNINGS_AS_ERRORS "Treat warnings as errors (the CI presets do)" OFF)
set(DAVIT_SANITIZE "" CACHE STRING "Sanitizers for the whole build, as for -fsanitize=: address,undefined or thread")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
include(GNUInstallDirs)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")   # as distributions build; -O3 costs build time and gains nothing measurable

# Precompiled headers of Qt and std halve the time of a clean build. Off in the presets dev and tidy, which so find missing includes.
option(DAVIT_PCH "Precompile the headers of Qt and std" ON)

find_program(DAVIT_CCACHE ccache)
if(DAVIT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # Paths count from here, so that a clone in another folder finds what this one compiled.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=true
        CCACHE_SLOPPINESS=pch_defines,time_macros ${DAVIT_CCACHE})
    if(DAVIT_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        add_compile_options(-fpch-preprocess)
    endif()
endif()

# psabi: notes of GCC that other versions of it pass some types otherwise; all of a build is made by one compiler.
add_compile_options(-Wall -Wextra -Wpedantic -Wno-psabi)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    add_compile_options(-Wno-restrict)   # GCC bug 105651: false alarms in std::string; can go with GCC 12
endif()
if(DAVIT_WARNINGS_AS_ERRORS)
    add_compile_options(-Werror)
endif()
set(DAVIT_TEST_ENVIRONMENT "")
if(DAVIT_SANITIZE)
    set(DAVIT_TEST_ENVIRONMENT
        "TSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/packaging/tsan.supp:second_deadlock_stack=1:history_size=4"
        "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1"
        "LSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/packaging/lsan.supp:print_suppressions=0"
        "UBSAN_OPTIONS=print_stacktrace=1")
    add_compile_options(-fsanitize=${DAVIT_SANITIZE} -fno-omit-frame-pointer -g1)
    add_link_options(-fsanitize=${DAVIT_SANITIZE})
    # Test programs of 60 to 130 MB each: mold links them in a quarter of the time. What users run is linked by the system's own.
    find_program(DAVIT_MOLD mold)
    if(DAVIT_MOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        add_link_options(-fuse-ld=mold)
    endif()
    if(DAVIT_SANITIZE MATCHES "undefined")
        # vptr needs RTTI of types that hidden visibility keeps apart in plugin and host.
        add_compile_options(-fno-sanitize=vptr -fno-sanitize-recover=undefined)
        add_link_options(-fno-sanitize=vptr)
    endif()
endif()

add_compile_definitions(QT_NO_KEYWORDS QT_NO_CAST_FROM_ASCII QT_NO_CAST_TO_ASCII QT_NO_FOREACH
    QT_NO_URL_CAST_FROM_STRING QT_STRICT_ITERATORS)
