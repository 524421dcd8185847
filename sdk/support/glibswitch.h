// QT_NO_GLIB: davit sets it for its own threads where nobody did, and programs that it starts for
// others are not to inherit that. The value is the mark. Test: tst_rawget, execEnvironment.
#pragma once

namespace davit::support {

inline constexpr char kGlibSwitch[] = "QT_NO_GLIB";
inline constexpr char kSetByDavit[] = "set by davit"; // Qt asks for any text

} // namespace davit::support
