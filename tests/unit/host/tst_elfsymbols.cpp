// What the symbol table of a plugin file says, and that no file, however broken, keeps the reader.
#include <host/elfsymbols.h>

#include <QTemporaryDir>
#include <QTest>
#include <elf.h>
#include <limits>
#include <sys/stat.h>

using davit::host::ElfSymbols;
using davit::host::readElfSymbols;
using namespace Qt::StringLiterals;

namespace {

template <typename T> QByteArray bytesOf(const T &value)
{
    return QByteArray(reinterpret_cast<const char *>(&value), sizeof value);
}

// One need of libDavitSdk.so.0 with the versions DAVIT_SDK_1.0 and DAVIT_SDK_1.1, and a symbol
// table with one unique symbol. Members are what the rows break.
struct Library
{
    Elf64_Verneed need{1, 2, 1, sizeof(Elf64_Verneed), 0};
    Elf64_Vernaux first{0, 0, 0, 18, sizeof(Elf64_Vernaux)};
    Elf64_Vernaux second{0, 0, 0, 32, 0};
    Elf64_Word needs = 1;
    Elf64_Sym unique{46, ELF64_ST_INFO(10, STT_OBJECT), 0, 1, 0, 0};
    unsigned char fileClass = ELFCLASS64;
    qsizetype size = std::numeric_limits<qsizetype>::max(); // cut there

    QByteArray bytes() const
    {
        const QByteArray names("\0libDavitSdk.so.0\0DAVIT_SDK_1.0\0DAVIT_SDK_1.1\0shared\0", 53);
        const QByteArray versions = bytesOf(need) + bytesOf(first) + bytesOf(second);
        const QByteArray symbols = bytesOf(Elf64_Sym{}) + bytesOf(unique);
        Elf64_Ehdr header{};
        memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = fileClass;
        header.e_ident[EI_DATA] = Q_BYTE_ORDER == Q_LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
        header.e_shnum = 4;
        header.e_shoff = sizeof header;
        quint64 at = sizeof header + 4 * sizeof(Elf64_Shdr);
        QByteArray sections = bytesOf(Elf64_Shdr{});
        const auto add = [&](Elf64_Word type, const QByteArray &body, Elf64_Word info) {
            Elf64_Shdr section{};
            section.sh_type = type;
            section.sh_offset = at;
            section.sh_size = Elf64_Xword(body.size());
            section.sh_link = 1;
            section.sh_info = info;
            sections += bytesOf(section);
            at += quint64(body.size());
        };
        add(SHT_STRTAB, names, 0);
        add(SHT_GNU_verneed, versions, needs);
        add(SHT_DYNSYM, symbols, 0);
        return (bytesOf(header) + sections + names + versions + symbols).left(size);
    }
};

} // namespace

class tst_ElfSymbols : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void reads_data();
    void reads();
    void refuses_data();
    void refuses();
    void refusesUnread_data();
    void refusesUnread();

private:
    QString write(const QByteArray &bytes);
    QTemporaryDir m_dir;
};

QString tst_ElfSymbols::write(const QByteArray &bytes)
{
    const QString path = m_dir.filePath(u"plugin.so"_s);
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
        qFatal("cannot write a file for the test");
    return path;
}

void tst_ElfSymbols::reads_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QStringList>("versions");
    QTest::addColumn<QStringList>("unique");
    const QStringList both{u"DAVIT_SDK_1.0"_s, u"DAVIT_SDK_1.1"_s};
    const QStringList shared{u"shared"_s};

    Library library;
    QTest::newRow("whole") << library.bytes() << both << shared;
    library.unique.st_shndx = SHN_UNDEF;
    QTest::newRow("unique but undefined") << library.bytes() << both << QStringList();
    library = {};
    library.unique.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
    QTest::newRow("global") << library.bytes() << both << QStringList();
    library = {};
    library.need.vn_file = 18;
    QTest::newRow("another library") << library.bytes() << QStringList() << shared;
    library = {};
    library.needs = 0xffffffff; // vn_next is 0
    QTest::newRow("claims more needs") << library.bytes() << both << shared;
    library = {};
    library.need.vn_cnt = 0xffff; // the second's vna_next is 0
    QTest::newRow("claims more versions") << library.bytes() << both << shared;
    library = {};
    library.first.vna_next = 0;
    QTest::newRow("ends early") << library.bytes() << both.mid(0, 1) << shared;
    library = {};
    library.need.vn_aux = 0xfffffff0;
    QTest::newRow("versions beyond the end") << library.bytes() << QStringList() << shared;
    library = {};
    library.unique.st_name = 0xfffffff0;
    QTest::newRow("a name beyond the end") << library.bytes() << both << QStringList(QString());
    library = {};
    library.size = library.bytes().size() - 1;
    QTest::newRow("cut in the last symbol") << library.bytes() << both << QStringList();
}

void tst_ElfSymbols::reads()
{
    QFETCH(QByteArray, bytes);
    const auto symbols = readElfSymbols(write(bytes));
    QVERIFY(symbols.isOk());
    QTEST(symbols.value().neededVersions, "versions");
    QTEST(symbols.value().unique, "unique");
}

void tst_ElfSymbols::refuses_data()
{
    QTest::addColumn<QByteArray>("bytes");
    Library library;
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("text") << QByteArray("#!/bin/sh\n");
    QTest::newRow("cut in the sections") << library.bytes().left(sizeof(Elf64_Ehdr) + 10);
    library.fileClass = ELFCLASS32;
    QTest::newRow("32 bits") << library.bytes();
}

void tst_ElfSymbols::refuses()
{
    QFETCH(QByteArray, bytes);
    const QString path = write(bytes);
    const auto symbols = readElfSymbols(path);
    QVERIFY(!symbols.isOk());
    QCOMPARE(symbols.error().message(), path + u": this is no shared library of this machine"_s);
}

void tst_ElfSymbols::refusesUnread_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("reason");
    const QString fifo = m_dir.filePath(u"fifo.so"_s);
    QCOMPARE(mkfifo(QFile::encodeName(fifo).constData(), 0600), 0);
    const QString endless = m_dir.filePath(u"endless.so"_s);
    QVERIFY(QFile::link(u"/dev/zero"_s, endless));
    const QString huge = m_dir.filePath(u"huge.so"_s);
    QFile sparse(huge);
    QVERIFY(sparse.open(QIODevice::WriteOnly) && sparse.resize((qint64(1) << 30) + 1));
    const QString irregular = u"it is no regular file; name a shared library"_s;
    QTest::newRow("a FIFO that nobody writes to") << fifo << irregular;
    QTest::newRow("a link to an endless device") << endless << irregular;
    QTest::newRow("a directory") << m_dir.path() << irregular;
    QTest::newRow("huge") << huge << u"it has more than 1073741824 bytes; strip the library"_s;
}

void tst_ElfSymbols::refusesUnread()
{
    QFETCH(QString, path);
    QFETCH(QString, reason);
    const auto symbols = readElfSymbols(path);
    QVERIFY(!symbols.isOk());
    QCOMPARE(symbols.error().message(), path + u": "_s + reason);
}

QTEST_GUILESS_MAIN(tst_ElfSymbols)
#include "tst_elfsymbols.moc"
