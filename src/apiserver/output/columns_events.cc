// Events, old style and new: both are stored in the core form.

#include <string>

#include <fmt/core.h>

#include "apiserver/output/age.h"
#include "apiserver/output/columns.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {

namespace {

constexpr Column kEventColumns[] = {
    {"Last Seen", "string", "Time since it happened last"},
    {"Type", "string", "Normal or Warning"},
    {"Reason", "string", "What happened, in one word"},
    {"Object", "string", "To what it happened"},
    {"Subobject", "string", "To which part of that", 1},
    {"Source", "string", "Who says so", 1},
    {"Message", "string", "What happened, in a sentence"},
    {"First Seen", "string", "Time since it happened first", 1},
    {"Count", "string", "How often it happened", 1},
    {"Name", "string", "Name of the event itself", 1, "name"},
};

std::string sourceText(const TableRow& row) {
  const json::View source = row.object["source"];
  std::string_view component = textOf(source["component"]);
  if (component.empty()) component = textOf(row.object["reportingComponent"]);
  std::string_view host = textOf(source["host"]);
  if (host.empty()) host = textOf(row.object["reportingInstance"]);
  return host.empty() ? std::string(component) : fmt::format("{}, {}", component, host);
}

std::string objectText(json::View involved) {
  const std::string kind = lower(textOf(involved["kind"]));
  const std::string_view name = textOf(involved["name"]);
  return name.empty() ? kind : fmt::format("{}/{}", kind, name);
}

std::string firstSeen(const TableRow& row) {
  const std::string age = ageSince(row.object["firstTimestamp"], row.now);
  return age == kUnknown ? ageSince(row.object["eventTime"], row.now) : age;
}

std::string lastSeen(const TableRow& row) {
  const json::View series = row.object["series"];
  if (series.isObject()) return ageSince(series["lastObservedTime"], row.now);
  const std::string age = ageSince(row.object["lastTimestamp"], row.now);
  return age == kUnknown ? firstSeen(row) : age;
}

int64_t countOf(const TableRow& row) {
  const json::View series = row.object["series"];
  const int64_t count = intOf(series.isObject() ? series["count"] : row.object["count"]);
  return count == 0 ? 1 : count;
}

void eventCells(const TableRow& row, Cells& out) {
  const json::View involved = row.object["involvedObject"];
  out.text(lastSeen(row));
  out.text(textOf(row.object["type"]));
  out.text(textOf(row.object["reason"]));
  out.text(objectText(involved));
  out.text(textOf(involved["fieldPath"]));
  out.text(sourceText(row));
  out.text(trim(textOf(row.object["message"])));
  out.text(firstSeen(row));
  out.number(countOf(row));
  out.text(row.name());
}

constexpr TableKind kTables[] = {{"", "Event", kEventColumns, &eventCells}};

}  // namespace

std::span<const TableKind> eventTables() {
  return kTables;
}

}  // namespace mangrove::apiserver
