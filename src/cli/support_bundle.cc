// mangrove support-bundle: what somebody needs to see to help, in one folder, without secrets.
#include <filesystem>

#include <fmt/core.h>

#include "api/wire/names.h"
#include "base/clock.h"
#include "base/os/files.h"
#include "cli/cluster_access.h"
#include "cli/cluster_facts.h"
#include "cli/command.h"
#include "cli/migrate_facts.h"
#include "cli/raw_objects.h"
#include "cli/redaction.h"
#include "cli/usage.h"
#include "frame/version.h"

namespace mangrove::cli {
namespace {

namespace kind = api::kind;

constexpr std::array kShown = {&kind::kNode,
                               &kind::kPod,
                               &kind::kEvent,
                               &kind::kLease,
                               &kind::kDeployment,
                               &kind::kDaemonSet,
                               &kind::kPriorityClass,
                               &kind::kMutatingWebhook,
                               &kind::kValidatingWebhook,
                               &kind::kNodeMetric,
                               &kind::kNodeSlo,
                               &kind::kDevice,
                               &kind::kNodeResourceTopology,
                               &kind::kReservation,
                               &kind::kPodGroup,
                               &kind::kElasticQuota,
                               &kind::kElasticQuotaProfile,
                               &kind::kClusterColocationProfile,
                               &kind::kPodMigrationJob};

class Bundle {
 public:
  Bundle(client::ApiClient& client, std::string folder)
      : client_(client), folder_(std::move(folder)) {}

  Result<> put(const std::string& name, std::string_view text) {
    files_++;
    return writeFileAtomically(folder_ + "/" + name, text, {.mode = 0600});
  }

  // A kind that may not be read is named in the list of what is missing.
  Result<> putKind(const client::Kind& of) {
    auto found = listRaw(client_, of);
    if (!found) {
      missing_ += fmt::format("{}: {}\n", of.plural, found.error().text());
      return {};
    }
    if (found->empty()) return {};
    json::Array items;
    for (const auto& one : *found) items.push_back(redacted(one));
    return put(fmt::format("{}.json", of.plural), json::writePretty(items) + "\n");
  }

  Result<> putConfig(const ClusterQuestion& question) {
    auto text = client_.get({kind::kConfigMap, question.configNamespace, question.configName});
    if (!text && text.error().code() == Code::kNotFound) return {};
    if (!text) {
      missing_ += text.error().text() + "\n";
      return {};
    }
    auto parsed = json::parse(*text);
    if (!parsed) return pass(parsed.error());
    return put("slo-controller-config.json", json::writePretty(redacted(*parsed)) + "\n");
  }

  Result<> putChecks(const ClusterQuestion& question) {
    if (auto facts = gatherFacts(client_, question, realClock().wall())) {
      if (auto ok = put("check-cluster.txt", toldText(judgeCluster(*facts), false)); !ok) return ok;
    } else {
      missing_ += "check cluster: " + facts.error().text() + "\n";
    }
    auto facts = gatherMigration(client_, {question.configNamespace, question.configName});
    if (facts) return put("migrate-check.txt", toldText(judgeMigration(*facts), false));
    missing_ += "migrate check: " + facts.error().text() + "\n";
    return {};
  }

  Result<> finish() { return missing_.empty() ? Result<>() : put("missing.txt", missing_); }
  size_t files() const { return files_; }

 private:
  client::ApiClient& client_;
  std::string folder_, missing_;
  size_t files_ = 0;
};

Result<> fill(Bundle& bundle, const ClusterQuestion& question) {
  if (auto ok = bundle.put("version.txt", frame::versionLine() + "\n"); !ok) return ok;
  for (const auto* of : kShown)
    if (auto ok = bundle.putKind(*of); !ok) return ok;
  if (auto ok = bundle.putConfig(question); !ok) return ok;
  if (auto ok = bundle.putChecks(question); !ok) return ok;
  return bundle.finish();
}

Result<> makeFolder(const std::string& folder) {
  std::error_code error;
  if (std::filesystem::exists(folder, error))
    return invalid("{} is there already; want a folder that is not", folder);
  if (!std::filesystem::create_directories(folder, error))
    return fail(Code::kUnavailable, "making {}: {}", folder, error.message());
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  return {};
}

}  // namespace

int supportBundle(const std::vector<std::string>& args) {
  ClusterAccess access;
  std::string folder = "mangrove-support";
  ClusterQuestion question{std::string(api::object::kSystemNamespace),
                           std::string(api::object::kSloConfig)};
  frame::Flags flags("mangrove support-bundle",
                     "writes what is needed to help into one folder, without secrets");
  access.declare(flags);
  flags.add("out", folder, "folder to make");
  flags.add("config-namespace", question.configNamespace, "namespace of the configuration");
  flags.add("slo-config-name", question.configName, "name of the ConfigMap with the strategies");
  if (const auto end = readArguments(flags, args)) return *end;
  net::Loop loop(1);
  auto client = access.open(loop);
  if (!client) return complain(flags, client.error());
  if (auto ok = makeFolder(folder); !ok) return complain(flags, ok.error());
  Bundle bundle(**client, folder);
  if (auto ok = fill(bundle, question); !ok) return complain(flags, ok.error());
  fmt::print("{} files in {}; look through them before you send them\n", bundle.files(), folder);
  return 0;
}

}  // namespace mangrove::cli
