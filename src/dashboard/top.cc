#include "dashboard/top.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/text/time_text.h"
#include "dashboard/rows.h"
#include "dashboard/top_quota.h"
#include "dashboard/top_table.h"

namespace mangrove::dashboard {
namespace {

constexpr std::array<char, kClasses.size()> kLetters = {'E', 'R', 'L', 'b', 's', '.'};
constexpr std::array<int, kClasses.size()> kColours = {34, 36, 32, 33, 35, 90};
// What reservations keep: no class uses it, and it is not free either.
constexpr char kReservedLetter = 'r';
constexpr int kReservedColour = 95;

// ---- texts -----------------------------------------------------------------------------------

std::string percentText(double share) {
  return fmt::format("{:.0f}%", 100 * share);
}

// ---- the head --------------------------------------------------------------------------------

double sum(const json::Array& rows, std::initializer_list<std::string_view> path) {
  double total = 0;
  for (const auto& row : rows) total += amount(row, path);
  return total;
}

// One letter per piece of the machine, so that it reads without colour too.
std::string classBar(const std::array<double, kClasses.size()>& values, double reserved,
                     double capacity, size_t width, bool colour) {
  std::string bar = "[";
  size_t used = 0;
  double before = 0;
  for (size_t i = 0; i <= values.size(); i++) {
    const bool isReserved = i == values.size();
    before += isReserved ? reserved : values[i];
    const auto end = static_cast<size_t>(std::llround(
        std::min(1.0, capacity > 0 ? before / capacity : 0) * static_cast<double>(width)));
    if (end <= used) continue;
    const std::string piece(end - used, isReserved ? kReservedLetter : kLetters[i]);
    const int shade = isReserved ? kReservedColour : kColours[i];
    bar += colour ? fmt::format("\x1b[{}m{}\x1b[0m", shade, piece) : piece;
    used = end;
  }
  return bar + std::string(width - used, ' ') + "]";
}

std::string headLine(const TopPicture& picture) {
  const double capacity = sum(picture.nodes, {"cpu", "capacity"});
  const double used = sum(picture.nodes, {"cpu", "used"});
  return fmt::format("mangrove top  {}  {} node{}  CPU {} of {} cores  memory {} of {}",
                     formatTime(picture.at).substr(11, 8), picture.nodes.size(),
                     picture.nodes.size() == 1 ? "" : "s",
                     percentText(capacity > 0 ? used / capacity : 0), coresText(capacity),
                     bytesText(sum(picture.nodes, {"memory", "used"})),
                     bytesText(sum(picture.nodes, {"memory", "capacity"})));
}

std::string budgetLine(const TopPicture& picture) {
  std::string line = fmt::format("batch for sale {} cores, asked {}",
                                 coresText(sum(picture.nodes, {"batchCpu", "total"})),
                                 coresText(sum(picture.nodes, {"batchCpu", "asked"})));
  if (const double kept = sum(picture.nodes, {"reserved", "batchCpu"}); kept > 0)
    line += fmt::format(", reserved {}", coresText(kept));
  if (auto budget = number(picture.tick, {"budget"}))
    line += fmt::format(", BE may use {}", coresText(budget));
  const auto pressure = [&](std::string_view name) {
    const auto value = number(picture.tick, {"psi", name});
    return value ? percentText(*value) : std::string("-");
  };
  if (picture.tick.is_object())
    line += fmt::format("  pressure: CPU {}, memory {}, disk {}", pressure("cpu"),
                        pressure("memory"), pressure("io"));
  return line;
}

std::vector<std::string> head(const TopPicture& picture, const TopView& view) {
  std::array<double, kClasses.size()> values{};
  std::string legend;
  for (size_t i = 0; i < kClasses.size(); i++) {
    values[i] = sum(picture.nodes, {"cpu", "classes", kClasses[i]});
    legend += fmt::format("{}={} {}  ", kLetters[i], kClasses[i], coresText(values[i]));
  }
  const double reserved = sum(picture.nodes, {"reserved", "cpu"});
  if (reserved > 0) legend += fmt::format("{}=reserved {}", kReservedLetter, coresText(reserved));
  std::vector<std::string> lines;
  lines.push_back(bold(fit(headLine(picture), static_cast<size_t>(view.width)), view.colour));
  lines.push_back(classBar(values, reserved, sum(picture.nodes, {"cpu", "capacity"}),
                           static_cast<size_t>(std::max(10, view.width - 2)), view.colour));
  lines.push_back(legend);
  lines.push_back(budgetLine(picture));
  if (!picture.decisions.empty())
    lines.push_back(fmt::format("last decision: {}: {}", text(picture.decisions[0], "owner"),
                                text(picture.decisions[0], "why")));
  if (!picture.trouble.empty()) lines.push_back("! " + picture.trouble);
  return lines;
}

// ---- tables ----------------------------------------------------------------------------------

const std::vector<Column> kNodeColumns = {
    {"NODE", 0, false},   {"READY", 5, false}, {"CPU", 5, true}, {"CORES", 12, true},
    {"MEMORY", 13, true}, {"BATCH", 12, true}, {"PODS", 5, true}};
// Where there are reservations: how many cores they keep that nobody has taken.
const std::vector<Column> kReservingColumns = [] {
  std::vector<Column> out = kNodeColumns;
  out.insert(out.end() - 1, {"RSVD", 6, true});
  return out;
}();
std::vector<std::string> nodeCells(const json::Value& node) {
  const double capacity = amount(node, {"cpu", "capacity"});
  const json::Value* ready = at(node, {"ready"});
  return {text(node, "name"),
          ready && ready->is_bool() && ready->as_bool() ? "yes" : "NO",
          capacity > 0 ? percentText(amount(node, {"cpu", "used"}) / capacity) : "-",
          fmt::format("{}/{}", coresText(number(node, {"cpu", "used"})), coresText(capacity)),
          fmt::format("{}/{}", bytesText(number(node, {"memory", "used"})),
                      bytesText(number(node, {"memory", "capacity"}))),
          fmt::format("{}/{}", coresText(number(node, {"batchCpu", "asked"})),
                      coresText(number(node, {"batchCpu", "total"}))),
          fmt::format("{:.0f}", amount(node, {"pods"}))};
}

std::vector<std::string> reservingCells(const json::Value& node) {
  std::vector<std::string> out = nodeCells(node);
  out.insert(out.end() - 1, coresText(number(node, {"reserved", "cpu"})));
  return out;
}
bool isReserving(const json::Array& nodes) {
  return std::ranges::any_of(nodes, [](const json::Value& node) { return at(node, {"reserved"}); });
}

const std::vector<Column> kPodColumns = {{"POD", 0, false}, {"QOS", 6, false},  {"PHASE", 9, false},
                                         {"CPU", 6, true},  {"LIMIT", 6, true}, {"MEMORY", 7, true},
                                         {"LIMIT", 7, true}};
std::vector<std::string> podCells(const json::Value& pod) {
  return {text(pod, "key"),
          text(pod, "qos"),
          text(pod, "phase"),
          coresText(number(pod, {"cpu", "used"})),
          coresText(number(pod, {"cpu", "limit"})),
          bytesText(number(pod, {"memory", "used"})),
          bytesText(number(pod, {"memory", "limit"}))};
}

// Highest first; by name from the beginning. Equal ones by name.
json::Array sorted(json::Array rows, TopSort by, std::string_view nameField) {
  auto weight = [&](const json::Value& value) {
    if (by == TopSort::kName) return 0.0;
    return number(value, {by == TopSort::kCpu ? "cpu" : "memory", "used"}).value_or(-1);
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const json::Value& a, const json::Value& b) {
    if (weight(a) != weight(b)) return weight(a) > weight(b);
    return text(a, nameField) < text(b, nameField);
  });
  return rows;
}

// Below the pod of a NodeManager the applications of YARN that run in it.
json::Array withApplications(const json::Array& pods) {
  json::Array out;
  for (const json::Value& pod : pods) {
    out.push_back(pod);
    const json::Value* applications = at(pod, {"yarn"});
    if (applications == nullptr || !applications->is_array()) continue;
    for (const json::Value& one : applications->get_array())
      out.push_back(
          json::Object{{"key", "  " + text(one, "application")},
                       {"qos", text(pod, "qos")},
                       {"phase", fmt::format("{:.0f} cont.", amount(one, {"containers"}))},
                       {"cpu", json::Object{{"used", amount(one, {"milliCpu"}) / 1000}}},
                       {"memory", json::Object{{"used", amount(one, {"memory"})}}}});
  }
  return out;
}

json::Array podLines(const TopPicture& picture, const TopView& view) {
  return withApplications(sorted(picture.pods, view.sort, "key"));
}

std::vector<std::string> nodeTable(const json::Array& nodes, const TopView& view, size_t most,
                                   size_t skip) {
  const json::Array rows = sorted(nodes, view.sort, "name");
  return isReserving(nodes) ? tableOf(rows, kReservingColumns, reservingCells, view, most, skip)
                            : tableOf(rows, kNodeColumns, nodeCells, view, most, skip);
}

// A coloured line keeps its codes, every other one is cut at the edge.
std::string clipped(std::string line, size_t width) {
  return line.find('\x1b') != std::string::npos || line.size() <= width ? line : fit(line, width);
}

void append(std::vector<std::string>& lines, std::vector<std::string> more) {
  std::move(more.begin(), more.end(), std::back_inserter(lines));
}

}  // namespace

