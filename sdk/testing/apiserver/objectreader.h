// get and list. All members need the store's lock.
// Source: Kubernetes API concepts, "Resource versions", "Retrieving large results sets in chunks";
// BEHAVIOURS.md.
#pragma once

#include "objectview.h"
#include "objectwriter.h"

namespace davit::testing::apiserver {

class ObjectReader
{
public:
    explicit ObjectReader(ApiStore &store) : m_store(store) { }

    ApiReply get(const Target &target, const ApiRequest &request) const;
    ApiReply list(
        const Target &target, const ApiRequest &request, const Selectors &selectors) const;

private:
    struct Page
    {
        Version version = 0; // the state that is listed
        bool isSnapshot = false; // not simply the present
        std::string start; // the first key, for later pages
        bool isContinued = false;
    };
    ApiFault choosePage(const ApiRequest &request, long long limit, Page *page) const;
    ApiFault continuedPage(const std::string &token, Page *page) const;

    ApiStore &m_store;
};

// The options of a list, a watch or a delete that are numbers.
ApiFault checkNumbers(const ApiRequest &request);
// The rules of 1.9 for one verb.
ApiFault checkListOptions(const ApiRequest &request, bool isWatch);
// "" and "0" are 0.
ApiFault parseVersion(const std::string &text, Version *version);
ApiFault tooOld(Version wanted, Version oldest);

} // namespace davit::testing::apiserver
