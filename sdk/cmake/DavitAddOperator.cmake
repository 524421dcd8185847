# davit_add_operator(name SOURCES a.cpp b.cpp METADATA name.json [LIBRARIES …])
# A plugin name.so for Davit: hidden visibility, no GNU-unique symbols (so that it can be replaced while running), no lazy binding.
function(davit_add_operator name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "METADATA" "SOURCES;LIBRARIES")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "davit_add_operator(${name}): unknown argument ${arg_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT arg_SOURCES OR NOT arg_METADATA)
        message(FATAL_ERROR "davit_add_operator(${name}): SOURCES and METADATA are needed")
    endif()
    if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${arg_METADATA})
        message(FATAL_ERROR "davit_add_operator(${name}): ${arg_METADATA} is not in ${CMAKE_CURRENT_SOURCE_DIR}")
    endif()
    add_library(${name} MODULE ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE Davit::Sdk ${arg_LIBRARIES})
    target_compile_features(${name} PRIVATE cxx_std_20)
    target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
    target_link_options(${name} PRIVATE LINKER:-z,now)
    set_target_properties(${name} PROPERTIES PREFIX "" AUTOMOC ON
        CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/plugins
        AUTOMOC_MACRO_NAMES "Q_OBJECT;Q_GADGET;Q_NAMESPACE;Q_PLUGIN_METADATA")
    set_property(SOURCE ${arg_SOURCES} APPEND PROPERTY OBJECT_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${arg_METADATA})
endfunction()
