#pragma once
// Interned strings: each distinct text is stored once and named by a 4-byte handle, so equality and
// hashing are one integer operation and a label shared by 50 000 pods costs its bytes once.
//
//   Interned ns("kube-system");
//   if (pod.ns == ns) …                 // one comparison
//   ns.view();                          // the text, valid for the life of the process
//
// Any thread may create and read handles; reading takes no lock. Texts are never freed: growth is
// bounded by the number of distinct texts ever seen. Intern vocabulary that recurs (namespaces,
// nodes, label keys and values, resource and class names), not what is new for every object (UIDs,
// resource versions, messages). internedStats() shows the size; the table ends the process at 2^26
// texts rather than grow without end.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace mangrove {

class Interned {
 public:
  Interned() = default;  // the empty text
  explicit Interned(std::string_view text);
  // The handle of a text that has been interned before; the empty handle and false otherwise. Never
  // grows the table: use it for lookups with foreign input.
  static bool find(std::string_view text, Interned& out);

  std::string_view view() const;
  std::string str() const { return std::string(view()); }
  bool empty() const { return id_ == 0; }
  uint32_t id() const { return id_; }  // small and dense; differs between runs

  bool operator==(const Interned&) const = default;
  // By text, so that sorted output does not depend on the order of arrival.
  std::strong_ordering operator<=>(const Interned& other) const {
    return id_ == other.id_ ? std::strong_ordering::equal : view() <=> other.view();
  }
  bool operator==(std::string_view text) const { return view() == text; }

 private:
  uint32_t id_ = 0;
};

struct InternedStats {
  size_t texts = 0;
  size_t bytes = 0;  // of the texts alone
};
InternedStats internedStats();

}  // namespace mangrove

template <>
struct std::hash<mangrove::Interned> {
  // Ids are dense; the multiplication spreads them over all bits for open-addressing tables.
  size_t operator()(mangrove::Interned text) const noexcept {
    return text.id() * size_t{0x9E3779B97F4A7C15};
  }
};
