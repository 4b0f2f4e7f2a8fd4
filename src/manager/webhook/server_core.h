#pragma once
// The part of the webhook server that does not know of sockets: one question in, one answer out,
// with metrics and Events on the way. Shared by all connections; any thread. See server.h.

#include <memory>
#include <string>

#include "manager/webhook/meter.h"
#include "manager/webhook/review_text.h"
#include "manager/webhook/server.h"

namespace mangrove::manager {

struct WebhookServer::Core : std::enable_shared_from_this<WebhookServer::Core> {
  explicit Core(WebhookServerSetup setup);

  using Exchange = std::shared_ptr<net::Exchange>;
  void serve(Exchange exchange);

 private:
  // A question on its way, with everything the answer needs.
  struct Question {
    Exchange exchange;
    const Route* route = nullptr;
    ReviewQuestion review;
    MonoTime since{};
  };
  using QuestionPtr = std::shared_ptr<Question>;

  bool answerPlainly(const Exchange& exchange, std::string_view path);
  void convert(const Exchange& exchange);
  void judge(const QuestionPtr& question);
  void judgeHere(const QuestionPtr& question, const Surroundings& around);
  void judgeAtOwner(const QuestionPtr& question);
  void finish(const QuestionPtr& question, Review review);
  void refuse(const Exchange& exchange, int status, std::string_view why, std::string_view word);
  void measure(const Question& question, const Review& review);
  void tell(const Question& question, const Review& review);

  WebhookServerSetup setup_;
  AdmissionMeter meter_;
};

// The handler's answer; what it throws becomes a refusal with code 500.
Review callHandler(const Route& route, const AdmissionRequest& request, const Surroundings& around);

}  // namespace mangrove::manager
