// davit: the executable.
#include "commandline.h"
#include "exitcodes.h"
#include "inspect.h"

#include <pluginhost/guardedapplication.h>

#include <cstdio>

using namespace davit;
using namespace davit::host;

namespace {

int refuse(const QString &sentence)
{
    std::fprintf(stderr, "davit: %s\n", sentence.toUtf8().constData());
    return int(ExitCode::Configuration);
}

int inspect(const InspectOptions &options)
{
    bool isGood = true;
    for (const QString &file : options.files)
        std::fputs(inspectPlugin(file, &isGood).toUtf8().constData(), stdout);
    return int(isGood ? ExitCode::Done : ExitCode::Failure);
}

} // namespace

int main(int argc, char **argv)
{
    pluginhost::GuardedApplication app(argc, argv);
    const Result<Command> command = parseCommandLine(QCoreApplication::arguments().mid(1));
    if (!command.isOk())
        return refuse(command.error().message());
    if (const auto *text = std::get_if<Text>(&command.value())) {
        std::fputs(text->text.toUtf8().constData(), stdout);
        return int(ExitCode::Done);
    }
    if (const auto *files = std::get_if<InspectOptions>(&command.value()))
        return inspect(*files);
    return int(ExitCode::Failure);
}
