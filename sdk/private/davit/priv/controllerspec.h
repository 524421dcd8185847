// What a ControllerBuilder gathers and the controller layer runs. Private.
#pragma once

#include <davit/controllerbuilder.h>
#include <memory>
#include <vector>

namespace davit::priv {

struct SourceSpec
{
    enum class Kind : quint8 { Self, Owner, Mapped };
    Kind kind;
    InformerRequest request;
    Predicate predicate; // all where() of this source, ANDed
    std::shared_ptr<KeyMapper> mapper; // Mapped only
};

struct ControllerSpec
{
    HostContext *host = nullptr; // borrowed
    QString name;
    std::vector<SourceSpec> sources;
    int workers = 1;
    std::chrono::milliseconds retryBase{5};
    std::chrono::milliseconds retryMax{1'000'000};
    std::chrono::milliseconds reconcileTimeout{0}; // 0: none
    std::shared_ptr<Reconciler> reconciler;
    Status firstError; // of the builder's steps
};

} // namespace davit::priv
