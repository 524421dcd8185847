# davit_add_operator(name SOURCES a.cpp b.cpp METADATA name.json [LIBRARIES …])
# A plugin name.so for Davit: no GNU-unique symbols (each copy has statics of its own), no lazy binding, and nothing
# exported but Qt's two entries (davit-plugin.map), so that no symbol of it meets one of the host or of another plugin.
# It is built into <build>/plugins.
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
    # moc only warns of metadata that is no JSON, and builds a plugin without any.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${arg_METADATA})
    file(READ ${CMAKE_CURRENT_SOURCE_DIR}/${arg_METADATA} metadata)
    string(JSON type ERROR_VARIABLE fault TYPE "{\"metadata\":${metadata}\n}" metadata)
    # CMake's parser lets comments and a comma at the end pass, Qt's does not.
    string(REGEX REPLACE "\"([^\"\\]|\\\\.)*\"" "0" punctuation "${metadata}")
    if(NOT fault AND punctuation MATCHES "/|,[ \t\r\n]*[]}]")
        set(fault "it holds a comment, or a comma before a closing bracket")
    elseif(NOT fault AND NOT type STREQUAL "OBJECT")
        set(fault "it is of type ${type}")
    endif()
    if(fault)
        message(FATAL_ERROR "davit_add_operator(${name}): ${CMAKE_CURRENT_SOURCE_DIR}/${arg_METADATA} is no JSON object: ${fault}")
    endif()
    add_library(${name} MODULE ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE Davit::Sdk ${arg_LIBRARIES})
    target_compile_features(${name} PRIVATE cxx_std_20)
    target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
    set(map ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/davit-plugin.map)
    target_link_options(${name} PRIVATE LINKER:-z,now LINKER:--version-script=${map})
    set_target_properties(${name} PROPERTIES PREFIX "" AUTOMOC ON
        CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON LINK_DEPENDS ${map}
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/plugins
        AUTOMOC_MACRO_NAMES "Q_OBJECT;Q_GADGET;Q_NAMESPACE;Q_PLUGIN_METADATA")
    set_property(SOURCE ${arg_SOURCES} APPEND PROPERTY OBJECT_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${arg_METADATA})
endfunction()
