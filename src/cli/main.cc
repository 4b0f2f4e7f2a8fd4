#include "cli/dispatch.h"

int main(int argc, char** argv) {
  return mangrove::cli::dispatch({argv + 1, argv + argc});
}
