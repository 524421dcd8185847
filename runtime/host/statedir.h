// The directory where copies of plugins are kept, and the kubeconfig of an embedded server.
// Contract: what is given must exist; only the default is made. Both must be writable and must
// allow mapping code.
// One host a directory: kubeconfig and copies of another, in another pod with the same process
// number too, would be written over. Default: $STATE_DIRECTORY (systemd), /var/lib/davit for root,
// else $XDG_STATE_HOME/davit or
// ~/.local/state/davit. Test: tst_statedir.
#pragma once

#include <davit/result.h>

namespace davit::host {

// The absolute path that is ready for use, or InvalidConfiguration with a sentence that names the
// directory, the fault and --state-dir. `wanted` empty: the default. [host-thread]
Result<QString> prepareStateDir(const QString &wanted);

// Takes the directory for this process, as long as it lives. InvalidConfiguration names the process
// that has it. Where the file system knows no locks it goes unguarded. [host-thread]
Status lockStateDir(const QString &path);

} // namespace davit::host
