// What the embedded API server and a real one must both do, row for row. "embedded" always runs;
// "real" when DAVIT_REAL_KUBECONFIG names the kubeconfig of a kube-apiserver (with controller
// manager) that may be written to. The rows are in tst_contract.cpp and tst_contract_*.cpp.
#pragma once

#include "contractcase.h"

#include <QJsonArray>
#include <QTest>

class tst_Contract : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase_data();
    void init();
    void cleanupTestCase();

    void createReadUpdateDelete();
    void refusals_data();
    void refusals();
    void shapes_data();
    void shapes();
    void optimisticLock();
    void deletePreconditions();
    void withoutVersion();
    void noOpWrites();
    void generatedNames();
    void listForm();
    void listVersions();
    void pages();
    void expiredContinue();
    void selectors_data();
    void selectors();
    void watchFromVersion();
    void watchThroughSelector();
    void watchOneNamespace();
    void syntheticAdded();
    void streamingList();
    void bookmarkBeforeTheEnd();
    void watchTooOld();
    void mergePatch();
    void jsonPatch();
    void strategicPatch();
    void strategicShapes_data();
    void strategicShapes();
    void applyPatch();
    void applyConflict();
    void statusSubresource();
    void scaleSubresource();
    void generations();
    void finalizers();
    void backgroundDeletion();
    void foregroundDeletion();
    void orphans();
    void danglingOwner();
    void namespaceDeletion();
    void terminatingNamespace();
    void dryRun();
    void secrets();
    void immutableConfigMap();
    void deleteCollection();
    void mediaTypes_data();
    void mediaTypes();
    void unknownFields_data();
    void unknownFields();
    void evictions();
    void tokens();
    void metadataOnly();
    void tables();
    void discovery();
    void leasesAndEvents();
    void leaseTimes_data();
    void leaseTimes();
    void eventForms_data();
    void eventForms();
    void eventFaults_data();
    void eventFaults();
    void eventOfAnotherNamespace();
    void eventSelectors_data();
    void eventSelectors();
    void eventIsOne();

private:
    ContractServer &server();
    static QString currentRow();
    ApiAnswer makeConfigMap(const QByteArray &space, const QByteArray &name,
        const QByteArray &rest = R"("data":{"k":"1"})");

    std::map<QString, std::unique_ptr<ContractServer>> m_servers;
    std::map<QString, QStringList> m_ran; // rows by server
    QStringList m_skipped; // rows that one of the servers cannot run; must stay empty
};

// A row that a server cannot run is told of by name, and counts as a failure of the suite.
#undef QSKIP
#define QSKIP(why)                                                                                 \
    do {                                                                                           \
        m_skipped += currentRow() + QStringLiteral(" (" why ")");                                  \
        return;                                                                                    \
    } while (false)
