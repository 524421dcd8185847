#include "fieldvalidation.h"

#include "faults.h"
#include "objectshape.h"

namespace davit::testing::apiserver {

ApiFault validateFields(
    const Kind &kind, const ApiRequest &request, Json &object, std::vector<std::string> *warnings)
{
    const std::string validation = request.param("fieldValidation");
    std::string list;
    for (const std::string &name : dropUnknownFields(kind, object)) {
        const std::string told = "unknown field \"" + name + "\"";
        list += (list.empty() ? "" : ", ") + told;
        if (validation != "Ignore")
            warnings->push_back(told);
    }
    if (validation != "Strict" || list.empty())
        return {};
    return badRequest(kind.kind + " in version \"" + kind.version + "\" cannot be handled as a "
        + kind.kind + ": strict decoding error: " + list);
}

} // namespace davit::testing::apiserver
