#pragma once
// What the tests of this folder share: a directory that goes away, a store with its owner thread,
// and short ways to write objects. Included by tests only.

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mailbox.h"
#include "base/os/temp_folder.h"
#include "store/store.h"

namespace mangrove::store {

// What is tested does not depend on the disk, the time does.
class TempDir {
 public:
  std::string path(const std::string& name = "data") const { return folder_.file(name); }

 private:
  TempFolder folder_ = TempFolder::inMemory("store-test");
};

inline Interned pods() {
  return Interned("pods.v1");
}
inline Interned nodes() {
  return Interned("nodes.v1");
}

// {"metadata":{"name":…,"uid":…,"resourceVersion":…},…}; `more` is pasted in: ,"spec":{…}
inline Body body(std::string_view name, Revision revision, std::string_view meta = {},
                 std::string_view more = {}) {
  return std::make_shared<const std::string>(
      fmt::format(R"({{"metadata":{{"name":"{}","uid":"uid-{}","resourceVersion":"{}"{}}}{}}})",
                  name, name, revision.v, meta, more));
}

// A store whose owner thread is the test's.
class Shop {
 public:
  explicit Shop(Options options = {}) : options_(std::move(options)) { reopen(); }

  void reopen() {
    store_.reset();
    auto opened = tryOpen();
    ASSERT_TRUE(opened) << opened.error().text();
    store_ = std::move(*opened);
  }
  Result<std::unique_ptr<Store>> tryOpen() {
    return Store::open(options_, [this](Fn fn) { owner.post(std::move(fn)); });
  }
  void shut() { store_.reset(); }
  Store* operator->() { return store_.get(); }
  Store& operator*() { return *store_; }
  Options& options() { return options_; }

  // Commits and waits for the disk.
  Result<Revision> now(Txn txn) {
    Result<Revision> outcome = fail(Code::kInternal, "not called");
    auto taken =
        store_->commit(std::move(txn), [&](Result<Revision> r) { outcome = std::move(r); });
    if (!taken) return taken;
    store_->flush();
    return outcome;
  }
  Txn puts(Interned resource, std::string_view ns, std::string_view name,
           std::string_view meta = {}, std::string_view more = {}) {
    Txn txn;
    txn.put({resource, std::string(ns), std::string(name)},
            body(name, store_->nextRevision(txn), meta, more), Precondition::none());
    return txn;
  }
  Revision put(std::string_view ns, std::string_view name, std::string_view meta = {},
               std::string_view more = {}) {
    auto done = now(puts(pods(), ns, name, meta, more));
    EXPECT_TRUE(done) << done.error().text();
    return done ? *done : Revision{};
  }
  Revision remove(std::string_view ns, std::string_view name) {
    Txn txn;
    txn.removeAny({pods(), std::string(ns), std::string(name)},
                  body(name, store_->nextRevision(txn)));
    auto done = now(std::move(txn));
    EXPECT_TRUE(done) << done.error().text();
    return done ? *done : Revision{};
  }

  Mailbox owner;

 private:
  Options options_;
  std::unique_ptr<Store> store_;
};

inline std::vector<std::string> paths(const std::vector<ObjectPtr>& objects) {
  std::vector<std::string> out;
  for (const ObjectPtr& object : objects) out.emplace_back(object->path());
  return out;
}

// "ns/name@revision", all of a resource.
inline std::vector<std::string> versions(const Page& page) {
  std::vector<std::string> out;
  for (const ObjectPtr& object : page.items)
    out.push_back(fmt::format("{}@{}", object->path(), object->revision().v));
  return out;
}

// "ADDED ns/name@revision", with " was @revision" when there is a version before.
inline std::vector<std::string> lines(const std::vector<Event>& events) {
  std::vector<std::string> out;
  for (const Event& event : events) {
    std::string line = fmt::format("{} {}@{}", eventTypeName(event.type), event.object->path(),
                                   event.revision().v);
    if (event.previous) line += fmt::format(" was @{}", event.previous->revision().v);
    out.push_back(std::move(line));
  }
  return out;
}

inline std::vector<Event> takeAll(Watch& watch, size_t step = 3) {
  std::vector<Event> all;
  for (;;) {
    auto some = watch.take(step);
    EXPECT_TRUE(some) << some.error().text();
    if (!some || some->empty()) return all;
    all.insert(all.end(), some->begin(), some->end());
  }
}

}  // namespace mangrove::store
