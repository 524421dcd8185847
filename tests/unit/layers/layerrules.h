// Which layer may include which, read from runtime/layers.txt. Contract:
//   - A line "order a b c": b may include a, c may include a and b. Orders combine: what may be
//   included by one that may be included may be included.
//   - A line "apart a b": neither includes the other, whatever the orders say.
// Test: tst_layers.
#pragma once

#include <QtCore/qhash.h>
#include <QtCore/qset.h>
#include <QtCore/qstring.h>
#include <QtCore/qstringlist.h>

class LayerRules
{
public:
    // Parses the text of a layers.txt. Lines that are neither rule nor comment are kept in
    // unknownLines(). [thread-safe]
    explicit LayerRules(const QString &text);

    QStringList layers() const { return m_layers; }
    QStringList unknownLines() const { return m_unknownLines; }
    bool allows(const QString &from, const QString &to) const;

    // The layer of a file ("runtime/cache/store.cpp" -> "cache", "sdk/src/object.cpp" -> "sdk");
    // empty outside all layers.
    QString layerOfFile(const QString &path) const;
    // The layer that `include` of `file` names; empty for Qt, std and other libraries.
    // "../" is followed.
    QString layerOfInclude(const QString &file, const QString &include) const;
    // What is wrong with one include, or an empty string.
    QString fault(const QString &file, const QString &include) const;
    // The texts between the quotes or angle brackets of all #include lines.
    static QStringList includesOf(const QByteArray &source);

private:
    void addOrder(const QStringList &names);

    QStringList m_layers;
    QStringList m_unknownLines;
    QHash<QString, QSet<QString>> m_below; // layer -> those it may include
    QSet<QString> m_apart; // "a|b" both ways
};
