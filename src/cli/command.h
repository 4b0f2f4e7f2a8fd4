#pragma once
// A subcommand of the binary: one short file each, listed in main.cc. `words` are what the user
// types ("bench client"), `run` gets the arguments after them and returns the exit code.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mangrove::cli {

struct Command {
  std::string_view words;
  std::string_view about;
  int (*run)(const std::vector<std::string>& args);
};

int up(const std::vector<std::string>& args);
int demo(const std::vector<std::string>& args);
int demoPart(const std::vector<std::string>& args);
int report(const std::vector<std::string>& args);
int run(const std::vector<std::string>& args);
int agent(const std::vector<std::string>& args);
int agentGuardian(const std::vector<std::string>& args);
int manager(const std::vector<std::string>& args);
int scheduler(const std::vector<std::string>& args);
int apiserver(const std::vector<std::string>& args);
int top(const std::vector<std::string>& args);
int explainNode(const std::vector<std::string>& args);
int explainPod(const std::vector<std::string>& args);
int explainManifest(const std::vector<std::string>& args);
int checkConfig(const std::vector<std::string>& args);
int checkCluster(const std::vector<std::string>& args);
int checkNode(const std::vector<std::string>& args);
int checkPod(const std::vector<std::string>& args);
int benchAgent(const std::vector<std::string>& args);
int benchApi(const std::vector<std::string>& args);
int benchClient(const std::vector<std::string>& args);
int benchManager(const std::vector<std::string>& args);
int benchImpact(const std::vector<std::string>& args);
int benchMemory(const std::vector<std::string>& args);
int benchReact(const std::vector<std::string>& args);
int benchScheduler(const std::vector<std::string>& args);
int benchWebhook(const std::vector<std::string>& args);
int completion(const std::vector<std::string>& args);
int complete(const std::vector<std::string>& args);
int man(const std::vector<std::string>& args);
int docs(const std::vector<std::string>& args);
int migrateCheck(const std::vector<std::string>& args);
int migrateOff(const std::vector<std::string>& args);
int supportBundle(const std::vector<std::string>& args);
int podShim(const std::vector<std::string>& args);
int standIn(const std::vector<std::string>& args);
int version(const std::vector<std::string>& args);

std::span<const Command> allCommands();

// Exit codes every command uses: 0 fine, 1 it went wrong, 2 it was called wrongly.
inline constexpr int kFailed = 1;
inline constexpr int kWrongUsage = 2;

}  // namespace mangrove::cli
