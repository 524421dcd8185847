// A heap from which any element can leave, not only the first: each knows its place. Contract:
//   - It holds pointers; the elements belong to the caller, stay where they are, and are in one
//   heap at most.
//   - Traits::place(element) is a quint32 & that the heap writes; Traits::isBefore(a, b) orders,
//   and does not change for an element inside.
// Not thread-safe. Test: tst_priorityqueue, heap.
#pragma once

#include <QtCore/qglobal.h>
#include <algorithm>
#include <tuple>
#include <vector>

namespace davit::workqueue {

template <typename Element, typename Traits> class IndexedHeap
{
public:
    bool isEmpty() const { return m_elements.empty(); }
    size_t size() const { return m_elements.size(); }
    Element &first() const { return *m_elements.front(); } // not empty
    void clear() { m_elements.clear(); }
    // O(log n), O(1) for one that comes last.
    void push(Element &element)
    {
        m_elements.push_back(&element);
        rise(m_elements.size() - 1, element);
    }
    // Of an element inside. O(log n).
    void remove(Element &element)
    {
        const size_t hole = Traits::place(element);
        Element &last = *m_elements.back();
        m_elements.pop_back();
        if (&last == &element)
            return;
        if (hole > 0 && Traits::isBefore(last, *m_elements[parentOf(hole)]))
            rise(hole, last);
        else
            sink(hole, last);
    }
    // Calls `visit` for each element from the front for which it answers true; in no order.
    template <typename Visit> void visitFront(Visit &&visit, size_t at = 0) const
    {
        if (at >= size() || !visit(*m_elements[at]))
            return;
        for (size_t child = firstChildOf(at); child < firstChildOf(at) + kChildren; ++child)
            visitFront(visit, child);
    }

private:
    static constexpr size_t kChildren = 4; // flatter than two: fewer elements are moved and touched

    static size_t parentOf(size_t at) { return (at - 1) / kChildren; }
    static size_t firstChildOf(size_t at) { return kChildren * at + 1; }
    void put(size_t at, Element &element)
    {
        m_elements[at] = &element;
        Traits::place(element) = quint32(at);
    }
    void rise(size_t at, Element &element)
    {
        for (; at > 0 && Traits::isBefore(element, *m_elements[parentOf(at)]); at = parentOf(at))
            put(at, *m_elements[parentOf(at)]);
        put(at, element);
    }
    void sink(size_t at, Element &element)
    {
        for (size_t child = firstChildOf(at); child < size(); child = firstChildOf(at)) {
            const auto begin = m_elements.begin() + qptrdiff(child);
            const auto end = begin + qptrdiff(std::min(kChildren, size() - child));
            const auto next = std::min_element(
                begin, end, [](Element *a, Element *b) { return Traits::isBefore(*a, *b); });
            if (!Traits::isBefore(**next, element))
                break;
            put(at, **next);
            at = size_t(next - m_elements.begin());
        }
        put(at, element);
    }

    std::vector<Element *> m_elements;
};

// Traits of table items whose values have a place, a moment and a sequence: the earliest first, and
// what is due at one moment in the order in which it came.
template <typename Item> struct EarliestFirst
{
    static quint32 &place(Item &item) { return item.second.place; }
    static bool isBefore(const Item &a, const Item &b)
    {
        return std::tie(a.second.moment, a.second.sequence)
            < std::tie(b.second.moment, b.second.sequence);
    }
};

} // namespace davit::workqueue
