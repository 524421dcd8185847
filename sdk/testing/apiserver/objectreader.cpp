#include "objectreader.h"

#include <charconv>

namespace davit::testing::apiserver {
namespace {

constexpr const char *kMatch = "resourceVersionMatch";

Cause forbidden(const char *field, const std::string &why)
{
    return {"FieldValueForbidden", "Forbidden: " + why, field};
}

std::string continueToken(Version version, const std::string &lastKey)
{
    const Json token{
        {"v", "meta.k8s.io/v1"}, {"rv", version}, {"start", lastKey + std::string(1, '\0')}};
    return support::toStdString(support::dumpJson(token).toBase64(
        QByteArray::Base64UrlEncoding | QByteArray::OmitTrailingEquals));
}

} // namespace

ApiFault checkNumbers(const ApiRequest &request)
{
    for (const char *name : {"limit", "timeoutSeconds", "gracePeriodSeconds"})
        if (const std::string fault = request.numberFault(name); !fault.empty())
            return badRequest(fault);
    return {};
}

ApiFault checkListOptions(const ApiRequest &request, bool isWatch)
{
    const std::string match = request.param(kMatch);
    const std::string version = request.param("resourceVersion");
    std::vector<Cause> causes;
    const bool hasInitialEvents = request.has("sendInitialEvents");
    const bool isKnown = match.empty() || match == "Exact" || match == "NotOlderThan";
    const auto unsupported = [&](const char *values) {
        causes.push_back({"FieldValueNotSupported",
            "Unsupported value: \"" + match + "\": supported values: " + values, kMatch});
    };
    if (isWatch) {
        if (hasInitialEvents && match != "NotOlderThan")
            causes.push_back(forbidden(
                kMatch, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
        if (hasInitialEvents && !match.empty() && match != "NotOlderThan")
            unsupported("\"NotOlderThan\"");
        if (!hasInitialEvents && !match.empty())
            causes.push_back(forbidden(kMatch,
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is "
                "provided"));
    } else {
        if (!match.empty() && version.empty())
            causes.push_back(forbidden(
                kMatch, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
        if (!match.empty() && request.has("continue") && !request.param("continue").empty())
            causes.push_back(
                forbidden(kMatch, "resourceVersionMatch is forbidden when continue is provided"));
        if (!isKnown)
            unsupported("\"Exact\", \"NotOlderThan\", \"\"");
        if (match == "Exact" && version == "0")
            causes.push_back(forbidden(
                kMatch, "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""));
        if (hasInitialEvents)
            causes.push_back(
                forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
    }
    return causes.empty() ? ApiFault() : invalidListOptions(causes);
}

ApiFault parseVersion(const std::string &text, Version *version)
{
    *version = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *version);
    if (text.empty() || (error == std::errc() && end == text.data() + text.size()))
        return {};
    return badRequest("invalid resource version: resourceVersion: Invalid value: \"" + text
        + "\": strconv.ParseUint: parsing \"" + text + "\": invalid syntax");
}

ApiFault tooOld(Version wanted, Version oldest)
{
    return expired("too old resource version: " + std::to_string(wanted) + " ("
        + std::to_string(oldest) + ")");
}

ApiReply ObjectReader::get(const Target &target, const ApiRequest &request) const
{
    Version wanted = 0;
    if (const ApiFault fault = parseVersion(request.param("resourceVersion"), &wanted);
        fault.isSet())
        return replyOf(fault);
    if (wanted > m_store.lastVersion())
        return replyOf(tooLargeVersion(wanted, m_store.lastVersion()));
    const RecordPtr record = m_store.find(target.kind->storageId, target.ref().key);
    if (!record)
        return replyOf(notFound(*target.kind, target.name));
    ApiReply reply;
    reply.body = viewObject(*target.kind, *record, formOf(request), request.param("includeObject"));
    return reply;
}

ApiFault ObjectReader::continuedPage(const std::string &token, Page *page) const
{
    const auto decoded = QByteArray::fromBase64Encoding(QByteArray::fromStdString(token),
        QByteArray::Base64UrlEncoding | QByteArray::AbortOnBase64DecodingErrors);
    const Json tree = Json::parse(decoded ? support::toStdString(*decoded) : "", nullptr, false);
    const auto version = tree.is_object() ? tree.find("rv") : tree.end();
    const std::string start = support::stringMember(tree, "start");
    if (!tree.is_object() || version == tree.end() || !version->is_number_integer()
        || start.empty())
        return badRequest("invalid continue token: continue key is not valid: " + token);
    page->isContinued = true;
    page->start = start.substr(0, start.find('\0'));
    if (version->get<long long>() < 0) {
        page->version = m_store.lastVersion(); // goes on in the present, by the client's choice
        return {};
    }
    page->version = version->get<Version>();
    page->isSnapshot = page->version != m_store.lastVersion();
    if (page->version >= m_store.forgottenVersion())
        return {};
    ApiFault fault = expired(
        "The provided continue parameter is too old to display a consistent list result. You can "
        "start a new list without the continue parameter, or use the continue token in this "
        "response to retrieve the remainder of the results. Continuing with the provided token "
        "results in an inconsistent list - objects that were created, modified, or deleted between "
        "the time the first chunk was returned and now may show up in the list.");
    const Json again{{"v", "meta.k8s.io/v1"}, {"rv", -1}, {"start", start}};
    fault.continueToken = support::toStdString(support::dumpJson(again).toBase64(
        QByteArray::Base64UrlEncoding | QByteArray::OmitTrailingEquals));
    return fault;
}

// Which state of the collection the request gets.
ApiFault ObjectReader::choosePage(const ApiRequest &request, long long limit, Page *page) const
{
    const std::string text = request.param("resourceVersion");
    const std::string token = request.param("continue");
    if (!token.empty()) {
        if (!text.empty() && text != "0")
            return badRequest("specifying resource version is not allowed when using continue");
        return continuedPage(token, page);
    }
    Version wanted = 0;
    if (const ApiFault fault = parseVersion(text, &wanted); fault.isSet())
        return fault;
    page->version = m_store.lastVersion();
    if (wanted > page->version)
        return tooLargeVersion(wanted, page->version);
    const std::string match = request.param(kMatch);
    const bool isExact = wanted > 0 && (match == "Exact" || (match.empty() && limit > 0));
    if (!isExact || wanted == page->version)
        return {};
    if (wanted < m_store.forgottenVersion())
        return expired("The resourceVersion for the provided list is too old.");
    page->version = wanted;
    page->isSnapshot = true;
    return {};
}

ApiReply ObjectReader::list(
    const Target &target, const ApiRequest &request, const Selectors &selectors) const
{
    if (const ApiFault fault = checkListOptions(request, false); fault.isSet())
        return replyOf(fault);
    long long limit = std::max(0LL, request.number("limit"));
    if (request.param("resourceVersion") == "0")
        limit = 0; // answered from the watch cache, which does not page
    Page page;
    if (const ApiFault fault = choosePage(request, limit, &page); fault.isSet())
        return replyOf(fault);
    ObjectMap past;
    if (page.isSnapshot)
        m_store.snapshot(target.kind->storageId, page.version, &past);
    const ObjectMap &objects = page.isSnapshot ? past : m_store.objects(target.kind->storageId);
    const std::string prefix
        = target.namespaceName.empty() ? std::string() : target.namespaceName + "/";
    std::vector<RecordPtr> items;
    long long remaining = 0;
    auto at = page.isContinued ? objects.upper_bound(page.start) : objects.lower_bound(prefix);
    for (; at != objects.end() && at->first.compare(0, prefix.size(), prefix) == 0; ++at) {
        if (!selectors.matches(*at->second))
            continue;
        if (limit > 0 && (long long)(items.size()) == limit)
            ++remaining;
        else
            items.push_back(at->second);
    }
    ListEnvelope envelope{page.version, {}, -1, selectors.shards().text()};
    if (remaining > 0) {
        envelope.continueToken = continueToken(page.version, items.back()->key());
        if (selectors.isEmpty())
            envelope.remainingItems = remaining;
    }
    ApiReply reply;
    reply.body
        = viewList(*target.kind, items, envelope, formOf(request), request.param("includeObject"));
    return reply;
}

} // namespace davit::testing::apiserver
