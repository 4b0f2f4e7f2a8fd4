#include "store/listing.h"

#include <map>
#include <utility>

namespace mangrove::store {
namespace {

// Keys that differ between the wanted revision and now, with what they were then (null: absent).
using Undo = std::map<std::string_view, ObjectPtr>;

Undo undoTo(Revision wanted, const std::deque<Event>* events) {
  Undo undo;
  if (events == nullptr) return undo;
  for (auto at = events->rbegin(); at != events->rend() && at->revision() > wanted; ++at)
    undo[at->object->path()] =
        at->previous;  // the earliest change after `wanted` has the last word
  return undo;
}

// Walks objects in list order from behind `after`, through the undone keys.
class Scan {
 public:
  Scan(const ObjectsByPath& now, const Undo& then, std::string_view after)
      : now_(now.upper_bound(after)),
        nowEnd_(now.end()),
        then_(then.upper_bound(after)),
        thenEnd_(then.end()) {}

  // Null at the end.
  ObjectPtr next() {
    while (now_ != nowEnd_ || then_ != thenEnd_) {
      if (then_ == thenEnd_ || (now_ != nowEnd_ && (*now_)->path() < then_->first)) return *now_++;
      if (now_ != nowEnd_ && (*now_)->path() == then_->first) ++now_;
      if (const ObjectPtr& old = (then_++)->second) return old;
    }
    return nullptr;
  }

 private:
  ObjectsByPath::const_iterator now_, nowEnd_;
  Undo::const_iterator then_, thenEnd_;
};

// Walks the objects with one value of an indexed field.
class IndexScan {
 public:
  IndexScan(const ObjectsByField& index, std::string_view value, std::string_view after)
      : index_(index), value_(value), at_(index.upper_bound(ByField::Place{value, after})) {}

  ObjectPtr next() {
    if (at_ == index_.end() || (*at_)->field(index_.key_comp().field) != value_) return nullptr;
    return *at_++;
  }

 private:
  const ObjectsByField& index_;
  std::string_view value_;
  ObjectsByField::const_iterator at_;
};

bool matches(const Query& query, const Object& object) {
  if (query.field && object.field(query.field->first) != query.field->second) return false;
  return !query.filter || query.filter(object);
}

// Objects of one namespace lie together and a walk starts with the first of them.
bool pastNamespace(const Query& query, const Object& object) {
  return !query.ns.empty() && object.ns() != query.ns;
}

std::string startOf(const Query& query) {
  const std::string nsStart = query.ns.empty() ? std::string() : query.ns + '/';
  return query.from && query.from->after > nsStart ? query.from->after : nsStart;
}

template <class Walk>
Page fill(Walk walk, const Query& query, Revision revision) {
  Page page{revision, {}, std::nullopt, std::nullopt};
  const bool countable = !query.field && !query.filter;
  size_t behind = 0;
  while (ObjectPtr object = walk.next()) {
    if (pastNamespace(query, *object)) break;
    if (!matches(query, *object)) continue;
    if (query.limit == 0 || page.items.size() < query.limit) {
      page.items.push_back(std::move(object));
      continue;
    }
    behind += 1;
    if (!countable) break;  // knowing that there is one more is enough
  }
  if (behind == 0) return page;
  page.next = Continue{revision, std::string(page.items.back()->path())};
  if (countable) page.remaining = behind;
  return page;
}

Revision wantedRevision(const Query& query, Revision visible) {
  const Revision named = query.from ? query.from->revision : query.exact;
  return named ? named : visible;
}

Failure tooOld(const Query& query, Revision wanted, Revision known) {
  return fail(Code::kGone,
              "{} at revision {} is no longer known, the history goes back to revision {}: {}",
              query.resource.view(), wanted.v, known.v,
              query.from ? "the continue token expired, list again from the start"
                         : "list without a revision");
}

}  // namespace

Result<Page> listPage(const Collection* collection, const History& history, Revision visible,
                      const Query& query) {
  const Revision wanted = wantedRevision(query, visible);
  if (wanted > visible)
    return fail(Code::kTimeout, "Too large resource version: {}, current: {}", wanted.v, visible.v);
  if (wanted < visible && !history.covers(query.resource, wanted))
    return tooOld(query, wanted, history.lost(query.resource));
  if (collection == nullptr) return Page{wanted, {}, std::nullopt, std::nullopt};

  const std::string after = startOf(query);
  const Undo undo = wanted < visible ? undoTo(wanted, history.events(query.resource)) : Undo();
  const ObjectsByField* index =
      query.field && undo.empty() ? collection->index(query.field->first) : nullptr;
  if (index != nullptr) return fill(IndexScan(*index, query.field->second, after), query, wanted);
  return fill(Scan(collection->all(), undo, after), query, wanted);
}

}  // namespace mangrove::store
