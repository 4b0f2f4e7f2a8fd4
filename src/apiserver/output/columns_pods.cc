// Pods: one word for what a pod is doing, from its phase and the states of its containers.

#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include "apiserver/output/age.h"
#include "apiserver/output/columns.h"
#include "base/text/time_text.h"

namespace mangrove::apiserver {

namespace {

constexpr Column kPodColumns[] = {
    kName,
    {"Ready", "string", "Containers that are ready, of all"},
    {"Status", "string", "What the pod is doing, or what keeps it from that"},
    {"Restarts", "string", "How often its containers were started again, and when last"},
    kAge,
    {"IP", "string", "Address of the pod", 1},
    {"Node", "string", "Where it runs", 1},
    {"Nominated Node", "string", "Where room is being made for it", 1},
    {"Readiness Gates", "string", "Extra conditions that hold, of all", 1},
};

// Restarts of some containers and when the last of them was.
struct Restarts {
  int64_t count = 0;
  std::optional<WallTime> last;

  void add(json::View container) {
    count += intOf(container["restartCount"]);
    auto text = container["lastState"]["terminated"]["finishedAt"].string();
    auto time = text ? parseTime(*text) : invalid("absent");
    if (time && (!last || *last < *time)) last = *time;
  }
};

std::string endText(json::View terminated) {
  const std::string_view reason = textOf(terminated["reason"]);
  if (!reason.empty()) return std::string(reason);
  const int64_t signal = intOf(terminated["signal"]);
  return signal != 0 ? fmt::format("Signal:{}", signal)
                     : fmt::format("ExitCode:{}", intOf(terminated["exitCode"]));
}

// The fields of a pod's row while they are gathered.
class PodSummary {
 public:
  explicit PodSummary(const TableRow& row) : row_(row) {
    total_ = static_cast<int64_t>(row.spec()["containers"].size());
    for (json::View c : row.spec()["initContainers"].elements())
      if (isSidecar(c)) ++total_;
    status_ = std::string(textOf(row.status()["phase"]));
    const std::string_view reason = textOf(row.status()["reason"]);
    if (!reason.empty()) status_ = std::string(reason);
    if (textOf(conditionOf(row.status(), "PodScheduled")["reason"]) == "SchedulingGated")
      status_ = "SchedulingGated";
    const bool initializing = readInitContainers();
    if (!initializing || conditionIsTrue(row.status(), "Initialized")) readContainers();
    readDeletion();
  }

  std::string ready() const { return fmt::format("{}/{}", ready_, total_); }
  const std::string& status() const { return status_; }
  std::string restarts() const {
    if (restarts_.count == 0 || !restarts_.last) return std::to_string(restarts_.count);
    return fmt::format("{} ({} ago)", restarts_.count, humanDuration(row_.now - *restarts_.last));
  }

 private:
  static bool isSidecar(json::View container) {
    return textOf(container["restartPolicy"]) == "Always";
  }
  bool isSidecarNamed(std::string_view name) const {
    for (json::View c : row_.spec()["initContainers"].elements())
      if (textOf(c["name"]) == name) return isSidecar(c);
    return false;
  }

  // True when one of them is not through yet; it then says why in status_.
  bool readInitContainers() {
    size_t index = 0;
    for (json::View c : row_.status()["initContainerStatuses"].elements()) {
      const bool sidecar = isSidecarNamed(textOf(c["name"]));
      restarts_.add(c);
      if (sidecar) sidecarRestarts_.add(c);
      const json::View terminated = c["state"]["terminated"];
      const bool done = terminated.isObject() && intOf(terminated["exitCode"]) == 0;
      const bool started = sidecar && flagOf(c["started"]);
      if (!done && started && flagOf(c["ready"])) ++ready_;
      if (!done && !started) {
        status_ = "Init:" + unfinishedText(c, index);
        return true;
      }
      ++index;
    }
    return false;
  }

  std::string unfinishedText(json::View container, size_t index) const {
    const json::View terminated = container["state"]["terminated"];
    if (terminated.isObject()) return endText(terminated);
    const std::string_view waiting = textOf(container["state"]["waiting"]["reason"]);
    if (!waiting.empty() && waiting != "PodInitializing") return std::string(waiting);
    return fmt::format("{}/{}", index, row_.spec()["initContainers"].size());
  }

  // The first container that has something to say wins.
  void readContainers() {
    restarts_ = sidecarRestarts_;
    bool running = false;
    std::string said;
    for (json::View c : row_.status()["containerStatuses"].elements()) {
      restarts_.add(c);
      const std::string_view waiting = textOf(c["state"]["waiting"]["reason"]);
      const json::View terminated = c["state"]["terminated"];
      std::string word;
      if (!waiting.empty()) {
        word = std::string(waiting);
      } else if (terminated.isObject()) {
        word = endText(terminated);
      } else if (flagOf(c["ready"]) && c["state"]["running"].isObject()) {
        running = true;
        ++ready_;
      }
      if (said.empty()) said = std::move(word);
    }
    if (!said.empty()) status_ = std::move(said);
    if (status_ == "Completed" && running)
      status_ = conditionIsTrue(row_.status(), "Ready") ? "Running" : "NotReady";
  }

  void readDeletion() {
    if (!row_.deleting()) return;
    const std::string_view phase = textOf(row_.status()["phase"]);
    if (textOf(row_.status()["reason"]) == "NodeLost")
      status_ = "Unknown";
    else if (phase != "Succeeded" && phase != "Failed")
      status_ = "Terminating";
  }

  const TableRow& row_;
  int64_t total_ = 0;
  int64_t ready_ = 0;
  std::string status_;
  Restarts restarts_, sidecarRestarts_;
};

std::string gatesText(const TableRow& row) {
  const json::View gates = row.spec()["readinessGates"];
  if (gates.size() == 0) return std::string(kNone);
  size_t open = 0;
  for (json::View gate : gates.elements())
    if (conditionIsTrue(row.status(), textOf(gate["conditionType"]))) ++open;
  return fmt::format("{}/{}", open, gates.size());
}

std::string_view addressOf(const TableRow& row) {
  const std::string_view first = textOf(row.status()["podIPs"].at(0)["ip"]);
  return first.empty() ? textOf(row.status()["podIP"]) : first;
}

void podCells(const TableRow& row, Cells& out) {
  const PodSummary summary(row);
  out.text(row.name());
  out.text(summary.ready());
  out.text(summary.status());
  out.text(summary.restarts());
  out.text(row.age());
  out.textOr(addressOf(row), kNone);
  out.textOr(textOf(row.spec()["nodeName"]), kNone);
  out.textOr(textOf(row.status()["nominatedNodeName"]), kNone);
  out.text(gatesText(row));
}

constexpr Column kTemplateColumns[] = {
    kName,
    {"Containers", "string", "Names of the containers"},
    {"Images", "string", "Images of the containers"},
    {"Pod Labels", "string", "Labels the pods get"},
};

void templateCells(const TableRow& row, Cells& out) {
  const json::View pod = row.object["template"];
  out.text(row.name());
  containerCells(pod["spec"], out);
  out.text(labelsText(pod["metadata"]["labels"]));
}

constexpr TableKind kTables[] = {
    {"", "Pod", kPodColumns, &podCells},
    {"", "PodTemplate", kTemplateColumns, &templateCells},
};

}  // namespace

std::span<const TableKind> podTables() {
  return kTables;
}

}  // namespace mangrove::apiserver
