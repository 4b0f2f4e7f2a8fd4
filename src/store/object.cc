#include "store/object.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text/strings.h"

namespace mangrove::store {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

// Sorted by key; of a key that comes twice the later one counts, as everywhere in this tree.
std::vector<Pair> sortedTexts(json::View object) {
  std::vector<Pair> pairs;
  for (auto [key, value] : object.members())
    if (auto text = value.string()) pairs.emplace_back(key, *text);
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.first < b.first; });
  std::reverse(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end(),
                          [](const Pair& a, const Pair& b) { return a.first == b.first; }),
              pairs.end());
  std::reverse(pairs.begin(), pairs.end());
  return pairs;
}

void packLabels(json::View metadata, std::string& out) {
  for (auto [key, value] : sortedTexts(metadata["labels"])) {
    packText(out, key);
    packText(out, value);
  }
}

void packOwners(json::View metadata, std::string& out) {
  for (json::View owner : metadata["ownerReferences"].elements())
    if (auto uid = owner["uid"].string(); uid && !uid->empty()) packText(out, *uid);
}

std::string scalarText(json::View value) {
  if (auto text = value.string()) return std::string(*text);
  if (auto flag = value.boolean()) return *flag ? "true" : "false";
  return value.numberText();
}

}  // namespace

std::string pathOf(std::string_view ns, std::string_view name) {
  std::string path;
  path.reserve(ns.size() + name.size() + 1);
  path.append(ns);
  if (!ns.empty()) path.push_back('/');
  return path.append(name);
}

std::string keyText(const Key& key) {
  return fmt::format("{} {}", key.resource.view(), pathOf(key.ns, key.name));
}

// Neither resources nor namespaces have a blank or a slash in them; names of objects have no slash.
Key keyOf(std::string_view keyText) {
  const size_t blank = keyText.find(' ');
  const std::string_view path = keyText.substr(blank + 1);
  const size_t slash = path.find('/');
  Key out;
  out.resource = Interned(keyText.substr(0, blank));
  if (slash != std::string_view::npos) out.ns = std::string(path.substr(0, slash));
  out.name = std::string(path.substr(slash == std::string_view::npos ? 0 : slash + 1));
  return out;
}

std::string readField(const FieldSpec& field, json::View object) {
  if (field.read) return field.read(object);
  json::View at = object;
  for (std::string_view step : split(field.name, '.')) at = at[step];
  return scalarText(at);
}

Result<ObjectPtr> Object::make(Origin origin, Body body, const ResourceSpec& spec, json::Doc& doc) {
  auto root = body ? doc.parse(*body) : Result<json::View>(invalid("no bytes"));
  if (!root) return root.error().in("{}", keyText(origin.key));
  if (!root->isObject()) return invalid("{}: want a JSON object", keyText(origin.key));
  const json::View metadata = (*root)["metadata"];

  std::string packed = pathOf(origin.key.ns, origin.key.name);
  std::shared_ptr<Object> object(new Object);
  object->pathBytes_ = static_cast<uint32_t>(packed.size());
  packed.append(metadata["uid"].string().value_or(""));
  object->labelsAt_ = static_cast<uint32_t>(packed.size());
  packLabels(metadata, packed);
  object->ownersAt_ = static_cast<uint32_t>(packed.size());
  packOwners(metadata, packed);
  object->fieldsAt_ = static_cast<uint32_t>(packed.size());
  for (const FieldSpec& field : spec.fields) packText(packed, readField(field, *root));
  packed.shrink_to_fit();

  object->packed_ = std::move(packed);
  object->resource_ = origin.key.resource;
  object->nsBytes_ = static_cast<uint32_t>(origin.key.ns.size());
  object->revision_ = origin.revision;
  object->createRevision_ = origin.createRevision;
  object->expireAt_ = origin.expireAt;
  object->bytes_ = static_cast<uint32_t>(body->size());
  object->body_.store(std::move(body), std::memory_order_relaxed);
  return ObjectPtr(std::move(object));
}

Body Object::json() const {
  Body body = body_.load(std::memory_order_acquire);
  return body ? body : packedBody_.unpack();
}

void Object::pack(BodyPacker& packer) const {
  const Body body = body_.load(std::memory_order_relaxed);
  if (!body) return;
  PackedBody packed = packer.pack(*body);
  if (packed.empty()) return;
  packedBody_ = std::move(packed);
  body_.store(nullptr, std::memory_order_release);
}

PackedTexts Object::section(uint32_t from, uint32_t to) const {
  return PackedTexts(std::string_view(packed_).substr(from, to - from));
}

std::string_view Object::uid() const {
  return std::string_view(packed_).substr(pathBytes_, labelsAt_ - pathBytes_);
}

PackedPairs Object::labels() const {
  return PackedPairs(section(labelsAt_, ownersAt_));
}

PackedTexts Object::owners() const {
  return section(ownersAt_, fieldsAt_);
}

PackedTexts Object::fields() const {
  return section(fieldsAt_, static_cast<uint32_t>(packed_.size()));
}

}  // namespace mangrove::store
