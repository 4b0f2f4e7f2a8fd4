// mangrove check pod: how Mangrove reads pod manifests — class, band, what they ask for — and what
// admission would refuse.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "api/pod/classes.h"
#include "api/pod/pod.h"
#include "api/pod/pod_requests.h"
#include "api/wire/names.h"
#include "base/os/files.h"
#include "base/text/strings.h"
#include "cli/command.h"
#include "cli/config_verdict.h"
#include "cli/pod_verdict.h"
#include "cli/usage.h"
#include "cli/voice.h"
#include "frame/flags.h"
#include "json/yaml.h"

namespace mangrove::cli {
namespace {

using Row = std::vector<std::string>;
const Row kHead = {"POD", "QOS", "BAND", "PRIORITY", "ASKS FOR", "VERDICT"};

std::string orDash(std::string_view text) {
  return text.empty() ? "-" : std::string(text);
}

// The amounts under the names of its band: cpu and memory, or batch-cpu and batch-memory.
std::string asksFor(const api::Pod& pod) {
  std::vector<std::string> parts;
  for (const auto& [name, amount] : api::podRequests(*pod.spec)) {
    parts.push_back(fmt::format("{}={}", name.view(), amount.text()));
  }
  std::sort(parts.begin(), parts.end());
  return parts.empty() ? "nothing" : join(parts, " ");
}

Row rowOf(const api::Pod& pod) {
  return {fmt::format("{}/{}", orDash(pod.meta.ns.view()), pod.meta.name.view()),
          std::string(api::qosName(api::qosWithDefault(pod))),
          orDash(api::bandName(api::bandWithDefault(pod))),
          std::to_string(api::priorityWithDefault(pod)),
          asksFor(pod),
          verdictOn(pod)};
}

// Pods of one file; other kinds are named on stderr and passed over.
Result<> readPods(const std::string& file, std::vector<Row>& rows) {
  auto text = file == "-" ? readFile("/dev/stdin") : readFile(file);
  if (!text) return pass(text.error());
  auto documents = json::parseYaml(*text, file);
  if (!documents) return pass(documents.error());
  for (const auto& [value, line] : *documents) {
    const json::Value* kind = value.is_object() ? value.get_object().if_contains("kind") : nullptr;
    if (!kind || !kind->is_string() || kind->get_string() != "Pod") {
      fmt::print(stderr, "{}:{}: not a Pod, passed over\n", file, line);
      continue;
    }
    auto pod = api::decodeText<api::Pod>(json::write(value));
    if (!pod) return pod.error().in("{}:{}", file, line);
    rows.push_back(rowOf(*pod));
  }
  return {};
}

json::Object asJson(const Row& row) {
  return {{"pod", row[0]},      {"qos", row[1]},     {"band", row[2]},
          {"priority", row[3]}, {"asksFor", row[4]}, {"verdict", row[5]}};
}

Told verdictOnAll(std::vector<Row> rows) {
  const auto bad = static_cast<size_t>(
      std::count_if(rows.begin(), rows.end(), [](const Row& row) { return row.back() != "ok"; }));
  Told told{.answer = bad == 0 ? fmt::format("good: {}, none would be refused",
                                             counted(rows.size(), "pod", "pods"))
                               : fmt::format("{} of {} would be refused", bad,
                                             counted(rows.size(), "pod", "pods")),
            .good = bad == 0,
            .terms = {},
            .todo = {},
            .data = {}};
  json::Array pods;
  for (const Row& row : rows) pods.push_back(asJson(row));
  told.data["pods"] = std::move(pods);
  rows.insert(rows.begin(), kHead);
  told.terms = tableText(rows);
  if (bad > 0)
    told.todo.emplace_back(
        "give the pod a QoS label and a priority class that go together (docs/concepts.md)");
  return told;
}

}  // namespace

int checkPod(const std::vector<std::string>& args) {
  std::vector<std::string> files;
  Output output;
  frame::Flags flags("mangrove check pod",
                     "says how pod manifests are read and what would be refused");
  flags.add("f", files,
            "file with Pod manifests, YAML or JSON; - for standard input; may be given again");
  output.declare(flags);
  if (const auto end = readArguments(flags, args)) return *end;
  if (files.empty())
    return complain(flags, Error(Code::kInvalid, "no file given; want -f FILE"), kWrongUsage);
  std::vector<Row> rows;
  for (const auto& file : files)
    if (auto done = readPods(file, rows); !done) return complain(flags, done.error());
  return say(verdictOnAll(std::move(rows)), output);
}

}  // namespace mangrove::cli
