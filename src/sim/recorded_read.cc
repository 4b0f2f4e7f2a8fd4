// From the files of a recording to what was seen in them.
#include <algorithm>
#include <map>
#include <string>

#include "frame/record/entry_file.h"
#include "frame/record/ring_file.h"
#include "sim/recorded.h"

namespace mangrove::sim {
namespace {

using frame::record::Entry;
using frame::record::Mark;

// "GET /api/v1/namespaces/x/pods?limit=500" → "pods"; a single object: "". So are pods that were asked
// for by labels or fields: who is not among them, or leaves them, need not be gone.
std::string pluralOf(std::string_view text) {
  std::string_view path = text.substr(0, text.find('\n'));
  path.remove_prefix(std::min(path.find(' ') + 1, path.size()));
  const std::string_view query = path.substr(std::min(path.find('?'), path.size()));
  path = path.substr(0, path.find('?'));
  if (path.ends_with("/pods") && query.find("Selector=") != std::string_view::npos) return "";
  for (std::string_view plural : {"pods", "nodes", "nodemetrics", "configmaps"})
    if (path.ends_with("/" + std::string(plural))) return std::string(plural);
  return "";
}

class Reading {
 public:
  explicit Reading(RecordedCluster& cluster) : cluster_(cluster) {}

  void take(const Entry& entry) {
    if (entry.mark == Mark::kSession && entry.id == 1) watches_.clear(), lists_.clear();
    if (entry.mark == Mark::kWatch) watches_[entry.id] = pluralOf(entry.body);
    if (entry.mark == Mark::kRequest && entry.body.starts_with("GET "))
      if (auto plural = pluralOf(entry.body); !plural.empty()) lists_[entry.id] = {plural, {}};
    if (entry.mark == Mark::kRequest)
      if (const auto list = lists_.find(entry.id); list != lists_.end())
        list->second.isPage = entry.body.find("continue=") != std::string::npos;
    if (entry.mark == Mark::kReply) reply(entry);
    if (entry.mark == Mark::kEvents) events(entry);
    if (!frame::record::isDecision(entry.mark)) cluster_.passes(entry.at.wall);
  }

 private:
  struct List {
    std::string plural;
    bool isPage = false;
  };

  void reply(const Entry& entry) {
    const auto list = lists_.find(entry.id);
    if (list == lists_.end()) return;
    const auto reply = frame::record::replyFrom(entry.body);
    const auto shown = reply ? doc_.parse(reply->body) : Result<json::View>(json::View());
    if (reply && shown) {
      const bool isWhole =
          !list->second.isPage && (*shown)["metadata"]["continue"].string().value_or("").empty();
      if (isWhole)
        cluster_.listed(list->second.plural, *shown, entry.at.wall);
      else
        for (const json::View item : (*shown)["items"].elements())
          cluster_.saw(list->second.plural, item, entry.at.wall);
    }
    lists_.erase(list);
  }

  void events(const Entry& entry) {
    const auto watch = watches_.find(entry.id);
    if (watch == watches_.end() || watch->second.empty()) return;
    std::string_view lines = entry.body;
    while (!lines.empty()) {
      const size_t end = std::min(lines.find('\n'), lines.size());
      if (const auto event = doc_.parse(lines.substr(0, end))) {
        const auto type = (*event)["type"].string().value_or("");
        if (type == "ADDED" || type == "MODIFIED")
          cluster_.saw(watch->second, (*event)["object"], entry.at.wall);
        if (type == "DELETED") cluster_.gone(watch->second, (*event)["object"], entry.at.wall);
      }
      lines.remove_prefix(std::min(end + 1, lines.size()));
    }
  }

  RecordedCluster& cluster_;
  json::Doc doc_;
  std::map<uint64_t, std::string> watches_;
  std::map<uint64_t, List> lists_;
};

}  // namespace

Result<> readRecording(const std::string& path, RecordedCluster& cluster) {
  const auto parts = frame::record::ringParts(path);
  if (parts.empty())
    return fail(Code::kNotFound, "{}: there is no recording {}.1, {}.2, …", path, path, path);
  Reading reading(cluster);
  for (const auto& part : parts) {
    const auto file = frame::record::EntryFile::open(part.file);
    if (!file) return pass(file.error());
    while (const auto entry = (*file)->next()) reading.take(*entry);
  }
  return {};
}

}  // namespace mangrove::sim
