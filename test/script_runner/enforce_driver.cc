// The node agent over a captured machine of test/machines; every write is printed.
//   machine NAME [gate=NAME=true,…]     which machine; before anything else
//   slo MEMBERS…                        the NodeSLO's spec, JSON members
//   node [labels=JSON] [annotations=JSON]
//   topology ANNOTATIONS                of the NodeResourceTopology, a JSON object
//   pod NAME [tier=…] [qos=…] [cpus=SET] [resources=JSON] [annotations=JSON] [priority=N]
//   use NAME CORES | hold NAME BYTES | system CORES
//   throttle NAME SHARE                 of the periods of its quota, from now on
//   remove NAME
//   foreign WHERE FILE TEXT             somebody else writes
//   start | tick [SECONDS] | kill       kill ends the agent without a word and starts another one
//   leave                               a clean exit
//   show WHERE FILE | evictions
#include <fmt/core.h>

#include "agent/qos/testing/machine_bench.h"
#include "base/number/quantity.h"
#include "base/text/strings.h"
#include "script_runner/drivers.h"

namespace mangrove::scripts {
namespace {

using agent::testing::MachineBench;
using agent::testing::SimPod;

// What stands behind the first `words` words of a line.
std::string rest(std::string_view line, int words) {
  for (int i = 0; i < words; ++i) {
    line = trim(line);
    const size_t blank = line.find(' ');
    line = blank == std::string_view::npos ? std::string_view() : line.substr(blank);
  }
  return std::string(trim(line));
}

class EnforceDriver final : public Driver {
 public:
  std::string run(const std::vector<std::string>& commands) override {
    std::string out;
    for (const auto& line : commands) out += one(line, parseCommand(line));
    return out;
  }

 private:
  std::string one(const std::string& line, const Command& c) {
    if (c.verb == "machine") return machine(c);
    if (!bench_) return "error: begin with machine NAME\n";
    if (c.verb == "slo") return bench_->slo(rest(line, 1)), "";
    if (c.verb == "topology") return bench_->topology(rest(line, 1)), "";
    if (c.verb == "node")
      return bench_->node(c.option("labels", "{}"), c.option("annotations", "{}")), "";
    if (c.verb == "pod") return pod(c);
    if (c.verb == "start") return bench_->start(), "";
    if (c.verb == "tick") return tick(c);
    if (c.verb == "kill") return bench_->killAndRestart(), "";
    if (c.verb == "leave") return bench_->leave(), told();
    if (c.verb == "evictions") return evictions();
    return withWords(line, c);
  }

  std::string withWords(const std::string& line, const Command& c) {
    const std::vector<std::string>& w = c.words;
    if (c.verb == "use" && w.size() == 2) return bench_->use(w[0], std::stod(w[1])), "";
    if (c.verb == "throttle" && w.size() == 2) return bench_->throttle(w[0], std::stod(w[1])), "";
    if (c.verb == "system" && w.size() == 1) return bench_->systemUses(std::stod(w[0])), "";
    if (c.verb == "remove" && w.size() == 1) return bench_->remove(w[0]), "";
    if (c.verb == "hold" && w.size() == 2) {
      auto bytes = Quantity::parse(w[1]);
      return bytes ? (bench_->hold(w[0], bytes->value()), "")
                   : "error: " + bytes.error().text() + "\n";
    }
    if (c.verb == "foreign" && w.size() >= 2 && !rest(line, 3).empty())
      return bench_->write(w[0], w[1], rest(line, 3)), "";
    if (c.verb == "show" && w.size() == 2)
      return fmt::format("{} {} = {}\n", w[0], w[1], bench_->read(w[0], w[1]));
    return fmt::format("error: unknown command '{}'\n", line);
  }

  std::string machine(const Command& c) {
    if (c.words.size() != 1) return "error: want machine NAME\n";
    bench_ = std::make_unique<MachineBench>("test/machines/" + c.words[0]);
    const std::string gates = c.option("gate");
    for (std::string_view gate : splitTrimmed(gates, ','))
      if (!gate.empty() && !bench_->gate(std::string(gate)))
        return fmt::format("error: no gate '{}'\n", gate);
    return "";
  }

  std::string pod(const Command& c) {
    if (c.words.size() != 1) return "error: want pod NAME\n";
    SimPod pod;
    pod.name = c.words[0];
    pod.tier = c.option("tier", "burstable");
    pod.qos = c.option("qos");
    pod.resources = c.option("resources", "{}");
    pod.annotations = c.option("annotations", "{}");
    pod.priority = std::stoll(c.option("priority", "5500"));
    if (const std::string cpus = c.option("cpus"); !cpus.empty())
      pod.annotations = fmt::format(
          R"({{"scheduling.koordinator.sh/resource-status":"{{\"cpuset\":\"{}\"}}"}})", cpus);
    return bench_->pod(pod), "";
  }

  std::string tick(const Command& c) {
    bench_->seconds(c.words.empty() ? 1 : std::stoi(c.words[0]));
    return told();
  }

  std::string told() {
    std::string out;
    for (const std::string& line : bench_->writes()) out += line + "\n";
    return out.empty() ? "nothing\n" : out;
  }

  std::string evictions() {
    std::string out;
    for (; seen_ < bench_->evicted.size(); ++seen_) {
      const agent::Ousting& one = bench_->evicted[seen_];
      out += fmt::format("{} {}: {} (frees {})\n", one.feature, one.pod->meta.name.view(), one.why,
                         one.expected);
    }
    return out.empty() ? "nobody\n" : out;
  }

  std::unique_ptr<MachineBench> bench_;
  size_t seen_ = 0;
};

}  // namespace

std::unique_ptr<Driver> makeEnforceDriver() {
  return std::make_unique<EnforceDriver>();
}

}  // namespace mangrove::scripts
