#pragma once
// For tests of this folder: objects written in YAML as the store would hold them. Included by tests
// only.

#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "apiserver/core/resources.h"
#include "apiserver/kinds/test_objects.h"
#include "apiserver/output/table.h"
#include "base/text/time_text.h"
#include "json/view.h"
#include "store/object.h"

namespace mangrove::apiserver::fixture {

// All tables are read at this moment.
inline WallTime noon() {
  return *parseTime("2026-03-01T12:00:00Z");
}

inline Resource resourceFor(std::shared_ptr<const KindInfo> kind) {
  Resource resource;
  resource.stored = Resources::storedName(kind->group, kind->plural);
  resource.storageApiVersion = kind->storedApiVersion();
  resource.kind = std::move(kind);
  return resource;
}

inline Resource resourceFor(std::string_view group, std::string_view version,
                            std::string_view kind) {
  for (const auto& one : catalogue().kinds())
    if (one->kind == kind && one->group == group && one->version == version)
      return resourceFor(one);
  ADD_FAILURE() << "no kind " << kind << " in " << group << "/" << version;
  return resourceFor(catalogue().kinds().front());
}

inline store::ObjectPtr storedText(std::string text, uint64_t revision = 7) {
  json::Doc doc;
  const json::View root = *doc.parse(text);
  const auto part = [&](const char* key) {
    return std::string(root["metadata"][key].string().value_or(""));
  };
  store::ResourceSpec spec{.name = Interned("things")};
  store::Object::Origin origin{.key = {spec.name, part("namespace"), part("name")},
                               .revision = store::Revision{revision},
                               .createRevision = store::Revision{1},
                               .expireAt = std::nullopt};
  auto body = std::make_shared<const std::string>(std::move(text));
  auto object = store::Object::make(std::move(origin), std::move(body), spec, doc);
  EXPECT_TRUE(object.has_value()) << (object ? "" : object.error().text());
  return object ? *object : nullptr;
}

inline store::ObjectPtr stored(std::string_view text, uint64_t revision = 7) {
  return storedText(json::write(yaml(text)), revision);
}

// The cells of one object as JSON text; name and age can be left to others.
inline std::string cellsOf(const KindInfo& kind, const json::Value& object) {
  json::Doc doc;
  auto view = doc.parse(json::write(object));
  std::string out;
  Cells cells(out);
  printerFor(kind)->cells(TableRow{*view, noon()}, cells);
  cells.end();
  return out;
}

}  // namespace mangrove::apiserver::fixture
