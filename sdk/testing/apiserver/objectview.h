// The forms in which objects leave the server: whole, metadata only, or as a table for kubectl.
#pragma once

#include "apistore.h"

namespace davit::testing::apiserver {

enum class Form : unsigned char { Full, Partial, Table };

// What the Accept header asks for first among the forms that the server has.
Form formOf(const ApiRequest &request);
// False when it names nothing but types that the server cannot write.
bool isAcceptable(const ApiRequest &request);
// True when it asks for aggregated discovery.
bool wantsAggregatedDiscovery(const ApiRequest &request);

struct ListEnvelope
{
    Version version = 0;
    std::string continueToken; // empty: the last page
    long long remainingItems = -1; // negative: not said
    std::string shardSelector = {}; // empty: the list is of all
};

// One object. `includeObject` is kubectl's query parameter: what a table row carries.
std::string viewObject(
    const Kind &kind, const Record &record, Form form, const std::string &includeObject);
std::string viewList(const Kind &kind, const std::vector<RecordPtr> &records,
    const ListEnvelope &envelope, Form form, const std::string &includeObject);
// One line of a watch: {"type":…,"object":…} and a newline. Tables name their columns in the first
// event of a stream only.
std::string viewEvent(const Kind &kind, const char *type, const Record &record, Form form,
    const std::string &includeObject, bool isFirst);
std::string viewBookmark(const Kind &kind, Version version, Form form, bool endsInitialEvents);

// The cells of a row and the names of its columns, for the table form. `object` as it is stored.
Json tableColumns(const Kind &kind);
Json tableCells(const Kind &kind, const Json &object);

} // namespace davit::testing::apiserver
