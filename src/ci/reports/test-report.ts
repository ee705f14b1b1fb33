export type TestResult = 'passed' | 'failed' | 'error' | 'skipped';

export interface TestCase {
  suite: string;
  /** Class of the test, where the file has one. */
  group: string;
  name: string;
  result: TestResult;
  /** Null where the file does not say. */
  durationMs: number | null;
  /** Of a failure, or why it was skipped; cut. */
  message: string;
  /** Stack trace or output of a failure; cut. */
  details: string;
  /** Where the test is, as the file says. */
  file: string;
}

export interface TestReport {
  counts: Record<TestResult, number>;
  durationMs: number;
  /** Failed ones first. Not more than the limit; `counts` has all. */
  cases: TestCase[];
}
