#pragma once
// What the benchmark asks about: profiles, ordinary pods, huge ones, broken reviews. Pure.

#include <string>
#include <vector>

#include "manager/webhook/surroundings.h"

namespace mangrove::manager {

// Profiles of many teams, each for its own namespace label and app; one in ten by pod label only.
Surroundings benchSurroundings(int64_t profiles);

// An AdmissionReview of a pod of about 4 KiB; every second one matches a profile for batch work.
std::string benchReview(int64_t number, int64_t profiles);
bool matchesProfile(int64_t number);

// The same with an annotation that makes it about 3 MiB.
std::string hugeReview();

struct BrokenReview {
  std::string name;
  std::string path;
  std::string contentType;
  std::string body;
  int status;  // that the server should answer with
};
std::vector<BrokenReview> brokenReviews();

}  // namespace mangrove::manager
