// What the parts of the embedded API server hand to each other. Private to sdk/testing.
#pragma once

#include <support/json.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace davit::testing::apiserver {

using support::Json;

// One HTTP request, decoded.
struct ApiRequest
{
    std::string method; // "GET"
    std::string path; // decoded, without query: "/api/v1/pods"
    std::multimap<std::string, std::string> query; // decoded
    std::string contentType; // without parameters
    std::string accept;
    std::string userAgent;
    std::string body;

    bool has(const std::string &name) const { return query.count(name) != 0; }
    std::string param(const std::string &name) const
    {
        const auto found = query.find(name);
        return found != query.end() ? found->second : std::string();
    }
    // As the real server reads it: everything but "0" and "false" is a yes, nothing as well.
    bool isTrue(const std::string &name) const;
    // 0 for what is none, or not there.
    long long number(const std::string &name) const;
    // What Go says of a parameter that is there and is no number; empty when all is well.
    std::string numberFault(const std::string &name) const;
    bool isDryRun() const { return param("dryRun") == "All"; }
};

// A refusal: becomes a Status object. Code 0 means that all is well.
struct ApiFault
{
    int code = 0;
    std::string reason;
    std::string message;
    Json details = Json::object();
    std::string continueToken; // of an expired list

    bool isSet() const { return code != 0; }
};

// One answer: a whole body, or a stream.
struct ApiReply
{
    int code = 200;
    std::string contentType = "application/json";
    std::string body;
    int retryAfterSeconds = 0; // 0: no header
    std::vector<std::string> warnings; // a Warning header each
    // For a stream: waits a moment, appends what there is to the text (nothing is fine), and
    // answers false once the stream is over. Called by one thread until then.
    std::function<bool(std::string *text)> nextChunk;
};

} // namespace davit::testing::apiserver
