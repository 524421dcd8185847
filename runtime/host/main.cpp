// davit: the executable.
#include "commandline.h"
#include "exitcodes.h"

#include <QtCore/qcoreapplication.h>
#include <cstdio>

using namespace davit;
using namespace davit::host;

namespace {

int refuse(const QString &sentence)
{
    std::fprintf(stderr, "davit: %s\n", sentence.toUtf8().constData());
    return int(ExitCode::Configuration);
}

} // namespace

int main(int argc, char **argv)
{
    QStringList arguments;
    for (int i = 1; i < argc; ++i)
        arguments << QString::fromLocal8Bit(argv[i]);
    const Result<Command> command = parseCommandLine(arguments);
    if (!command.isOk())
        return refuse(command.error().message());
    if (const auto *text = std::get_if<Text>(&command.value())) {
        std::fputs(text->text.toUtf8().constData(), stdout);
        return int(ExitCode::Done);
    }
    return int(ExitCode::Failure);
}
