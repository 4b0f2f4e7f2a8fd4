// Small decisions of the commands, as tables.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/object/node.h"
#include "api/wire/decode.h"
#include "base/text/time_text.h"
#include "cli/explain_controls.h"
#include "cli/migrate_off_plan.h"
#include "cli/pod_verdict.h"
#include "cli/redaction.h"
#include "cli/usage.h"
#include "json/value.h"

namespace mangrove::cli {
namespace {

template <class T>
T decoded(const std::string& text) {
  auto out = api::decodeText<T>(text);
  EXPECT_TRUE(out) << out.error().text() << "\n" << text;
  return out ? *out : T();
}

TEST(Usage, EndsByWhatWasAsked) {
  const struct {
    std::vector<std::string> args;
    std::optional<int> end;
  } rows[] = {{{}, std::nullopt},        {{"--name", "a"}, std::nullopt},
              {{"--help"}, 0},           {{"--nome", "a"}, kWrongUsage},
              {{"--name"}, kWrongUsage}, {{"stray"}, kWrongUsage}};
  for (const auto& row : rows) {
    std::string name;
    frame::Flags flags("mangrove test", "is a test");
    flags.add("name", name, "of something");
    EXPECT_EQ(readArguments(flags, row.args), row.end)
        << (row.args.empty() ? "" : row.args.front());
  }
}

TEST(AgentAddress, IsWhatWasSaidThenWhatTheNodeSays) {
  const std::string own =
      R"("metadata":{"annotations":{"node.mangrove.io/agent-address":"http://1.2.3.4:5"}})";
  const std::string ip =
      R"("status":{"addresses":[{"type":"Hostname","address":"n1"},{"type":"InternalIP","address":"10.0.0.7"}]})";
  const struct {
    std::string said, node, want;
  } rows[] = {
      {"10.1.1.1:99", own, "http://10.1.1.1:99"}, {"https://agent", own, "https://agent"},
      {"", own + "," + ip, "http://1.2.3.4:5"},   {"", ip, "http://10.0.0.7:9316"},
      {"", "", "http://127.0.0.1:9316"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(agentAddress(row.said, decoded<api::Node>("{" + row.node + "}")), row.want);
}

TEST(PodVerdict, NamesWhatDoesNotGoTogether) {
  const struct {
    const char *labels, *spec, *want;
  } rows[] = {
      {"", "", "ok"},
      {R"("koordinator.sh/qosClass":"LS")", R"("priority":9500)", "ok"},
      {R"("koordinator.sh/qosClass":"BE")", R"("priority":5500)", "ok"},
      {R"("koordinator.sh/qosClass":"BE")", R"("priority":9500)",
       "refused: QoS BE does not go with priority band koord-prod"},
      {R"("koordinator.sh/qosClass":"LSR")", R"("priority":5500)",
       "refused: QoS LSR does not go with priority band koord-batch"},
      {R"("koordinator.sh/qosClass":"best")", "",
       "label koordinator.sh/qosClass=best is none of LSE, LSR, LS, BE, SYSTEM"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(verdictOn(decoded<api::Pod>(
                  fmt::format(R"({{"metadata":{{"name":"p","labels":{{{}}}}},"spec":{{{}}}}})",
                              row.labels, row.spec))),
              row.want);
}

TEST(Redaction, HidesWhatMayBeASecretAndNothingElse) {
  const struct {
    const char *what, *before, *after;
  } rows[] = {
      {"values of the environment", R"x({"env":[{"name":"A","value":"1"}]})x",
       R"x({"env":[{"name":"A","value":"(redacted)"}]})x"},
      {"where they come from stays", R"x({"env":[{"name":"A","valueFrom":{"key":"k"}}]})x",
       R"x({"env":[{"name":"A","valueFrom":{"key":"k"}}]})x"},
      {"flags with a secret", R"x({"args":["--api-token=abc","--port=80"]})x",
       R"x({"args":["--api-token=(redacted)","--port=80"]})x"},
      {"the word after such a flag", R"x({"args":["--password","abc","run"]})x",
       R"x({"args":["--password","(redacted)","run"]})x"},
      {"a file with a secret is only a name", R"x({"args":["--token-file=/var/token"]})x",
       R"x({"args":["--token-file=/var/token"]})x"},
      {"keys", R"x({"data":"-----BEGIN PRIVATE KEY-----"})x", R"x({"data":"(redacted)"})x"},
      {"members that say so", R"x({"clientSecret":"abc","secretName":"s"})x",
       R"x({"clientSecret":"(redacted)","secretName":"s"})x"},
      {"copies that tools leave", R"x({"metadata":{"name":"a","managedFields":[{"manager":1}]}})x",
       R"x({"metadata":{"name":"a"}})x"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(json::write(redacted(*json::parse(row.before))), row.after) << row.what;
}

TEST(MigrateOff, TakesNoLeaseThatSomebodyRenews) {
  const WallTime now = *parseTime("2026-03-01T12:00:00Z");
  const struct {
    const char *holder, *renewed;
    bool alive;
  } rows[] = {{"a", "2026-03-01T11:59:30Z", true},
              {"a", "2026-03-01T11:58:59Z", false},
              {"", "2026-03-01T11:59:59Z", false}};
  for (const auto& row : rows) {
    api::Lease lease;
    lease.holderIdentity = row.holder;
    lease.renewTime = *parseTime(row.renewed);
    EXPECT_EQ(isAlive(lease, now), row.alive) << row.holder << " " << row.renewed;
  }
}

}  // namespace
}  // namespace mangrove::cli
