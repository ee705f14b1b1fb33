import type { FlakyTest, TestCase, TestResult } from '../../ci/index.ts';
import { runPathNumber } from '../../http/index.ts';
import { t, translated } from '../../translation/index.ts';
import { viewNumber } from '../app/format-numbers.ts';
import { numberedPage } from '../app/numbered-page.view.ts';
import { viewName } from '../app/printable-names.ts';
import { page } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import type { RunsDeps } from './deps.ts';
import { runUrl } from './run-row.view.ts';

const words: Record<TestResult, { text: string; icon: string; tone: string }> = translated({
  failed: { text: 'runs.tests.failed', icon: 'cross', tone: 'bad' },
  error: { text: 'runs.tests.error', icon: 'cross', tone: 'bad' },
  skipped: { text: 'runs.tests.skipped', icon: 'skip', tone: 'idle' },
  passed: { text: 'runs.tests.passed', icon: 'check', tone: 'good' },
});
const filters = ['failed', 'skipped', 'passed'] as const;
type Filter = (typeof filters)[number];

const filterOf = (result: TestResult): Filter => (result === 'error' ? 'failed' : result);

/** `12 ms`, `1.4 s`, `3 m 5 s`. */
function viewTestTime(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} m ${Math.round(ms / 1_000) % 60} s`;
}

function viewCase({ suite, group, name, result, durationMs, message, details, file }: TestCase, report: string) {
  return {
    name: viewName(name) || t('runs.tests.a_test_without_a_name'),
    // A suite often has the name of the class.
    suite: [...new Set([suite, group].filter((one) => one !== ''))].map(viewName).join(' · ') || report,
    file: viewName(file),
    status: words[result],
    duration: durationMs === null ? null : viewTestTime(durationMs),
    message,
    details: details === message ? '' : details,
  };
}

const maxFlaky = 50;

function viewFlaky({ artifact, suite, group, name, failed, passed }: FlakyTest, repositoryUrl: string) {
  const occasion = ({ run, attempt }: FlakyTest['failed']) => ({
    url: `${runUrl(repositoryUrl, run)}?attempt=${attempt}`,
    text: t('runs.tests.run_and_attempt', { run, attempt }),
  });
  const isOneReport = failed.run === passed.run && failed.attempt === passed.attempt;
  return {
    name: viewName(name) || t('runs.tests.a_test_without_a_name'),
    suite: viewName([...new Set([artifact, suite, group].filter((one) => one !== ''))].join(' · ')),
    failed: occasion(failed),
    passed: isOneReport ? null : occasion(passed),
  };
}

/** Test reports of a run, as a table. Query: `result`, one of failed, skipped, passed or all; `page`. */
export const showTests: Page<RepositoryContext, RunsDeps> = async ({ found, params, query }, { ci }) => {
  const number = runPathNumber(params.number);
  const { reports, unread } = await ci.testReports(found, number);
  const flaky = await ci.flakyTests(found, number);
  const head = viewRepositoryHeader(found);
  const url = `${runUrl(head.url, number)}/tests`;
  const all = reports.flatMap(({ artifact, path, report }) =>
    report.cases.map((one) => ({ one, report: `${artifact.name}/${path}` })),
  );
  const counts: Record<Filter, number> = { failed: 0, skipped: 0, passed: 0 };
  for (const { report } of reports) {
    counts.failed += report.counts.failed + report.counts.error;
    counts.skipped += report.counts.skipped;
    counts.passed += report.counts.passed;
  }
  const asked = query.get('result');
  const chosen = filters.find((filter) => filter === asked) ?? (asked === null && counts.failed > 0 ? 'failed' : 'all');
  const shown = chosen === 'all' ? all : all.filter(({ one }) => filterOf(one.result) === chosen);
  const { rows, ...beside } = await numberedPage(
    async ({ limit, skip }) => shown.slice(skip, skip + limit),
    query,
    url,
  );
  return page('runs/tests', {
    repository: head,
    run: { number, url: runUrl(head.url, number) },
    reports: reports.length,
    tabs: [...filters, 'all' as const].map((filter) => ({
      url: `${url}?result=${filter}`,
      isCurrent: filter === chosen,
      text: filter === 'all' ? t('runs.tests.all') : words[filter].text,
      count: viewNumber(filter === 'all' ? counts.failed + counts.skipped + counts.passed : counts[filter]),
    })),
    duration: viewTestTime(reports.reduce((sum, { report }) => sum + report.durationMs, 0)),
    cases: rows.map(({ one, report }) => viewCase(one, report)),
    chosen,
    flaky: flaky.slice(0, maxFlaky).map((one) => viewFlaky(one, head.url)),
    moreFlaky: Math.max(0, flaky.length - maxFlaky),
    unread: unread.map(({ artifact, path, reason }) => ({
      name: viewName(path === '' ? artifact : `${artifact}/${path}`),
      reason,
    })),
    ...beside,
  });
};
