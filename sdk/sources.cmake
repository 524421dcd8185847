# The sources of libDavitSdk; one line a subject.
set(DAVIT_SDK_SOURCES
    src/error.cpp src/names.cpp
    src/object_stub.cpp
    src/informerrequest.cpp src/informer.cpp src/lister.cpp
    src/clock.cpp src/logging.cpp src/metrics.cpp src/selector.cpp src/labelparser.cpp src/fieldselector.cpp
    src/clienttypes.cpp src/requestoptions.cpp src/client.cpp src/eventrecorder.cpp
    src/predicate.cpp src/reconciler.cpp src/controllerbuilder.cpp
    src/cluster.cpp src/hostcontext.cpp src/controllerplugin.cpp
    src/backends.cpp src/metatypes.cpp
)
