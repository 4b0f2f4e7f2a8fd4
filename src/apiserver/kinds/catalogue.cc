#include "apiserver/kinds/catalogue.h"

#include <algorithm>

#include "apiserver/kinds/kind_assets.h"
#include "apiserver/kinds/kind_table.h"
#include "apiserver/kinds/rules.h"
#include "base/check.h"

namespace mangrove::apiserver {

namespace {

std::string joined(std::string_view group, std::string_view version) {
  return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
}

}  // namespace

std::string KindInfo::apiVersion() const {
  return joined(group, version);
}

std::string KindInfo::storedApiVersion() const {
  return storage ? apiVersion() : joined(storedGroup, storedVersion);
}

std::string KindInfo::groupResource() const {
  return group.empty() ? std::string(plural) : std::string(plural) + "." + std::string(group);
}

std::string KindInfo::groupKind() const {
  return group.empty() ? std::string(kind) : std::string(kind) + "." + std::string(group);
}

bool KindInfo::can(std::string_view verb) const {
  return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
}

const Subresource* KindInfo::subresource(std::string_view name) const {
  for (const Subresource& sub : subresources)
    if (sub.name == name) return &sub;
  return nullptr;
}

Catalogue::Catalogue(Kinds kinds, std::shared_ptr<SchemaSet> set, Types types)
    : kinds_(std::move(kinds)), set_(std::move(set)), types_(std::move(types)) {
  std::sort(types_.begin(), types_.end());
}

const KindInfo* Catalogue::find(std::string_view group, std::string_view version,
                                std::string_view kind) const {
  for (const auto& one : kinds_)
    if (one->kind == kind && one->group == group && one->version == version) return one.get();
  return nullptr;
}

const KindInfo* Catalogue::findPlural(std::string_view group, std::string_view version,
                                      std::string_view plural) const {
  for (const auto& one : kinds_)
    if (one->plural == plural && one->group == group && one->version == version) return one.get();
  return nullptr;
}

const Schema* Catalogue::type(std::string_view name) const {
  auto at = std::lower_bound(types_.begin(), types_.end(), name,
                             [](const auto& entry, std::string_view n) { return entry.first < n; });
  return at != types_.end() && at->first == name ? at->second : nullptr;
}

namespace {

Catalogue readBuiltIn() {
  std::vector<TableFile> files;
  for (const Asset& asset : kindTableAssets()) files.push_back({asset.name, asset.bytes});
  auto tables = readKindTables(files);
  // The tables are part of the program: an error in them is a bug of ours, found by every test.
  CHECK(tables.has_value(), "{}", tables ? "" : tables.error().text());
  Catalogue::Kinds kinds;
  for (const auto& kind : tables->kinds) {
    kind->rules = rulesOf(kind->group, kind->version, kind->kind);
    kinds.push_back(kind);
  }
  Catalogue::Types types;
  for (const NamedType& type : tables->types) types.emplace_back(type.name, type.schema);
  return Catalogue(std::move(kinds), tables->set, std::move(types));
}

}  // namespace

const Catalogue& catalogue() {
  static const Catalogue builtIn = readBuiltIn();
  return builtIn;
}

}  // namespace mangrove::apiserver
