// Finds where a JSON object or array ends without parsing it: knows strings and nesting, and checks
// nothing else. 64 bytes at a time. Test: tst_bracketscanner.
#pragma once

namespace davit::support {

class BracketScanner
{
public:
    // Steps on from `p`, which at first is the opening bracket; pieces may be of any size. The byte
    // behind the closing bracket, or `end` when the value goes on (isDone() tells). [thread-safe]
    const char *feed(const char *p, const char *end);
    bool isDone() const { return m_isDone; }

private:
    const char *feedBlocks(const char *p, const char *end);
    bool feedByte(char c); // true: the value ended with it

    int m_depth = 0;
    bool m_isInString = false;
    bool m_isEscaped = false; // the next byte, in a string
    bool m_isDone = false;
};

} // namespace davit::support
