# The sources of libDavitSdk; one line a subject.
set(DAVIT_POOL_SOURCES
    src/pool/arena.cpp src/pool/shard.cpp src/pool/pool.cpp src/pool/encoding.cpp src/pool/packedstring.cpp src/pool/place.cpp
    src/pool/treebuilder.cpp src/pool/jsonmatcher.cpp src/pool/lastdocument.cpp src/pool/lastmessage.cpp
    src/pool/documentreader.cpp src/pool/documenttext.cpp src/pool/protobufreader.cpp src/pool/objectdecoder.cpp
)
set(DAVIT_SDK_SOURCES
    src/error.cpp src/names.cpp
    src/object.cpp src/value.cpp src/objectbuilder.cpp
    src/conditions.cpp src/ownership.cpp src/finalizers.cpp src/writes.cpp src/quantity.cpp
    ${DAVIT_POOL_SOURCES}
    src/informerrequest.cpp src/consistency.cpp src/informer.cpp src/lister.cpp
    src/clock.cpp src/logging.cpp src/metrics.cpp src/selector.cpp src/labelparser.cpp src/fieldselector.cpp src/shardselector.cpp
    src/clienttypes.cpp src/requestoptions.cpp src/client.cpp src/eventrecorder.cpp
    src/predicate.cpp src/reconciler.cpp src/controllerbuilder.cpp
    src/cluster.cpp src/hostcontext.cpp src/controllerplugin.cpp
    src/backends.cpp src/metatypes.cpp
)
