set(DAVIT_PCH_HEADERS <QtCore/qbytearray.h> <QtCore/qcoreapplication.h> <QtCore/qfuture.h> <QtCore/qhash.h> <QtCore/qjsonobject.h>
    <QtCore/qlist.h> <QtCore/qmap.h> <QtCore/qobject.h> <QtCore/qstring.h> <QtCore/qstringlist.h> <QtCore/qthread.h> <QtCore/qvariant.h>
    <algorithm> <atomic> <chrono> <functional> <map> <memory> <mutex> <optional> <string> <unordered_map> <utility> <variant> <vector>)

# davit_precompile(target): the target's own precompiled header. Same headers everywhere, so that nothing depends on which.
function(davit_precompile target)
    if(DAVIT_PCH)
        target_precompile_headers(${target} PRIVATE ${DAVIT_PCH_HEADERS})
    endif()
endfunction()

# davit_add_layer(name SOURCES a b USES sdk support transport LIBRARIES Qt6::Network)
# One static library davit_<name> from a.cpp, a.h, b.cpp, b.h of this folder. USES names layers; layers.txt is checked by a test.
function(davit_add_layer name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;USES;LIBRARIES;PRIVATE_LIBRARIES")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "davit_add_layer(${name}): unknown argument ${arg_UNPARSED_ARGUMENTS}")
    endif()
    add_library(davit_${name} STATIC)
    foreach(stem IN LISTS arg_SOURCES)
        foreach(suffix cpp h)
            if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${stem}.${suffix})
                target_sources(davit_${name} PRIVATE ${stem}.${suffix})
            endif()
        endforeach()
    endforeach()
    set_target_properties(davit_${name} PROPERTIES AUTOMOC ON)
    target_include_directories(davit_${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/..)
    list(TRANSFORM arg_USES PREPEND davit_)
    target_link_libraries(davit_${name} PUBLIC ${arg_USES} ${arg_LIBRARIES} PRIVATE ${arg_PRIVATE_LIBRARIES})
    davit_precompile(davit_${name})
endfunction()

# davit_add_test(tst_name USES cache testing [SOURCES more.cpp] [LABELS unit tsan] [TIMEOUT s] [LIBRARIES …])
# One QtTest program from tst_name.cpp. It writes JUnit to <build>/junit/tst_name.xml, which packaging/count-tests adds up.
# Labels: one of unit, integration, conformance, long; tsan where the program must be clean under ThreadSanitizer.
function(davit_add_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;USES;LABELS;LIBRARIES")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "davit_add_test(${name}): unknown argument ${arg_UNPARSED_ARGUMENTS}")
    endif()
    add_executable(${name} ${name}.cpp ${arg_SOURCES})
    set_target_properties(${name} PROPERTIES AUTOMOC ON RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    list(TRANSFORM arg_USES PREPEND davit_)
    target_link_libraries(${name} PRIVATE ${arg_USES} ${arg_LIBRARIES} Qt6::Concurrent Qt6::Network Qt6::Test)
    if(DAVIT_PCH)
        target_precompile_headers(${name} REUSE_FROM davit_test_pch)
    endif()
    target_compile_definitions(${name} PRIVATE
        DAVIT_TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data" DAVIT_BUILD_DIR="${CMAKE_BINARY_DIR}" DAVIT_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    if(NOT arg_LABELS)
        set(arg_LABELS unit)
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 120)
    endif()
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/junit)
    add_test(NAME ${name} COMMAND ${name} -o ${CMAKE_BINARY_DIR}/junit/${name}.xml,junitxml -o -,txt)
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "${DAVIT_TEST_ENVIRONMENT}")
    if("tsan" IN_LIST arg_LABELS)
        add_dependencies(davit_tsan_tests ${name})
    endif()
endfunction()

# The precompiled header that all test programs share: they are compiled with the same flags and modules.
if(DAVIT_PCH AND DAVIT_BUILD_TESTS)
    file(WRITE ${CMAKE_BINARY_DIR}/davit_test_pch.cpp "int main() { return 0; }\n")
    add_executable(davit_test_pch EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/davit_test_pch.cpp)
    set_target_properties(davit_test_pch PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/CMakeFiles)
    target_link_libraries(davit_test_pch PRIVATE Qt6::Concurrent Qt6::Network Qt6::Test)
    target_precompile_headers(davit_test_pch PRIVATE ${DAVIT_PCH_HEADERS} <QtTest/qtest.h> <QtTest/qsignalspy.h>)
endif()

# davit_add_real_test(tst_name [TIMEOUT s]): runs a program of davit_add_test once more, with DAVIT_REAL_KUBECONFIG naming a real
# control plane of its own (tests/controlplane/with). Its rows are those of "real_tst_name", label conformance.
function(davit_add_real_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "")
    add_test(NAME real_${name} COMMAND ${CMAKE_SOURCE_DIR}/tests/controlplane/with $<TARGET_FILE:${name}>
        -o ${CMAKE_BINARY_DIR}/junit/real_${name}.xml,junitxml -o -,txt)
    set_tests_properties(real_${name} PROPERTIES LABELS conformance TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "${DAVIT_TEST_ENVIRONMENT}")
endfunction()

# What the tsan preset builds: the programs labelled tsan and what they load.
add_custom_target(davit_tsan_tests)
