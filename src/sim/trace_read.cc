#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>

#include "base/text/nearest.h"
#include "base/text/strings.h"
#include "sim/trace.h"
#include "sim/trace_line.h"

namespace mangrove::sim {
namespace {

constexpr std::string_view kFirst = "mangrove-trace 1";
constexpr std::string_view kKeywords[] = {"length",  "step", "nodes", "curve",
                                          "service", "job",  "outage"};

class Reader {
 public:
  explicit Reader(std::string_view name) : name_(name) {}

  Result<Trace> read(std::string_view text) {
    size_t number = 0;
    bool begun = false;
    for (std::string_view line : split(text, '\n')) {
      number++;
      line = trim(line.substr(0, line.find('#')));
      if (line.empty()) continue;
      if (auto ok = begun ? one(number, line) : first(number, line); !ok) return pass(ok.error());
      begun = true;
    }
    if (!begun) return invalid("{}: empty; want '{}' in the first line", name_, kFirst);
    return whole();
  }

 private:
  Result<> first(size_t number, std::string_view line) const {
    if (line == kFirst) return {};
    return invalid("{}:{}: '{}': want '{}' in the first line", name_, number, line, kFirst);
  }

  Result<> one(size_t number, std::string_view text) {
    TraceLine line(name_, number, text);
    const std::string_view word = line.keyword();
    if (word == "length" || word == "step")
      header(line);
    else if (word == "nodes")
      nodes(line);
    else if (word == "curve")
      curve(line);
    else if (word == "service")
      service(line);
    else if (word == "job")
      job(line);
    else if (word == "outage")
      outage(line);
    else
      unknown(line);
    line.end();
    return line.trouble() ? Result<>(pass(*line.trouble())) : Result<>();
  }

  static void unknown(TraceLine& line) {
    line.complain("'{}' is no keyword{}; they are {}", line.keyword(),
                  didYouMean(line.keyword(), kKeywords), join(kKeywords, ", "));
  }

  void header(TraceLine& line) {
    const std::string text = line.name();
    const auto span = parseSpan(text);
    if (!span) return line.complain("{}: {}", line.keyword(), span.error().text());
    if (*span < 1) return line.complain("{} {}: want at least 1s", line.keyword(), text);
    (line.keyword() == "length" ? trace_.length : trace_.step) = *span;
  }

  void named(TraceLine& line, std::string_view kind, std::string& out) {
    out = line.name();
    if (!names_.insert(fmt::format("{} {}", kind, out)).second)
      line.complain("there is a {} '{}' already", kind, out);
  }

  void nodes(TraceLine& line) {
    NodeGroup group;
    named(line, "nodes", group.name);
    line.number("count", group.count, 1);
    line.cpu("cpu", group.cpu, Need::kRequired);
    line.memory("memory", group.memory, Need::kRequired);
    line.cpu("systemCpu", group.systemCpu);
    line.memory("systemMemory", group.systemMemory);
    line.cpu("allocatableCpu", group.allocatableCpu);
    line.memory("allocatableMemory", group.allocatableMemory);
    std::string curve;
    line.text("systemCurve", curve);
    if (!curve.empty()) group.systemCurve = curveNamed(line, "systemCurve", curve);
    if (group.allocatableCpu > group.cpu || group.allocatableMemory > group.memory)
      line.complain("'{}' has less than pods can have of it", group.name);
    if (group.systemCpu >= group.cpu && group.cpu.v > 0)
      line.complain("systemCpu of '{}' is not below its cpu", group.name);
    if (group.systemMemory >= group.memory && group.memory.v > 0)
      line.complain("systemMemory of '{}' is not below its memory", group.name);
    trace_.nodes.push_back(std::move(group));
  }

