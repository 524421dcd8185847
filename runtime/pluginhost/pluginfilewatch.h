// Sees that plugin files were added, replaced or removed since the host read them: they are read
// once, at the start, and what runs are copies. Test: tst_pluginhost, changedFiles.
#pragma once

#include <QtCore/qmap.h>
#include <QtCore/qstringlist.h>

namespace davit::pluginhost {

struct PluginFileChanges
{
    QStringList added; // absolute paths, sorted, as the others
    QStringList replaced;
    QStringList removed;
};

class PluginFileWatch
{
public:
    // What is in `places` now is known. [host-thread]
    explicit PluginFileWatch(const QStringList &places);

    // What has changed since the last time that something was told; nothing as long as it goes on
    // changing from one look to the next, since a file may still be on its way. Reads the
    // directories and no file. [host-thread]
    PluginFileChanges look();

private:
    using Files = QMap<QString, QByteArray>; // by path: what tells one content from another
    Files read() const;

    const QStringList m_places;
    Files m_told;
    Files m_seen; // by the last look
};

} // namespace davit::pluginhost
