// What a ControllerBuilder gathers and the controller layer runs. Private.
#pragma once

#include <davit/controllerbuilder.h>
#include <memory>
#include <vector>

namespace davit::priv {

// Latest for the sources of controllers: an object that came and went before it was seen is told as
// deleted. The reconciler may be who made it, and waits to hear that it is gone.
inline constexpr Delivery kLatestOfController{3};
constexpr bool isLatest(Delivery delivery)
{
    return delivery == Delivery::Latest || delivery == kLatestOfController;
}

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
