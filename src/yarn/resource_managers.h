#pragma once
// The ResourceManagers of a YARN cluster over their web addresses: one, or a pair of which one is
// active. Finds out who is, asks it, and looks again when it is not any more.
//
//   auto managers = ResourceManagers::make(loop, owner, {"http://rm1:8088", "http://rm2:8088"}, "yarn");
//   (*managers)->nodes([](Result<std::vector<RmNode>> nodes) { … });
//   (*managers)->update("n1:45454", {28, 81920}, 30s, [](Result<> outcome) { … });
//
// Calls and answers in the owner's thread.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "base/mailbox.h"
#include "net/client/http_client.h"
#include "yarn/resource_manager.h"

namespace mangrove::yarn {

class ResourceManagers {
 public:
  template <class T>
  using Answer = std::function<void(Result<T>)>;

  // `user`: who we are under simple authentication; must be an administrator of YARN.
  static Result<std::unique_ptr<ResourceManagers>> make(net::Loop& loop, Mailbox& owner,
                                                        const std::vector<std::string>& addresses,
                                                        std::string user);
  ~ResourceManagers();

  void nodes(Answer<std::vector<RmNode>> answer);
  // By the active one, which nodes() has found.
  void update(const std::string& nodeId, const Capacity& capacity,
              std::optional<Duration> overcommit, Answer<void> answer);
  // Whether vcores count for its scheduler; nullopt: its page does not tell.
  void countsVcores(Answer<std::optional<bool>> answer);

  // The address; "": none is known at the moment.
  std::string active() const;

 private:
  struct Peer {
    std::string address;
    std::unique_ptr<net::HttpClient> client;
  };
  ResourceManagers(Mailbox& owner, std::string user) : owner_(owner), user_(std::move(user)) {}
  void ask(const Peer& peer, net::HttpRequest request, Answer<std::string> answer);
  void findActive(size_t from, std::string soFar, Answer<void> answer);
  void askNodes(const Answer<std::vector<RmNode>>& answer);

  Mailbox& owner_;
  std::string user_;
  std::vector<Peer> peers_;
  std::optional<size_t> active_;
  Lifetime life_;
};

}  // namespace mangrove::yarn
