/** Splits a stream into batches of a given size. */
export async function* batchValues<Value>(values: AsyncIterable<Value>, most: number): AsyncGenerator<Value[]> {
  let step: Value[] = [];
  for await (const value of values) {
    step.push(value);
    if (step.length < most) continue;
    yield step;
    step = [];
  }
  if (step.length > 0) yield step;
}
