// Counts words of known numbers, slowly: N numbers, each one of five words, about a thousand a second. At the end it prints how often each
// came; that is exact however often the job was saved and went on.
//   flink run words.jar N
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

public final class Words {
  static final class Count extends KeyedProcessFunction<String, String, String> {
    private transient ValueState<Long> count;

    @Override
    public void open(OpenContext context) {
      count = getRuntimeContext().getState(new ValueStateDescriptor<>("count", Long.class));
    }

    @Override
    public void processElement(String word, Context context, Collector<String> out) throws Exception {
      Long before = count.value();
      count.update(before == null ? 1 : before + 1);
      context.timerService().registerEventTimeTimer(Long.MAX_VALUE);  // the end of the input
    }

    @Override
    public void onTimer(long at, OnTimerContext context, Collector<String> out) throws Exception {
      out.collect("counted " + context.getCurrentKey() + "=" + count.value());
    }
  }

  static String wordOf(long number) throws InterruptedException {
    Thread.sleep(1);
    return "word" + number % 5;
  }

  public static void main(String[] arguments) throws Exception {
    StreamExecutionEnvironment flink = StreamExecutionEnvironment.getExecutionEnvironment();
    flink.setParallelism(1);
    flink.fromSequence(1, Long.parseLong(arguments[0])).map(Words::wordOf).uid("words").keyBy(word -> word).process(new Count()).uid("count").print();
    flink.execute("words");
  }
}
