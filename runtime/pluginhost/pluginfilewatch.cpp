#include "pluginfilewatch.h"

#include "pluginscanner.h"

#include <QtCore/qfile.h>
#include <sys/stat.h>

namespace davit::pluginhost {

PluginFileWatch::PluginFileWatch(const QStringList &places)
    : m_places(places), m_told(read()), m_seen(m_told)
{ }

PluginFileWatch::Files PluginFileWatch::read() const
{
    QList<PluginFile> found;
    for (const QString &place : m_places)
        (void)scanPlugins(place, &found); // one that is gone holds nothing
    Files files;
    for (const PluginFile &file : std::as_const(found)) {
        struct stat info
        {
        };
        if (::stat(QFile::encodeName(file.path).constData(), &info) != 0)
            continue;
        QByteArray &mark = files[file.path];
        for (const qint64 part : {qint64(info.st_dev), qint64(info.st_ino), qint64(info.st_size),
                 qint64(info.st_mtim.tv_sec), qint64(info.st_mtim.tv_nsec)})
            mark += QByteArray::number(part) + ' ';
    }
    return files;
}

PluginFileChanges PluginFileWatch::look()
{
    PluginFileChanges changes;
    const Files now = read();
    const bool isQuiet = now == m_seen;
    m_seen = now;
    if (!isQuiet || now == m_told)
        return changes;
    for (auto it = now.begin(); it != now.end(); ++it) {
        if (!m_told.contains(it.key()))
            changes.added << it.key();
        else if (m_told.value(it.key()) != it.value())
            changes.replaced << it.key();
    }
    for (auto it = m_told.constBegin(); it != m_told.constEnd(); ++it)
        if (!now.contains(it.key()))
            changes.removed << it.key();
    m_told = now;
    return changes;
}

} // namespace davit::pluginhost
