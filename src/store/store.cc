#include "store/store.h"

#include <utility>

#include "store/listing.h"
#include "store/store_impl.h"

namespace mangrove::store {

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Store::~Store() {
  close();
}

Result<std::unique_ptr<Store>> Store::open(Options options, Post post) {
  auto impl = std::make_unique<Impl>(std::move(options), std::move(post));
  if (auto opened = impl->open(); !opened) return pass(opened.error());
  return std::unique_ptr<Store>(new Store(std::move(impl)));
}

void Store::declare(ResourceSpec spec) {
  impl_->declare(std::move(spec));
}

Result<Revision> Store::commit(Txn txn, Done done) {
  return impl_->commit(std::move(txn), std::move(done));
}

Revision Store::nextRevision(const Txn& txn) const {
  return impl_->next() + txn.writes();
}

ObjectPtr Store::getHead(Interned resource, std::string_view ns, std::string_view name) const {
  const Collection* collection = impl_->state().find(resource);
  return collection ? collection->findHead(pathOf(ns, name)) : nullptr;
}

Revision Store::revision() const {
  return impl_->visible();
}

ObjectPtr Store::get(Interned resource, std::string_view ns, std::string_view name) const {
  const Collection* collection = impl_->state().find(resource);
  return collection ? collection->find(pathOf(ns, name)) : nullptr;
}

Result<Page> Store::list(const Query& query) const {
  return listPage(impl_->state().find(query.resource), impl_->history(), impl_->visible(), query);
}

std::vector<ObjectPtr> Store::ownedBy(std::string_view uid) const {
  return impl_->state().ownedBy(uid);
}

size_t Store::count(Interned resource, std::string_view ns) const {
  const Collection* collection = impl_->state().find(resource);
  if (collection == nullptr) return 0;
  if (ns.empty()) return collection->all().size();
  size_t found = 0;
  auto at = collection->all().lower_bound(pathOf(ns, ""));
  for (; at != collection->all().end() && (*at)->ns() == ns; ++at) ++found;
  return found;
}

std::vector<Interned> Store::resources() const {
  return impl_->state().resources();
}

Result<Watch> Store::watch(Interned resource, std::string_view ns, Revision from, Fn wake) {
  if (from > impl_->visible())
    return fail(Code::kGone, "too large resource version: {}, current: {}", from.v,
                impl_->visible().v);
  if (!impl_->history().covers(resource, from))
    return fail(Code::kGone, "too old resource version: {} ({})", from.v,
                impl_->history().lost(resource).v);
  return Watch(std::make_shared<WatchState>(
      WatchState{impl_->feed(), resource, std::string(ns), from, std::move(wake)}));
}

std::vector<ObjectPtr> Store::expired(WallTime now, size_t max) const {
  return impl_->state().expired(now, max);
}

std::optional<WallTime> Store::nextExpiry() const {
  return impl_->state().nextExpiry();
}

Stats Store::stats() const {
  return impl_->stats();
}

void Store::backup(std::string path, Done done) {
  impl_->backup(std::move(path), std::move(done));
}

void Store::flush() {
  impl_->flush();
}

void Store::close() {
  impl_->close();
}

}  // namespace mangrove::store
