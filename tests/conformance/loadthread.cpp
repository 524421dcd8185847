#include "loadthread.h"

LoadThread::LoadThread(LoadWriter *writer) : m_writer(writer)
{
    m_writer->moveToThread(&m_thread);
    connect(&m_thread, &QThread::finished, m_writer, &QObject::deleteLater);
    connect(m_writer, &LoadWriter::finished, this, [this] { m_isFinished = true; });
    connect(m_writer, &LoadWriter::failed, this, [this](const QString &text) { m_failure = text; });
    m_thread.start();
}

LoadThread::~LoadThread()
{
    m_thread.quit();
    m_thread.wait();
}

void LoadThread::begin(LoadWriter::Work work, int writes, int ratePerSecond)
{
    m_isFinished = false;
    m_writer->begin(work, writes, ratePerSecond);
}
