# A job that shuffles, whose answer is known: keys 0..99, each the sum of its numbers.
#   shuffle.py [NUMBERS] [ROUNDS]
import sys
from operator import add

from pyspark.sql import SparkSession

numbers = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 1
context = SparkSession.builder.appName("shuffle").getOrCreate().sparkContext
for turn in range(rounds):
    sums = dict(context.parallelize(range(numbers), 8).map(lambda n: (n % 100, n)).reduceByKey(add, 4).collect())
    count = numbers // 100
    for key in range(100):
        want = count * key + 100 * count * (count - 1) // 2
        assert sums[key] == want, f"key {key}: {sums[key]}, want {want}"
    print(f"round {turn + 1} of {rounds}: all 100 sums are right", flush=True)
