#include "placement/intake/watched_pod.h"

#include <bit>

#include "placement/intake/transform.h"

namespace mangrove::placement {

namespace {

void addBytes(const void* bytes, size_t size, std::string& out) {
  out.append(static_cast<const char*>(bytes), size);
}

void addText(std::string_view text, std::string& out) {
  const auto size = static_cast<uint32_t>(text.size());
  addBytes(&size, sizeof size, out);
  out.append(text);
}

void addNumber(json::View view, std::string& out) {
  const uint64_t bits = view.integer() ? static_cast<uint64_t>(*view.integer())
                        : view.unsignedInteger()
                            ? *view.unsignedInteger()
                            : std::bit_cast<uint64_t>(view.number().value_or(0));
  addBytes(&bits, sizeof bits, out);
}

// The value in a form that is quick to write and the same for no other value: kinds and lengths
// come before what they announce. Recursion is bounded by the depth limit of the document.
void add(json::View view, std::string& out) {
  const json::Type type = view.type();
  out += static_cast<char>('a' + static_cast<int>(type));
  switch (type) {
    case json::Type::kString:
      return addText(*view.string(), out);
    case json::Type::kBool:
      out += *view.boolean() ? '1' : '0';
      return;
    case json::Type::kInt:
    case json::Type::kUint:
    case json::Type::kDouble:
      return addNumber(view, out);
    case json::Type::kArray:
      for (json::View element : view.elements()) add(element, out);
      break;
    case json::Type::kObject:
      for (auto [key, value] : view.members()) {
        out += '.';
        addText(key, out);
        add(value, out);
      }
      break;
    default:
      return;
  }
  out += ';';  // of an array or an object
}

template <class T>
bool readMember(const api::In& in, std::string_view key, json::View value, T& out) {
  return !value.exists() || value.isNull() || read(in.member(key, value), out);
}

// All but the spec.
bool readRest(const api::In& in, json::View spec, api::Pod& out) {
  const api::In inside = in.member("spec", spec);
  return readMember(in, "metadata", in.view["metadata"], out.meta) &&
         readMember(inside, "nodeName", spec["nodeName"], out.nodeName) &&
         readMember(in, "status", in.view["status"], out.status);
}

}  // namespace

const api::Shared<api::PodSpec>* SpecMemo::find(json::View spec) {
  text_.clear();
  for (auto [key, value] : spec.members()) {
    if (key == "nodeName") continue;
    addText(key, text_);
    add(value, text_);
  }
  if (last_ && last_->first == text_) return &last_->second;
  const auto at = known_.find(std::string_view(text_));
  if (at == known_.end()) return nullptr;
  last_ = &*at;
  return &last_->second;
}

void SpecMemo::put(const api::Shared<api::PodSpec>& spec) {
  if (known_.size() >= kMost) known_.clear();
  last_ = &*known_.insert_or_assign(text_, spec).first;
}

bool read(const api::In& in, WatchedPod& out) {
  thread_local SpecMemo memo;
  const json::View spec = in.view["spec"];
  api::Pod& pod = out;
  if (const auto* known = spec.isObject() ? memo.find(spec) : nullptr) {
    pod.spec = *known;
    return readRest(in, spec, pod);
  }
  if (!read(in, pod)) return false;
  transformPod(pod);
  if (spec.isObject()) memo.put(pod.spec);
  return true;
}

}  // namespace mangrove::placement
