// What a plugin's client and event recorder do against a server: the same rows for any server that
// a kubeconfig names.
#pragma once

#include <davit/client.h>
#include <davit/eventrecorder.h>

#include <QtCore/qobject.h>
#include <QtCore/qthreadpool.h>
#include <memory>

struct ClientFixture;

class ClientContract : public QObject
{
    Q_OBJECT
public:
    ClientContract();
    ~ClientContract() override;

protected:
    // Where the server is; empty when it did not start.
    virtual QString startServer() = 0;
    // Whether Pods have no grace period, and owners are orphaned by the time of the answer.
    virtual bool endsAtOnce() const { return false; }

private Q_SLOTS:
    void initTestCase();
    void cleanupTestCase();
    void lifeOfAnObject();
    void generatedName();
    void staleUpdate();
    void patches_data();
    void patches();
    void statusIsApart();
    void applyConflicts();
    void finalizersKeep();
    void preconditions();
    void pages();
    void dryRun();
    void refusals_data();
    void refusals();
    void rightsAreChecked();
    void eventsAreCounted();
    void eventsAreASeries();
    void sideBySide();
    // clientwrites.cpp
    void removeCollection();
    void fieldValidation_data();
    void fieldValidation();
    void warnsOnce();
    void deleteOptions_data();
    void deleteOptions();
    void scale();
    void eviction();
    void token();
    void metadataOnly();
    void tables();
    void rawPaths();
    void names_data();
    void names();
    void laterKind();
    void writeHelpers();
    void finalizersBesideOthers();
    void ownersAndConditions();
    // clientreads.cpp
    void ownWrites_data();
    void ownWrites();
    void notOlderThan();
    void writesBeyondTheView();
    void versionMatch();

private:
    davit::Client::Blocking client() const;

    std::unique_ptr<ClientFixture> m_fixture;
};
