# The sources of libDavitSdk; one line a subject.
set(DAVIT_SDK_SOURCES
    src/error.cpp src/names.cpp
    src/object_stub.cpp
    src/informerrequest.cpp src/informer.cpp src/lister.cpp
    src/backends.cpp
)
