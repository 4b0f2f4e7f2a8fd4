#include "json/strategic_list.h"

#include <algorithm>
#include <vector>

#include "json/pointer.h"

namespace mangrove::json::strategic {
namespace {

// Numbers written as integers and as doubles are different keys, as for an API server.
enum class Sort { kNull, kBool, kInteger, kDouble, kString, kArray, kObject };

Sort sortOf(const Value& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      return Sort::kNull;
    case boost::json::kind::bool_:
      return Sort::kBool;
    case boost::json::kind::int64:
      return Sort::kInteger;
    case boost::json::kind::uint64:
    case boost::json::kind::double_:
      return Sort::kDouble;
    case boost::json::kind::string:
      return Sort::kString;
    case boost::json::kind::array:
      return Sort::kArray;
    case boost::json::kind::object:
      return Sort::kObject;
  }
  return Sort::kNull;
}

struct Item {
  Value value;
  long wanted;  // index in the order that rules this item's half, -1 when it is not there
  long server;
};

// Elements that the order does not know go in front of what came before them. That happens only
// when a patch adds to a list and names an empty order; API servers do the same.
bool before(const Item& a, const Item& b) {
  return a.wanted < 0 || b.wanted < 0 || a.wanted < b.wanted;
}

// What the loop below does with a list that does not mix them, at less than its square.
void sortMany(std::vector<Item>& items) {
  const auto known = std::stable_partition(items.begin(), items.end(),
                                           [](const Item& item) { return item.wanted < 0; });
  std::reverse(items.begin(), known);
  std::stable_sort(known, items.end(), before);
}

void sortItems(std::vector<Item>& items) {
  constexpr size_t kMany = 1000;
  const bool complete =
      std::all_of(items.begin(), items.end(), [](const Item& item) { return item.wanted >= 0; });
  if (complete || items.size() > kMany) return sortMany(items);
  for (size_t i = 1; i < items.size(); ++i)
    for (size_t j = i; j > 0 && before(items[j], items[j - 1]); --j)
      std::swap(items[j], items[j - 1]);
}

Array woven(std::vector<Item> left, std::vector<Item> right) {
  Array out;
  out.reserve(left.size() + right.size());
  size_t i = 0, j = 0;
  while (i < left.size() || j < right.size()) {
    const bool leftFirst =
        j == right.size() || (i < left.size() && left[i].server >= 0 && right[j].server >= 0 &&
                              left[i].server < right[j].server);
    out.push_back(std::move(leftFirst ? left[i++].value : right[j++].value));
  }
  return out;
}

}  // namespace

std::string Path::text() const {
  if (parent == nullptr) return std::string();
  return parent->text() + "/" + escapeToken(token);
}

std::string identity(const Value& element, std::string_view mergeKey) {
  const Value& key = mergeKey.empty() ? element : element.get_object().at(mergeKey);
  return std::string(1, static_cast<char>('a' + static_cast<int>(sortOf(key)))) + write(key);
}

Result<void> requireKeys(const Array& list, std::string_view mergeKey, const Path& at) {
  for (size_t i = 0; i < list.size(); ++i) {
    const Object* object = list[i].if_object();
    if (object == nullptr)
      return invalid("{}: element {} is {}; want an object with the merge key '{}'", at.text(), i,
                     write(list[i]), mergeKey);
    const Value* key = object->if_contains(mergeKey);
    if (key == nullptr || key->is_null())
      return invalid("{}: element {} has no merge key '{}'", at.text(), i, mergeKey);
  }
  return {};
}

Result<Elements> elementsOf(const Array& a, const Array& b, std::string_view mergeKey,
                            const Path& at) {
  const Value* first = a.empty() ? (b.empty() ? nullptr : &b.front()) : &a.front();
  if (first == nullptr) return Elements::kNone;
  const Sort sort = sortOf(*first);
  if (sort == Sort::kArray || sort == Sort::kNull)
    return invalid("{}: a merged list cannot hold {}", at.text(),
                   sort == Sort::kNull ? "null" : "lists");
  for (const Array* list : {&a, &b})
    for (const Value& element : *list)
      if (sortOf(element) != sort)
        return invalid("{}: the elements are of different types ({} and {})", at.text(),
                       write(*first), write(element));
  if (sort != Sort::kObject && !mergeKey.empty())
    return invalid("{}: want a list of objects with the merge key '{}'", at.text(), mergeKey);
  if (sort == Sort::kObject && mergeKey.empty())
    return invalid("{}: a list of objects cannot be merged without a merge key", at.text());
  return sort == Sort::kObject ? Elements::kObjects : Elements::kScalars;
}

Order::Order(const Array& list, std::string_view mergeKey) {
  for (size_t i = 0; i < list.size(); ++i)
    if (!places_.emplace(identity(list[i], mergeKey), static_cast<long>(i)).second) repeats_ = true;
}

long Order::indexOf(const std::string& identity) const {
  const auto found = places_.find(identity);
  return found == places_.end() ? -1 : found->second;
}

Array arranged(Array merged, const Order& wanted, const Order& server, std::string_view mergeKey) {
  std::vector<Item> ordered, serverOnly;
  for (Value& element : merged) {
    const std::string key = identity(element, mergeKey);
    const long inWanted = wanted.indexOf(key);
    const long inServer = server.indexOf(key);
    if (inWanted >= 0)
      ordered.push_back({std::move(element), inWanted, inServer});
    else
      serverOnly.push_back({std::move(element), inServer, inServer});
  }
  sortItems(ordered);
  sortItems(serverOnly);
  return woven(std::move(serverOnly), std::move(ordered));
}

}  // namespace mangrove::json::strategic
