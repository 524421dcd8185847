# The sources of libDavitSdk; one line a subject.
set(DAVIT_SDK_SOURCES
    src/error.cpp src/names.cpp
)
