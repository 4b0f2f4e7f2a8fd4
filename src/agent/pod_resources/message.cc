#include "agent/pod_resources/message.h"

#include <algorithm>
#include <optional>

#include "agent/devices/inventory.h"
#include "api/wire/names.h"

namespace mangrove::agent {
namespace {

enum : uint32_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

struct Field {
  uint32_t number = 0;
  uint32_t type = 0;
  std::string_view content;  // of a length-delimited one
  std::string_view whole;    // with its tag
};

std::optional<uint64_t> takeVarint(std::string_view& text) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !text.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(text.front());
    text.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return std::nullopt;
}

bool skip(std::string_view& text, uint64_t size) {
  if (size > text.size()) return false;
  text.remove_prefix(size);
  return true;
}

// The next field; nullopt when the text is no message.
std::optional<Field> takeField(std::string_view& text) {
  const std::string_view begin = text;
  const auto tag = takeVarint(text);
  if (!tag || *tag >> 3 == 0 || *tag >> 3 > 0x1fffffff) return std::nullopt;
  Field field{static_cast<uint32_t>(*tag >> 3), static_cast<uint32_t>(*tag & 7), {}, {}};
  if (field.type == kVarint && !takeVarint(text)) return std::nullopt;
  if (field.type == kFixed64 && !skip(text, 8)) return std::nullopt;
  if (field.type == kFixed32 && !skip(text, 4)) return std::nullopt;
  if (field.type == kLength) {
    const auto size = takeVarint(text);
    if (!size || *size > text.size()) return std::nullopt;
    field.content = text.substr(0, *size);
    skip(text, *size);
  } else if (field.type != kVarint && field.type != kFixed64 && field.type != kFixed32) {
    return std::nullopt;
  }
  field.whole = begin.substr(0, begin.size() - text.size());
  return field;
}

void appendVarint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

// Copies a message field by field; `change` may write something else instead of one.
template <class Change>
Result<std::string> rewritten(std::string_view message, Change change) {
  std::string out;
  while (!message.empty()) {
    const auto field = takeField(message);
    if (!field) return invalid("pod resources: not a message");
    auto ok = change(*field, out);
    if (!ok) return pass(ok.error());
    if (!*ok) out += field->whole;
  }
  return out;
}

std::string containerWith(std::string_view container, const AddedDevices& devices) {
  std::string out(container);
  for (const auto& [resource, ids] : devices) {
    std::string one;
    appendField(one, 1, resource);
    for (const std::string& id : ids) appendField(one, 2, id);
    appendField(out, 2, one);
  }
  return out;
}

std::string_view nameIn(std::string_view message) {
  while (!message.empty()) {
    const auto field = takeField(message);
    if (!field) break;
    if (field->type == kLength && field->number == 1) return field->content;
  }
  return {};
}

struct PodHead {
  std::string_view name, ns;
  std::vector<std::string_view> containers;
};

Result<PodHead> headOf(std::string_view pod) {
  PodHead out;
  while (!pod.empty()) {
    const auto field = takeField(pod);
    if (!field) return invalid("pod resources: a pod is not a message");
    if (field->type != kLength) continue;
    if (field->number == 1) out.name = field->content;
    if (field->number == 2) out.ns = field->content;
    if (field->number == 3) out.containers.push_back(nameIn(field->content));
  }
  return out;
}

Result<std::string> podWith(std::string_view pod, const FindDevices& find) {
  const auto head = headOf(pod);
  if (!head) return pass(head.error());
  const PodDevices added = find(head->ns, head->name);
  if (added.devices.empty()) return std::string(pod);
  const auto& names = head->containers;
  const auto asked = std::find(names.begin(), names.end(), added.container);
  const auto target = asked == names.end() ? 0 : asked - names.begin();
  std::ptrdiff_t index = -1;
  return rewritten(pod, [&](const Field& field, std::string& out) -> Result<bool> {
    if (field.number != 3 || field.type != kLength || ++index != target) return false;
    appendField(out, 3, containerWith(field.content, added.devices));
    return true;
  });
}

bool isDevice(std::string_view resource) {
  return resource == api::resource::kRdma || resource.find("gpu") != std::string_view::npos;
}

bool asksForDevices(const api::Container& container) {
  for (const auto* list : {&container.requests, &container.limits})
    for (const auto& one : *list)
      if (isDevice(one.name.view())) return true;
  return false;
}

}  // namespace

void appendField(std::string& message, uint32_t number, std::string_view content) {
  appendVarint(message, number << 3 | kLength);
  appendVarint(message, content.size());
  message += content;
}

std::string deviceContainer(const api::PodSpec& spec) {
  std::string found;
  for (const api::Container& container : spec.containers) {
    if (!asksForDevices(container)) continue;
    if (!found.empty()) return "";
    found = container.name.str();
  }
  return found;
}

AddedDevices devicesOf(const api::DeviceAllocations& allocations) {
  AddedDevices out;
  for (const auto& [type, list] : allocations) {
    const std::string resource(type == kTypeGpu    ? api::resource::kNvidiaGpu
                               : type == kTypeRdma ? api::resource::kRdma
                                                   : std::string_view());
    if (resource.empty()) continue;
    for (const api::DeviceAllocation& one : list) {
      if (one.extension && !one.extension->vfs.empty())
        for (const auto& vf : one.extension->vfs) out[resource].push_back(vf.busId);
      else if (!one.id.empty())
        out[resource].push_back(one.id);
    }
  }
  return out;
}

Result<std::string> withDevices(std::string_view answer, const FindDevices& find) {
  return rewritten(answer, [&](const Field& field, std::string& out) -> Result<bool> {
    if (field.number != 1 || field.type != kLength) return false;
    auto pod = podWith(field.content, find);
    if (!pod) return pass(pod.error());
    appendField(out, 1, *pod);
    return true;
  });
}

}  // namespace mangrove::agent
