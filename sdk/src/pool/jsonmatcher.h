// Compares JSON text with packed values without parsing the one or writing the other. What was
// there before mostly comes again: a part whose text says what a known object holds is taken from
// that object. Test: tst_objectdecoder, similar.
#pragma once

#include "place.h"

namespace davit::priv::pool {

class JsonMatcher
{
public:
    // Whether the text from `p`, which ends at `end`, begins with what writeJson() would make of
    // `place`, a pooled value; false also when that cannot be told so simply (escapes, white
    // space). reached() is behind it then, or where they differ.
    bool match(const char *p, const char *end, Place place);
    const char *reached() const { return m_at; }

private:
    bool value(const std::uint8_t *&packed);
    bool object(const std::uint8_t *&packed);
    bool array(const std::uint8_t *&packed);
    bool unusual(const std::uint8_t *&packed);
    bool number(std::string_view text);
    bool quoted(std::string_view text);
    bool plain(std::string_view text);
    bool take(char c)
    {
        if (m_at >= m_end || *m_at != c)
            return false;
        ++m_at;
        return true;
    }

    const char *m_end = nullptr;
    const char *m_at = nullptr;
    Scratch m_scratch;
};

} // namespace davit::priv::pool
