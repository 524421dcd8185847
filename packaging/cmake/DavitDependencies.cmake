# Everything comes from the distribution's packages; packaging/install-dependencies lists them.
find_package(Qt6 6.4.2 REQUIRED COMPONENTS Core Network Concurrent Test)
find_package(simdjson REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(prometheus-cpp REQUIRED COMPONENTS core)
find_package(OpenSSL REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
find_path(CLI11_INCLUDE_DIR CLI/CLI.hpp REQUIRED)
if(TARGET yaml-cpp AND NOT TARGET yaml-cpp::yaml-cpp)
    add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)   # yaml-cpp before 0.8
endif()

# Qt6::Test names each program's folders in macros, for QFINDTESTDATA, which no test here uses. With them no precompiled header could
# serve two programs.
get_target_property(davit_test_definitions Qt6::Test INTERFACE_COMPILE_DEFINITIONS)
list(FILTER davit_test_definitions EXCLUDE REGEX "QT_TESTCASE_(BUILD|SOURCE)DIR")
set_property(TARGET Qt6::Test PROPERTY INTERFACE_COMPILE_DEFINITIONS "${davit_test_definitions}")