std::vector<std::string> renderTop(const TopPicture& picture, const TopView& view) {
  std::vector<std::string> lines = head(picture, view);
  lines.emplace_back();
  const auto height = static_cast<size_t>(std::max(view.height, 1));
  size_t room = height > lines.size() + 5 ? height - lines.size() - 5 : 1;
  if (view.byQuota) {
    append(lines, quotaLines(picture, view, room));
  } else if (!view.podsOnly) {
    const size_t nodes = std::min(picture.nodes.size(), std::max<size_t>(1, room / 3));
    append(lines, nodeTable(picture.nodes, view, nodes, 0));
    lines.emplace_back();
    room = height > lines.size() + 2 ? height - lines.size() - 2 : 1;
  }
  if (!view.byQuota)
    append(lines, tableOf(podLines(picture, view), kPodColumns, podCells, view, room, view.skip));
  lines.resize(std::min(lines.size(), height - 1));
  while (lines.size() < height - 1) lines.emplace_back();
  lines.emplace_back("q quit  c m n sort by CPU, memory, name  p pods only  u quotas  j k scroll");
  for (auto& line : lines) line = clipped(std::move(line), static_cast<size_t>(view.width));
  return lines;
}

std::string printTop(const TopPicture& picture, const TopView& view) {
  std::vector<std::string> lines = head(picture, view);
  lines.emplace_back();
  constexpr size_t kAll = std::numeric_limits<size_t>::max() / 2;
  if (view.byQuota) {
    append(lines, quotaLines(picture, view, kAll));
    return fmt::format("{}\n", fmt::join(lines, "\n"));
  }
  append(lines, nodeTable(picture.nodes, view, kAll, 0));
  lines.emplace_back();
  append(lines, tableOf(podLines(picture, view), kPodColumns, podCells, view, kAll, 0));
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

bool turnKey(char key, const TopPicture& picture, TopView& view) {
  switch (key) {
    case 'c':
      view.sort = TopSort::kCpu;
      return true;
    case 'm':
      view.sort = TopSort::kMemory;
      return true;
    case 'n':
      view.sort = TopSort::kName;
      return true;
    case 'p':
      view.podsOnly = !view.podsOnly;
      return true;
    case 'u':
      view.byQuota = !view.byQuota;
      view.skip = 0;
      return true;
    case 'j': {
      const size_t rows = view.byQuota ? picture.quotas.size() : picture.pods.size();
      view.skip = std::min(view.skip + 1, rows == 0 ? 0 : rows - 1);
      return true;
    }
    case 'k':
      view.skip -= view.skip > 0 ? 1 : 0;
      return true;
    default:
      return false;
  }
}

}  // namespace mangrove::dashboard
