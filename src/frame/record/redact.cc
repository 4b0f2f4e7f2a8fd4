#include "frame/record/redact.h"

#include "json/value.h"

namespace mangrove::frame::record {
namespace {

void blank(json::Value& object) {
  if (!object.is_object()) return;
  json::Object& members = object.get_object();
  for (const char* name : {"data", "stringData"})
    if (auto* values = members.if_contains(name); values && values->is_object())
      for (auto& member : values->get_object()) member.value() = kRedacted;
  // What kubectl apply leaves behind has the values once more.
  if (auto* meta = members.if_contains("metadata"); meta && meta->is_object())
    if (auto* notes = meta->get_object().if_contains("annotations"); notes && notes->is_object())
      for (auto& member : notes->get_object()) member.value() = kRedacted;
  if (auto* event = members.if_contains("object")) blank(*event);
  if (auto* items = members.if_contains("items"); items && items->is_array())
    for (auto& item : items->get_array()) blank(item);
}

std::string lineWithoutSecrets(std::string_view line) {
  auto value = json::parse(line);
  if (!value) return "\"" + std::string(kRedacted) + "\"";
  blank(*value);
  return json::write(*value);
}

}  // namespace

bool isSecret(const api::Kind& kind) {
  return kind.kind == "Secret" || kind.kind == "TokenReview" || kind.kind == "TokenRequest";
}

bool isSecret(const client::Request& request) {
  return isSecret(request.ref.kind) || request.ref.subresource == "token";
}

std::string withoutSecrets(std::string_view lines) {
  std::string out;
  while (!lines.empty()) {
    const size_t end = lines.find('\n');
    const std::string_view line = lines.substr(0, end);
    if (!line.empty()) out += lineWithoutSecrets(line);
    if (end == std::string_view::npos) break;
    out += '\n';
    lines.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace mangrove::frame::record
