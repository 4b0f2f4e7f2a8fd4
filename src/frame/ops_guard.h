#pragma once
// Who may see the pages of a role beyond health and metrics: whoever the API server knows by the
// token he shows (TokenReview) and lets do it (SubjectAccessReview of the page's path; verb get or
// put). As long as it lives, the server asks it.
//
//   guard_.emplace(*context.ops, *client_);       // gone before the client is
//
// A token that is read on its way is lost, and the pages are plain HTTP: reach them over loopback
// or a forwarded port.

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "client/api_client.h"
#include "frame/ops_server.h"

namespace mangrove::frame {

class OpsGuard {
 public:
  OpsGuard(OpsServer& server, client::ApiClient& client);
  ~OpsGuard();
  OpsGuard(const OpsGuard&) = delete;
  OpsGuard& operator=(const OpsGuard&) = delete;

 private:
  struct Link;
  std::shared_ptr<Link> link_;
};

// The two questions and what their answers mean; pure.
std::string tokenReviewFor(std::string_view token);
// The body of the second question, from the answer to the first. kUnauthorized: nobody's token.
Result<std::string> accessReviewFor(std::string_view tokenReview, const Viewer& viewer);
// kDenied with the server's reason.
Result<> allowedBy(std::string_view accessReview, const Viewer& viewer);

}  // namespace mangrove::frame
