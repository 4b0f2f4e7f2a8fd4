#pragma once
// A container runtime for tests: answers CRI on a unix socket, runs nothing, and remembers what it
// was told. Containers run until end() or a stop.
//
//   FakeRuntime fake(folder.path() + "/cri.sock");
//   fake.addImage("nginx:1.25");
//   … fake.end("web", 3);  fake.said("CreateContainer")
//
// Any thread.

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/os/fd.h"
#include "net/http/grpc_socket.h"

namespace mangrove::runtime::cri {

class FakeRuntime {
 public:
  explicit FakeRuntime(std::string socket);
  ~FakeRuntime();

  void addImage(const std::string& name);
  // Pulls of this image are refused with these words.
  void refusePull(const std::string& image, const std::string& why);
  // The container of that name ends.
  void end(const std::string& container, int exitCode);
  // Every call of a method refuses from now on; "": none does.
  void refuse(const std::string& method, const std::string& why);

  std::vector<std::string> calls() const;             // methods in order
  std::string said(const std::string& method) const;  // the last message to it; "": none
  size_t sandboxes() const;
  size_t containers() const;

 private:
  struct FakeSandbox {
    std::string metadata, labels;  // encoded, as they came
    std::string uid, runner;
    bool ready = true;
  };
  struct FakeContainer {
    std::string sandbox, name, metadata, image;
    int state = 0, exitCode = 0;
    int64_t startedAt = 0, finishedAt = 0;
  };
  net::GrpcReply answer(const std::string& method, const std::string& message);
  net::GrpcReply sandboxCall(const std::string& method, const std::string& message);
  net::GrpcReply containerCall(const std::string& method, const std::string& message);
  net::GrpcReply imageCall(const std::string& method, const std::string& message);
  std::string statusOf(const std::string& id, const FakeContainer& one) const;

  mutable std::mutex mutex_;
  std::map<std::string, FakeSandbox> sandboxes_;
  std::map<std::string, FakeContainer> containers_;
  std::map<std::string, std::string> images_;   // id by name
  std::map<std::string, std::string> noPulls_;  // why, by image
  std::map<std::string, std::string> refusals_;
  std::vector<std::pair<std::string, std::string>> calls_;
  int next_ = 1;
  UniqueFd listener_, stop_;
  std::vector<std::thread> connections_;
  std::thread accepting_;
};

}  // namespace mangrove::runtime::cri
