# What a plugin author gets: library, public headers, CMake package, metadata schema.
include(CMakePackageConfigHelpers)
set(DAVIT_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Davit)

set_target_properties(davit_sdk PROPERTIES EXPORT_NAME Sdk INSTALL_RPATH "")
install(TARGETS davit_sdk EXPORT DavitTargets COMPONENT sdk
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT sdk
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT sdk)
install(EXPORT DavitTargets NAMESPACE Davit:: DESTINATION ${DAVIT_CMAKE_DIR} COMPONENT sdk)

configure_package_config_file(cmake/DavitConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/DavitConfig.cmake
    INSTALL_DESTINATION ${DAVIT_CMAKE_DIR})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/DavitConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/DavitConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/DavitConfigVersion.cmake
    cmake/DavitAddOperator.cmake cmake/davit-plugin.map DESTINATION ${DAVIT_CMAKE_DIR} COMPONENT sdk)
install(FILES metadata.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/davit COMPONENT sdk)
