export type TestResult = 'passed' | 'failed' | 'error' | 'skipped';

export interface TestCase {
  suite: string;
  /** Class of the test, if the file names one. */
  group: string;
  name: string;
  result: TestResult;
  /** Null if the file does not contain it. */
  durationMs: number | null;
  /** Message of a failure, or reason for skipping; truncated. */
  message: string;
  /** Stack trace or output of a failure; truncated. */
  details: string;
  /** Whether it failed first and passed when its program tried it again, according to the file. */
  isFlaky: boolean;
  /** Location of the test according to the file. */
  file: string;
}

export interface TestReport {
  counts: Record<TestResult, number>;
  durationMs: number;
  /** Failed cases first, up to the limit; `counts` includes all. */
  cases: TestCase[];
}
