#include "manager/controllers/noderesource/explain_age.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text/time_text.h"
#include "json/view.h"

namespace mangrove::manager {
namespace {

WallTime timeIn(json::View view) {
  const auto text = view.string();
  return text ? parseTime(*text).value_or(kZeroTime) : kZeroTime;
}

WallTime latestIn(json::View list, const char* member) {
  WallTime out = kZeroTime;
  for (json::View entry : list.elements()) out = std::max(out, timeIn(entry[member]));
  return out;
}

}  // namespace

ExplainSource sourceOf(std::string what, std::string_view object) {
  ExplainSource out{std::move(what), "", kZeroTime};
  json::Doc doc;
  const auto root = doc.parse(object);
  if (object.empty() || !root) return out;
  const json::View meta = (*root)["metadata"];
  out.version = meta["resourceVersion"].string().value_or("");
  out.changed =
      std::max({timeIn(meta["creationTimestamp"]), latestIn(meta["managedFields"], "time"),
                latestIn((*root)["status"]["conditions"], "lastHeartbeatTime")});
  return out;
}

std::string ExplainSource::text(WallTime now) const {
  if (changed == kZeroTime) return "there is none";
  const auto age = std::chrono::duration_cast<std::chrono::seconds>(now - changed);
  return fmt::format("version {}, changed {} ago", version, formatDuration(age));
}

}  // namespace mangrove::manager
