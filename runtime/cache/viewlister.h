// Reads of a view: what its parts' stores hold, through their filters. Contract: see davit::Lister.
// Source: BEHAVIOURS.md (S-8 to S-11, M-39). Tests: tst_sharedinformerfactory, tst_consistencywait.
#pragma once

#include "consistencywait.h"

namespace davit::cache {

class ViewLister final : public priv::ListerBackend
{
public:
    enum class Ownership : quint8 { Unset = 0, Shared, Owned };
    // How waitFor() waits; both may be null.
    struct Waits
    {
        std::shared_ptr<const OwnWrites> ownWrites; // of the plugin that reads
        WaitObserver observer;
    };
    // `viewKey` is in front of the names of the view's own indexes. With Ownership::Owned the parts
    // end with it.
    ViewLister(const Gvk &gvk, const QString &viewKey, std::vector<std::shared_ptr<ViewPart>> parts,
        Ownership ownership, Waits waits = {});
    ~ViewLister() override;

    Gvk gvk() const override { return m_gvk; }
    bool hasSynced() const noexcept override;
    Object find(const ObjectKey &key) const override;
    QList<Object> list(const QString *namespaceName, const LabelSelector *selector) const override;
    bool byIndex(const QString &name, const QString &value, QList<Object> *objects) const override;
    QStringList indexValues(const QString &name) const override;
    qsizetype count() const override;
    Status waitFor(const Consistency &consistency) const override;

private:
    QString storeName(const QString &name) const;

    const Gvk m_gvk;
    const QString m_viewKey;
    const std::vector<std::shared_ptr<ViewPart>> m_parts;
    const Ownership m_ownership;
    const Waits m_waits;
};

} // namespace davit::cache
