import { Parser } from 'htmlparser2';
import type { TestCase, TestReport, TestResult } from './test-report.ts';

/** Limit of listed test cases per file; further ones are only counted. */
const maxCases = 20_000;
const maxMessage = 2_000;
const maxDetails = 16_000;
const maxName = 500;

const order: readonly TestResult[] = ['failed', 'error', 'skipped', 'passed'];

/**
 * Task of the worker pool: parses a test report in JUnit XML, as written by Maven, Gradle, pytest, Jest, gotestsum and
 * others. Null if the XML is not such a report. The parser ignores document types, so no entities are expanded.
 */
export function run(xml: string): TestReport | null {
  const suites: string[] = [];
  let isReport: boolean | null = null;
  let open: TestCase | null = null;
  let textOf: 'details' | 'message' | null = null;
  const counts: Record<TestResult, number> = { passed: 0, failed: 0, error: 0, skipped: 0 };
  const cases: TestCase[] = [];
  let durationMs = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        isReport ??= name === 'testsuites' || name === 'testsuite';
        if (!isReport) return;
        if (name === 'testsuite') suites.push(cut(attributes['name'] ?? '', maxName));
        else if (name === 'testcase') {
          open = {
            suite: suites.at(-1) ?? '',
            group: cut(attributes['classname'] ?? '', maxName),
            name: cut(attributes['name'] ?? '', maxName),
            result: isNotRun(attributes) ? 'skipped' : 'passed',
            durationMs: milliseconds(attributes['time']),
            message: '',
            details: '',
            isFlaky: false,
            file: cut(attributes['file'] ?? '', maxName),
          };
        } else if (open !== null && (name === 'flakyFailure' || name === 'flakyError')) {
          open.isFlaky = true;
        } else if (open !== null && (name === 'failure' || name === 'error' || name === 'skipped')) {
          if (open.result === 'passed' || open.result === 'skipped') open.result = name === 'failure' ? 'failed' : name;
          open.message ||= cut(attributes['message'] ?? '', maxMessage);
          textOf = name === 'skipped' ? 'message' : 'details';
        }
      },
      ontext(text) {
        if (open === null || textOf === null) return;
        const max = textOf === 'message' ? maxMessage : maxDetails;
        if (open[textOf].length < max) open[textOf] = cut(open[textOf] + text, max);
      },
      onclosetag(name) {
        if (name === 'testsuite') suites.pop();
        else if (name === 'failure' || name === 'error' || name === 'skipped') textOf = null;
        else if (name === 'testcase' && open !== null) {
          counts[open.result] += 1;
          durationMs += open.durationMs ?? 0;
          open.message = open.message.trim();
          open.details = open.details.trim();
          if (cases.length < maxCases || open.result === 'failed' || open.result === 'error') cases.push(open);
          open = null;
          textOf = null;
        }
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(xml.replace(/^\uFEFF/, ''));
  if (isReport !== true) return null;
  cases.sort((a, b) => order.indexOf(a.result) - order.indexOf(b.result));
  return { counts, durationMs, cases: cases.slice(0, maxCases) };
}

/** GoogleTest and CTest mark disabled tests only by an attribute. */
const isNotRun = ({ status, result }: Record<string, string>): boolean =>
  /^(?:notrun|disabled|skipped|ignored)$/i.test(status ?? '') || /^(?:suppressed|skipped|ignored)$/i.test(result ?? '');

const cut = (text: string, max: number): string => (text.length > max ? text.slice(0, max) : text).toWellFormed();

/** Parses seconds with a decimal point; some programs write commas between thousands. */
function milliseconds(seconds: string | undefined): number | null {
  const value = Number((seconds ?? '').replaceAll(',', '') || Number.NaN);
  return Number.isFinite(value) && value >= 0 ? Math.min(Math.round(value * 1000), 1e12) : null;
}
