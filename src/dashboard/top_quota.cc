#include "dashboard/top_quota.h"

#include <algorithm>

#include <fmt/format.h>

#include "dashboard/top_table.h"

namespace mangrove::dashboard {
namespace {

const std::vector<Column> kNarrow = {
    {"QUOTA", 0, false},  {"WAIT", 4, true}, {"RESOURCE", 8, false}, {"USED", 7, true},
    {"MAY USE", 7, true}, {"MIN", 7, true},  {"MAX", 7, true},       {"BORROWS", 7, true}};
const std::vector<Column> kWide = {{"QUOTA", 0, false},     {"PODS", 5, true}, {"WAIT", 5, true},
                                   {"RESOURCE", 20, false}, {"USED", 8, true}, {"MAY USE", 8, true},
                                   {"MIN", 8, true},        {"MAX", 8, true},  {"ASKED", 8, true},
                                   {"BORROWS", 8, true},    {"", 12, false}};
constexpr int kWideFrom = 120;  // columns of the terminal
constexpr size_t kBar = 10;

std::string shown(const json::Value& resource, std::optional<double> value) {
  if (!value) return "-";
  const std::string kind = text(resource, "name");
  if (kind == "cpu") return coresText(value);
  if (kind.find("memory") != std::string::npos || kind.find("storage") != std::string::npos)
    return bytesText(value);
  return fmt::format("{:.0f}", *value);
}

// What is used of what may be used, with a mark at the minimum.
std::string barOf(const json::Value& resource) {
  const double may = std::max(amount(resource, {"runtime"}), amount(resource, {"used"}));
  if (may <= 0) return "";
  const auto at = [&](std::string_view name) {
    const double part = std::clamp(amount(resource, {name}) / may, 0.0, 1.0);
    return static_cast<size_t>(part * kBar + 0.5);
  };
  std::string bar = std::string(at("used"), '#') + std::string(kBar - at("used"), '.');
  if (const size_t mark = at("min"); mark < kBar) bar[mark] = '|';
  return "[" + bar + "]";
}

// Rows of one resource each: the quota's own members beside the resource's.
json::Array flat(const json::Array& quotas) {
  json::Array out;
  for (const json::Value& quota : quotas) {
    const json::Value* resources = at(quota, {"resources"});
    bool first = true;
    if (resources == nullptr || !resources->is_array()) continue;
    for (const json::Value& resource : resources->as_array()) {
      json::Object line{{"resource", resource}};
      if (first) line["quota"] = quota;
      first = false;
      out.push_back(std::move(line));
    }
  }
  return out;
}

std::string nameOf(const json::Value* quota) {
  if (quota == nullptr) return "";
  return std::string(static_cast<size_t>(2 * amount(*quota, {"depth"})), ' ') +
         text(*quota, "name");
}
std::string countOf(const json::Value* quota, std::string_view what) {
  return quota ? fmt::format("{:.0f}", amount(*quota, {what})) : std::string();
}
std::string cell(const json::Value& resource, std::string_view what) {
  const auto value = number(resource, {what});
  if (what == "borrows" && value.value_or(0) <= 0) return "-";
  return shown(resource, value);
}

std::vector<std::string> narrowCells(const json::Value& line) {
  const json::Value* quota = at(line, {"quota"});
  const json::Value& resource = *at(line, {"resource"});
  return {nameOf(quota),          countOf(quota, "waiting"), text(resource, "name"),
          cell(resource, "used"), cell(resource, "runtime"), cell(resource, "min"),
          cell(resource, "max"),  cell(resource, "borrows")};
}

std::vector<std::string> wideCells(const json::Value& line) {
  const json::Value* quota = at(line, {"quota"});
  const json::Value& resource = *at(line, {"resource"});
  return {nameOf(quota),
          countOf(quota, "running"),
          countOf(quota, "waiting"),
          text(resource, "name"),
          cell(resource, "used"),
          cell(resource, "runtime"),
          cell(resource, "min"),
          cell(resource, "max"),
          cell(resource, "asked"),
          cell(resource, "borrows"),
          barOf(resource)};
}

std::string loanLine(const json::Value& loan) {
  const json::Object as{{"name", text(loan, "resource")}};
  const std::string lender = text(loan, "lender"), since = text(loan, "since");
  return fmt::format("{} borrows {} of {} from {}{}", text(loan, "borrower"),
                     shown(as, number(loan, {"amount"})), text(loan, "resource"),
                     lender.empty() ? "what nobody's minimum covers" : lender,
                     since.empty() ? "" : ", since " + since);
}

}  // namespace

std::vector<std::string> quotaLines(const TopPicture& picture, const TopView& view, size_t most) {
  if (picture.quotas.empty()) return {"no quotas here: there is no ElasticQuota"};
  const json::Array rows = flat(picture.quotas);
  const size_t loans = std::min(picture.loans.size(), most / 3 + 1);
  const size_t room = most > loans + 1 ? most - loans - 1 : 1;
  std::vector<std::string> lines = view.width < kWideFrom
                                       ? tableOf(rows, kNarrow, narrowCells, view, room, view.skip)
                                       : tableOf(rows, kWide, wideCells, view, room, view.skip);
  if (!picture.loans.empty()) lines.emplace_back();
  for (const json::Value& loan : picture.loans) lines.push_back(loanLine(loan));
  return lines;
}

}  // namespace mangrove::dashboard