  // Several lines of one name are one curve.
  void curve(TraceLine& line) {
    const std::string name = line.name();
    Seconds every = 60;
    line.span("every", every, 1);
    auto at = std::find_if(trace_.curves.begin(), trace_.curves.end(),
                           [&](const Curve& curve) { return curve.name == name; });
    if (at == trace_.curves.end()) at = trace_.curves.insert(at, Curve{name, every, {}});
    if (at->every != every)
      line.complain("curve '{}' had every={} before", name, spanText(at->every));
    for (std::string_view word : line.bare()) {
      float value = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      const bool whole = error == std::errc{} && end == word.data() + word.size();
      if (!whole || !(value >= 0 && value <= 100))
        return line.complain("curve '{}': '{}' is no share of a request: want 0 to 100", name,
                             word);
      at->points.push_back(value);
    }
    if (at->points.empty()) line.complain("curve '{}' has no points", name);
  }

  size_t curveNamed(TraceLine& line, std::string_view key, std::string_view name) {
    const auto at = std::find_if(trace_.curves.begin(), trace_.curves.end(),
                                 [&](const Curve& one) { return one.name == name; });
    if (at == trace_.curves.end())
      line.complain("{}={}: no line above describes that curve", key, name);
    return static_cast<size_t>(at - trace_.curves.begin());
  }

  void service(TraceLine& line) {
    Service service;
    std::string curve;
    named(line, "service", service.name);
    line.number("replicas", service.replicas, 1);
    line.cpu("cpu", service.cpu, Need::kRequired);
    line.memory("memory", service.memory, Need::kRequired);
    line.text("curve", curve, Need::kRequired);
    line.share("noise", service.noise, 1);
    line.share("memoryUse", service.memoryUse, 10);
    line.span("at", service.at, 0);
    line.span("until", service.until, 0);
    if (service.until != 0 && service.until <= service.at)
      line.complain("until={}: want a time after at={}", spanText(service.until),
                    spanText(service.at));
    line.spans("deploys", service.deploys);
    service.curve = curveNamed(line, "curve", curve);
    trace_.services.push_back(std::move(service));
  }

  void job(TraceLine& line) {
    Job job;
    named(line, "job", job.name);
    line.span("at", job.at, 0);
    line.number("tasks", job.tasks, 1);
    line.cpu("cpu", job.cpu, Need::kRequired);
    line.memory("memory", job.memory, Need::kRequired);
    line.span("work", job.work, 1, Need::kRequired);
    line.span("checkpoint", job.checkpoint, 0);
    line.share("memoryUse", job.memoryUse, 10);
    line.share("cpuUse", job.cpuUse, 10);
    if (job.cpuUse <= 0) line.complain("cpuUse={}: want a share above 0", job.cpuUse);
    trace_.jobs.push_back(std::move(job));
  }

  void outage(TraceLine& line) {
    Outage outage;
    outage.node = line.name();
    line.span("at", outage.at, 0, Need::kRequired);
    line.span("for", outage.lasts, 1);
    if (!hasNode(outage.node)) line.complain("no line above describes a node '{}'", outage.node);
    trace_.outages.push_back(std::move(outage));
  }

  bool hasNode(std::string_view name) const {
    for (const NodeGroup& group : trace_.nodes)
      for (int64_t i = 0; i < group.count; i++)
        if (name == fmt::format("{}-{}", group.name, i)) return true;
    return false;
  }

  Result<Trace> whole() {
    if (trace_.length == 0) return invalid("{}: no 'length', such as 'length 2d'", name_);
    if (trace_.nodes.empty()) return invalid("{}: no 'nodes'", name_);
    if (trace_.length < trace_.step)
      return invalid("{}: length {} is below a step of {}", name_, spanText(trace_.length),
                     spanText(trace_.step));
    return std::move(trace_);
  }

  std::string_view name_;
  Trace trace_;
  std::set<std::string> names_;
};

}  // namespace

int64_t Trace::nodeCount() const {
  int64_t out = 0;
  for (const NodeGroup& group : nodes) out += group.count;
  return out;
}

int64_t Trace::podCount() const {
  int64_t out = 0;
  for (const Service& service : services) out += service.replicas;
  for (const Job& job : jobs) out += job.tasks;
  return out;
}

double coresOf(const Job& job) {
  return static_cast<double>(job.cpu.v) / 1000 * job.cpuUse;
}

Result<Trace> readTrace(std::string_view text, std::string_view name) {
  return Reader(name).read(text);
}

}  // namespace mangrove::sim
