#include "objectview.h"

#include <algorithm>

namespace davit::testing::apiserver {
namespace {

std::string dump(const Json &tree)
{
    return support::toStdString(support::dumpJson(tree));
}

Json partialObject(const Record &record)
{
    Json partial{{"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}};
    partial["metadata"] = record.tree().at("metadata");
    return partial;
}

Json listMetadata(const ListEnvelope &envelope, Form form)
{
    Json metadata{{"resourceVersion", std::to_string(envelope.version)}};
    if (!envelope.continueToken.empty())
        metadata["continue"] = envelope.continueToken;
    if (envelope.remainingItems >= 0)
        metadata["remainingItemCount"] = envelope.remainingItems;
    // The real one leaves it out of metadata lists and tables.
    if (form == Form::Full && !envelope.shardSelector.empty())
        metadata["shardInfo"] = {{"selector", envelope.shardSelector}};
    return metadata;
}

Json tableRow(const Kind &kind, const Record &record, const std::string &includeObject)
{
    Json row = Json::object();
    row["cells"] = tableCells(kind, record.tree());
    if (includeObject == "Object")
        row["object"] = Json::parse(servedText(kind, record), nullptr, false);
    else if (includeObject != "None")
        row["object"] = partialObject(record);
    return row;
}

Json table(const Kind &kind, const std::vector<RecordPtr> &records, const std::string &version,
    const std::string &includeObject, bool hasColumns)
{
    Json result{{"kind", "Table"}, {"apiVersion", "meta.k8s.io/v1"},
        {"metadata", {{"resourceVersion", version}}}};
    result["columnDefinitions"] = hasColumns ? tableColumns(kind) : Json::array();
    result["rows"] = Json::array();
    for (const RecordPtr &record : records)
        result["rows"].push_back(tableRow(kind, *record, includeObject));
    return result;
}

bool hasParameter(const std::string &mediaType, const std::string &parameter)
{
    return mediaType.find(";" + parameter) != std::string::npos;
}

std::vector<std::string> mediaTypes(const std::string &accept)
{
    std::vector<std::string> types(1);
    for (const char c : accept) {
        if (c == ',')
            types.emplace_back();
        else if (c != ' ')
            types.back() += c;
    }
    return types;
}

} // namespace

Form formOf(const ApiRequest &request)
{
    for (const std::string &type : mediaTypes(request.accept)) {
        if (type.rfind("application/json", 0) != 0)
            continue;
        const bool isMeta = hasParameter(type, "g=meta.k8s.io") && hasParameter(type, "v=v1");
        if (isMeta && hasParameter(type, "as=Table"))
            return Form::Table;
        if (isMeta && hasParameter(type, "as=PartialObjectMetadata"))
            return Form::Partial; // of the List too
        if (!hasParameter(type, "as="))
            return Form::Full;
    }
    return Form::Full;
}

bool isAcceptable(const ApiRequest &request)
{
    const std::vector<std::string> types = mediaTypes(request.accept);
    return request.accept.empty() || std::any_of(types.begin(), types.end(), [](const auto &type) {
        const std::string plain = type.substr(0, type.find(';'));
        return plain == "application/json" || plain == "application/*" || plain == "*/*";
    });
}

bool wantsAggregatedDiscovery(const ApiRequest &request)
{
    for (const std::string &type : mediaTypes(request.accept))
        if (type.rfind("application/json", 0) == 0)
            return hasParameter(type, "as=APIGroupDiscoveryList") && hasParameter(type, "v=v2;");
    return false;
}

std::string viewObject(
    const Kind &kind, const Record &record, Form form, const std::string &includeObject)
{
    switch (form) {
    case Form::Full:
        break;
    case Form::Partial:
        return dump(partialObject(record));
    case Form::Table:
        return dump(table(kind, {std::make_shared<Record>(record)}, std::to_string(record.version),
            includeObject, true));
    }
    return servedText(kind, record);
}

std::string viewList(const Kind &kind, const std::vector<RecordPtr> &records,
    const ListEnvelope &envelope, Form form, const std::string &includeObject)
{
    if (form == Form::Table) {
        Json result = table(kind, records, {}, includeObject, true);
        result["metadata"] = listMetadata(envelope, form);
        return dump(result);
    }
    std::string items;
    for (const RecordPtr &record : records) {
        if (!items.empty())
            items += ',';
        // Items of the built-in kinds come without their type, as the real server writes them.
        items += form == Form::Partial ? dump(partialObject(*record))
            : kind.isBuiltIn           ? itemText(kind, *record)
                                       : servedText(kind, *record);
    }
    const std::string metadata = dump(listMetadata(envelope, form));
    if (form == Form::Partial)
        return R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":)"
            + metadata + ",\"items\":[" + items + "]}";
    if (kind.isBuiltIn)
        return "{\"kind\":\"" + kind.listKind + "\",\"apiVersion\":\"" + kind.apiVersion()
            + "\",\"metadata\":" + metadata + ",\"items\":[" + items + "]}\n";
    return "{\"apiVersion\":\"" + kind.apiVersion() + "\",\"items\":[" + items + "],\"kind\":\""
        + kind.listKind + "\",\"metadata\":" + metadata + "}\n";
}

std::string viewEvent(const Kind &kind, const char *type, const Record &record, Form form,
    const std::string &includeObject, bool isFirst)
{
    const std::string object = form == Form::Table
        ? dump(table(kind, {std::make_shared<Record>(record)}, std::to_string(record.version),
            includeObject, isFirst))
        : viewObject(kind, record, form, includeObject);
    return "{\"type\":\"" + std::string(type) + "\",\"object\":" + object + "}\n";
}

std::string viewBookmark(const Kind &kind, Version version, Form form, bool endsInitialEvents)
{
    Json object = Json::object();
    object["kind"] = form == Form::Full ? kind.kind
        : form == Form::Partial         ? std::string("PartialObjectMetadata")
                                        : std::string("Table");
    object["apiVersion"] = form == Form::Full ? kind.apiVersion() : std::string("meta.k8s.io/v1");
    object["metadata"] = {{"resourceVersion", std::to_string(version)}};
    if (endsInitialEvents)
        object["metadata"]["annotations"] = {{"k8s.io/initial-events-end", "true"}};
    if (form == Form::Full && kind.isBuiltIn && (kind.hasStatus || kind.hasGeneration)) {
        object["spec"] = Json::object(); // a typed bookmark is an empty object of its kind (B17)
        object["status"] = Json::object();
    }
    if (form == Form::Table)
        object["rows"] = Json::array();
    return "{\"type\":\"BOOKMARK\",\"object\":" + dump(object) + "}\n";
}

} // namespace davit::testing::apiserver
