#include "elfsymbols.h"

#include <QtCore/qfile.h>
#include <QtCore/qfileinfo.h>
#include <algorithm>
#include <cstring>
#include <elf.h>
#include <optional>
#include <vector>

namespace davit::host {

namespace {

constexpr qint64 kMaxBytes = qint64(1) << 30; // of a library
constexpr unsigned char kGnuUnique = 10; // STB_GNU_UNIQUE

// The bytes of a file, with each access checked against its end.
class Image
{
public:
    explicit Image(const QByteArray &bytes) : m_bytes(bytes) { }

    quint64 size() const { return quint64(m_bytes.size()); }

    template <typename T> std::optional<T> at(quint64 offset) const
    {
        if (offset > quint64(m_bytes.size()) || quint64(m_bytes.size()) - offset < sizeof(T))
            return std::nullopt;
        T value;
        std::memcpy(&value, m_bytes.constData() + offset, sizeof value);
        return value;
    }
    // A string that ends with a zero byte.
    QString text(quint64 offset) const
    {
        if (offset >= quint64(m_bytes.size()))
            return {};
        const qsizetype end = m_bytes.indexOf('\0', qsizetype(offset));
        return QString::fromLatin1(
            m_bytes.mid(qsizetype(offset), (end < 0 ? m_bytes.size() : end) - qsizetype(offset)));
    }

private:
    const QByteArray &m_bytes;
};

std::vector<Elf64_Shdr> sectionsOf(const Image &image)
{
    std::vector<Elf64_Shdr> sections;
    const auto header = image.at<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0
        || header->e_ident[EI_CLASS] != ELFCLASS64
        || header->e_ident[EI_DATA]
            != (Q_BYTE_ORDER == Q_LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB))
        return sections;
    for (int i = 0; i < header->e_shnum; ++i) {
        const auto section
            = image.at<Elf64_Shdr>(header->e_shoff + quint64(i) * sizeof(Elf64_Shdr));
        if (!section)
            return {};
        sections.push_back(*section);
    }
    return sections;
}

void readUnique(const Image &image, const Elf64_Shdr &table, quint64 names, QStringList *unique)
{
    for (quint64 at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
        const auto symbol = image.at<Elf64_Sym>(table.sh_offset + at);
        if (!symbol)
            return;
        if (ELF64_ST_BIND(symbol->st_info) == kGnuUnique && symbol->st_shndx != SHN_UNDEF)
            unique->append(image.text(names + symbol->st_name));
    }
}

// Counts and steps are the file's own claims: a step of 0 ends a list, as the loader has it, and no
// file says more than it has room for.
void readVersions(const Image &image, const Elf64_Shdr &table, quint64 names, QStringList *versions)
{
    quint64 room = image.size() / sizeof(Elf64_Vernaux);
    quint64 at = table.sh_offset;
    for (quint64 i = 0; i < table.sh_info; ++i) {
        const auto need = image.at<Elf64_Verneed>(at);
        if (!need)
            return;
        const bool isSdk
            = image.text(names + need->vn_file).startsWith(QLatin1StringView("libDavitSdk"));
        quint64 version = at + need->vn_aux;
        for (int j = 0; isSdk && j < need->vn_cnt; ++j) {
            const auto aux = image.at<Elf64_Vernaux>(version);
            if (!aux || room-- == 0)
                return;
            versions->append(image.text(names + aux->vna_name));
            if (aux->vna_next == 0)
                break;
            version += aux->vna_next;
        }
        if (need->vn_next == 0)
            return;
        at += need->vn_next;
    }
}

} // namespace

Result<ElfSymbols> readElfSymbols(const QString &path)
{
    if (const QFileInfo info(path); info.exists() && !info.isFile()) // opening a FIFO would block
        return Error(ErrorCode::InvalidArgument,
            QStringLiteral("%1: it is no regular file; name a shared library").arg(path));
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return Error(ErrorCode::InvalidArgument,
            QStringLiteral("%1: cannot be read (%2)").arg(path, file.errorString()));
    if (file.size() > kMaxBytes)
        return Error(ErrorCode::InvalidArgument,
            QStringLiteral("%1: it has more than %2 bytes; strip the library")
                .arg(path)
                .arg(kMaxBytes));
    const QByteArray bytes = file.read(file.size()); // read(kMaxBytes) would take as much memory
    const Image image(bytes);
    const std::vector<Elf64_Shdr> sections = sectionsOf(image);
    if (sections.empty())
        return Error(ErrorCode::InvalidArgument,
            QStringLiteral("%1: this is no shared library of this machine").arg(path));
    ElfSymbols symbols;
    for (const Elf64_Shdr &section : sections) {
        if (section.sh_link >= sections.size())
            continue;
        const quint64 names = sections[section.sh_link].sh_offset;
        if (section.sh_type == SHT_DYNSYM)
            readUnique(image, section, names, &symbols.unique);
        else if (section.sh_type == SHT_GNU_verneed)
            readVersions(image, section, names, &symbols.neededVersions);
    }
    symbols.unique.sort();
    symbols.neededVersions.sort();
    return symbols;
}

} // namespace davit::host
