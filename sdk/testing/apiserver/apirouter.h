// From a path and a verb to the part of the server that answers.
#pragma once

#include "discovery.h"
#include "objectreader.h"
#include "watchstream.h"

namespace davit::testing::apiserver {

class ApiRouter
{
public:
    ApiRouter(const HistoryLimits &history, bool collectsGarbage);

    // Takes the store's lock; a watch's stream takes it again for each chunk. [thread-safe]
    ApiReply handle(const ApiRequest &request);

    ApiStore &store() { return m_store; }
    WatchControl &watchControl() { return m_watchControl; }
    // Forgets every object and CRD, ends the watches, and makes the namespaces of a new cluster.
    void addDefaultNamespaces();
    // The path of an object by its apiVersion, kind and names; empty when the kind is not served.
    // `isItem` false: the collection, to create in.
    std::string pathOf(const Json &object, bool isItem);
    void setAddress(const std::string &address) { m_address = address; }

private:
    ApiReply handleLocked(const ApiRequest &request);
    bool answerDocument(
        const ApiRequest &request, const std::vector<std::string> &parts, ApiReply *reply) const;
    bool answerOpenApi(const std::vector<std::string> &parts, ApiReply *reply) const;
    ApiFault resolve(const std::vector<std::string> &parts, Target *target) const;
    ApiReply answerCollection(const Target &target, const ApiRequest &request);
    ApiReply answerItem(const Target &target, const ApiRequest &request);
    ApiReply watch(const Target &target, const ApiRequest &request, const Selectors &selectors);

    ApiStore m_store;
    KindRegistry m_kinds; // under the store's lock
    Remover m_remover;
    ObjectWriter m_writer;
    ObjectReader m_reader;
    WatchControl m_watchControl{m_kinds};
    std::string m_address;
};

// "/apis/apps/v1" as {"apis", "apps", "v1"}.
std::vector<std::string> pathParts(const std::string &path);

} // namespace davit::testing::apiserver
