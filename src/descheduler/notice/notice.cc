#include "descheduler/notice/notice.h"

#include <algorithm>

#include "base/text/strings.h"

namespace mangrove::descheduler {
namespace {

constexpr size_t kLongest = 300;  // of a sentence

std::string cut(const std::string& text) {
  if (text.size() <= kLongest) return text;
  size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

std::string textAt(const json::Object& object, std::string_view key) {
  const json::Value* found = object.if_contains(key);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

}  // namespace

json::Object noticeData(const std::map<std::string, std::string>& refused) {
  json::Array list;
  for (const auto& [pod, why] : refused) {
    if (list.size() == kMostInNotice) break;
    list.push_back(json::Object{{"pod", pod}, {"why", cut(why)}});
  }
  return {{"stays", json::write(list)}, {"count", std::to_string(refused.size())}};
}

Notice noticeOf(const std::map<std::string, std::string>& data) {
  Notice out;
  const auto text = data.find("stays");
  const auto list =
      text == data.end() ? Result<json::Value>(json::Value()) : json::parse(text->second);
  if (!list || !list->is_array()) return out;
  for (const json::Value& entry : list->get_array()) {
    if (!entry.is_object()) continue;
    Stays one{textAt(entry.get_object(), "pod"), textAt(entry.get_object(), "why")};
    if (!one.pod.empty()) out.stays.push_back(std::move(one));
  }
  const auto count = data.find("count");
  out.count = count == data.end() ? 0 : parseInt<size_t>(count->second).value_or(0);
  out.count = std::max(out.count, out.stays.size());
  return out;
}

}  // namespace mangrove::descheduler
