import t from 'tap';
import { run } from '../../src/ci/reports/junit-task.ts';

/** As these programs write them: the attributes of a test and what is in it. */
const tests: [name: string, attributes: string, content: string, result: string][] = [
  ['CTest, passed', 'status="run"', '<system-out></system-out>', 'passed'],
  ['CTest, failed', 'status="fail"', '<failure message=""/>', 'failed'],
  ['CTest, switched off', 'status="disabled"', '<system-out>Disabled</system-out>', 'skipped'],
  ['CTest, without its program', 'status="notrun"', '<skipped message="Unable to find executable"/>', 'skipped'],
  ['GoogleTest, passed', 'status="run" result="completed"', '', 'passed'],
  ['GoogleTest, switched off', 'status="notrun" result="suppressed"', '', 'skipped'],
  ['GoogleTest, skipped', 'status="run" result="skipped"', '<skipped message="not here"/>', 'skipped'],
  ['GoogleTest, failed', 'status="run" result="completed"', '<failure message="1 is not 2"/>', 'failed'],
  ['pytest, passed', 'time="0.001"', '', 'passed'],
  ['another one, failed', 'status="FAILED"', '<error message="x"/>', 'error'],
  ['another one, failed before it ran', 'status="notrun"', '<error message="x"/>', 'error'],
  ['Surefire, passed at the second try', '', '<flakyFailure message="x">at a</flakyFailure>', 'passed'],
];

t.test('a test that was not run counts as skipped, whichever way the report says so', async (t) => {
  const cases = tests.map(
    ([name, attributes, content]) => `<testcase name="${name}" ${attributes}>${content}</testcase>`,
  );
  const report = run(`<?xml version="1.0"?><testsuite name="s">${cases.join('\n')}</testsuite>`);
  const results = new Map(report?.cases.map(({ name, result }) => [name, result]));
  for (const [name, , , result] of tests) t.equal(results.get(name), result, name);
  t.strictSame(report?.counts, { passed: 4, failed: 2, error: 2, skipped: 4 });
});
