// What GitHub's documents say about workflow files ("Workflow syntax", "Expressions", "Contexts", "Reuse workflows"),
// one line each, against the functions that decide here. Chains of `needs` have a table of their own
// (`chains.test.ts`), as have refused files (`workflow-check.test.ts`).
import t from 'tap';
import { grantedToTask, taskPermissions } from '../../src/access/index.ts';
import { nextTime, parseCron } from '../../src/ci/workflows/cron.ts';
import { bundle } from '../../src/ci/workflows/bundle.ts';
import { evaluateCondition, evaluateExpression, evaluateValue } from '../../src/ci/workflows/evaluate.ts';
import { combinationName, expandMatrix } from '../../src/ci/workflows/expand-matrix.ts';
import { EvaluationBudget } from '../../src/ci/workflows/evaluation-budget.ts';
import { matchesPush } from '../../src/ci/workflows/match-push.ts';
import { takesAction } from '../../src/ci/workflows/match-pull.ts';
import { parseWorkflow, readWorkflow } from '../../src/ci/workflows/parse-workflow.ts';
import { writePayload } from '../../src/ci/workflows/write-payload.ts';
import { inputsOfCall, inputsOfRun } from '../../src/ci/runs/job-contexts.ts';
import { resolveJob } from '../../src/ci/runs/resolve-job.ts';
import type { Json } from '../../src/ci/workflows/json-value.ts';
import type { Workflow } from '../../src/ci/workflows/workflow.ts';

const fine = { success: true, failure: false, cancelled: false };
const failed = { success: false, failure: true, cancelled: false };
const cancelled = { success: false, failure: false, cancelled: true };

const contexts: { [name: string]: Json } = {
  github: {
    ref: 'refs/heads/main',
    event_name: 'push',
    actor: 'alice',
    event: {
      forced: false,
      issue: { labels: [{ name: 'bug' }, { name: 'help wanted' }] },
      commits: [{ id: 'a', added: ['x', 'y'] }, { id: 'b' }],
    },
  },
  needs: { build: { result: 'success', outputs: { version: '1.2', count: '3' } } },
  matrix: { os: 'linux', node: 18, experimental: false, pair: { a: 1 } },
  vars: { EMPTY: '', NAME: 'Hearth', NUMBER: '007' },
  inputs: { dry: false, level: 2 },
  fruits: [
    { name: 'apple', quantity: 1 },
    { name: 'orange', quantity: 2 },
    { name: 'pear', quantity: 1 },
  ],
  vegetables: { scallions: { parts: ['roots', 'stalks'] }, beets: { parts: ['roots'] }, cress: {} },
};

function parsed(text: string, files: Record<string, string> = {}): Workflow {
  const result = parseWorkflow('ci.yml', bundle(text, new Map(Object.entries(files))));
  if (!result.ok) throw result.problem;
  return result.workflow;
}

const expressions: [expression: string, value: unknown][] = [
  // Literals.
  ['null', null],
  ['false', false],
  ['true', true],
  ['TRUE', undefined],
  ['711', 711],
  ['-9.2', -9.2],
  ['0xff', 255],
  ['0o17', 15],
  ['-2.99e-2', -0.0299],
  ["'It''s open source!'", "It's open source!"],
  ["''", ''],
  // Operators and their order.
  ['!true', false],
  ['!!1', true],
  ['1 < 2', true],
  ['2 <= 2', true],
  ['3 > 4', false],
  ['4 >= 4', true],
  ['1 != 2', true],
  ['true && false || true', true],
  ['true || true && false', true],
  ['(true || true) && false', false],
  ['!false && false', false],
  ['1 < 2 == true', true],
  ["'a' && 'b'", 'b'],
  ["'' && 'b'", ''],
  ["'' || 'b'", 'b'],
  ["null || 0 || ''", ''],
  ["0 || 'x'", 'x'],
  ['github.event', contexts['github'] && (contexts['github'] as { event: Json }).event],
  // Comparison: case is ignored, types are made numbers.
  ["'ABC' == 'abc'", true],
  ["'ABC' != 'abc'", false],
  ["'b' > 'A'", true],
  ['null == 0', true],
  ["null == ''", true],
  ['true == 1', true],
  ['false == 0', true],
  ["true == '1'", true],
  ["true == 'true'", false],
  ["false == ''", true],
  ["'1.0' == 1", true],
  ["'0xff' == 255", true],
  ["' 5 ' == 5", true],
  ["'' == 0", true],
  ["'x' == 0", false],
  ["'x' < 1", false],
  ["'x' >= 1", false],
  ["'x' != 1", true],
  ['NaN == NaN', false],
  ['1 < NaN', false],
  ["'10' > '9'", false],
  ["fromJSON('10') > fromJSON('9')", true],
  ["fromJSON('[1]') == fromJSON('[1]')", false],
  ['github.event == github.event', true],
  ['fruits == fruits', true],
  ['fruits == vegetables', false],
  ['fruits == 1', false],
  ['vars.NUMBER == 7', true],
  // Properties: names ignore case, what is absent is null.
  ['github.REF', 'refs/heads/main'],
  ["github['ref']", 'refs/heads/main'],
  ["github['Event']['forced']", false],
  ['github.absent', null],
  ['github.absent.deeper.still', null],
  ['github.ref.nothing', null],
  ['fruits[1].name', 'orange'],
  ['fruits[9]', null],
  ["fruits['1'].name", 'orange'],
  ["fruits[0][format('{0}', 'name')]", 'apple'],
  ['needs.build.outputs.version', '1.2'],
  ['needs.other.result', null],
  ["vars.EMPTY == ''", true],
  ["vars.UNSET == ''", true],
  // Filters.
  ['fruits.*.name', ['apple', 'orange', 'pear']],
  ['vegetables.*.parts', [['roots', 'stalks'], ['roots']]],
  ['vegetables.*.parts.*', ['roots', 'stalks', 'roots']],
  ['github.event.commits.*.added', [['x', 'y']]],
  ['fruits.*.absent', []],
  ['github.ref.*.x', []],
  ['fruits.*.name[0]', []],
  // contains.
  ["contains('Hello world', 'llo')", true],
  ["contains('Hello world', 'LLO')", true],
  ["contains('Hello', '')", true],
  ["contains('', 'a')", false],
  ['contains(1234, 23)', true],
  ["contains(true, 'ru')", true],
  ["contains(github.event.issue.labels.*.name, 'bug')", true],
  ["contains(github.event.issue.labels.*.name, 'BUG')", true],
  ["contains(github.event.issue.labels.*.name, 'bu')", false],
  ['contains(fromJSON(\'["push", "pull_request"]\'), github.event_name)', true],
  ["contains(fromJSON('[1, 2]'), '2')", true],
  ["contains(fromJSON('[]'), 'a')", false],
  ["contains(null, 'a')", false],
  ["contains(vegetables, 'beets')", false],
  // startsWith, endsWith.
  ["startsWith('Hello world', 'He')", true],
  ["startsWith('Hello world', 'hE')", true],
  ["startsWith('Hello', 'ello')", false],
  ["startsWith(123, '12')", true],
  ["startsWith('a', '')", true],
  ["startsWith(github.ref, 'refs/tags/')", false],
  ["endsWith('Hello world', 'ld')", true],
  ["endsWith('Hello world', 'LD')", true],
  ["endsWith('Hello', 'Hell')", false],
  ["endsWith(1.5, '.5')", true],
  // format.
  ["format('Hello {0} {1} {2}', 'Mona', 'the', 'Octocat')", 'Hello Mona the Octocat'],
  ["format('{{Hello {0} {1} {2}!}}', 'Mona', 'the', 'Octocat')", '{Hello Mona the Octocat!}'],
  ["format('{1}{0}{1}', 'a', 'b')", 'bab'],
  ["format('{0}', null)", ''],
  ["format('{0} {1}', true, 1.50)", 'true 1.5'],
  ["format('{0}', fruits)", 'Array'],
  ["format('{0}', github)", 'Object'],
  ["format('{{0}}', 'x')", '{0}'],
  // join.
  ["join(github.event.issue.labels.*.name, ', ')", 'bug, help wanted'],
  ['join(fruits.*.quantity)', '1,2,1'],
  ["join('text', '-')", 'text'],
  ["join(fromJSON('[]'), '-')", ''],
  ["join(fromJSON('[true, null, 1.5]'), '/')", 'true//1.5'],
  ["join(fruits.*.name, '')", 'appleorangepear'],
  ['join(fruits.*.name, 0)', 'apple0orange0pear'],
  // toJSON, fromJSON.
  ["toJSON('a')", '"a"'],
  ['toJSON(null)', 'null'],
  ['toJSON(1.5)', '1.5'],
  ['toJSON(matrix.pair)', '{\n  "a": 1\n}'],
  ["toJSON(fromJSON('[]'))", '[]'],
  ['fromJSON(\'{"include": [{"a": 1}]}\').include[0].a', 1],
  ["fromJSON('true')", true],
  ["fromJSON('3') + 0 == 3", undefined],
  ["fromJSON('null')", null],
  ['fromJSON(\'"x"\')', 'x'],
  ['fromJSON(needs.build.outputs.count)', 3],
  ['fromJSON(toJSON(fruits))[2].name', 'pear'],
  // case.
  ["case(github.ref == 'refs/heads/main', 'production', 'development')", 'production'],
  ["case(github.ref == 'x', 'a', startsWith(github.ref, 'refs/heads/'), 'b', 'c')", 'b'],
  ["case(false, 'a', false, 'b', 'c')", 'c'],
  // Names of functions ignore case.
  ["STARTSWITH('ab', 'A')", true],
  ["fromjson('1')", 1],
];

t.test(`${expressions.length} expressions`, async (t) => {
  for (const [expression, value] of expressions) {
    const evaluate = () => evaluateExpression(expression, { contexts, outcome: fine });
    if (value === undefined) t.throws(evaluate, expression);
    else t.doesNotThrow(() => t.strictSame(evaluate(), value, expression), expression);
  }
});

const texts: [text: string, value: unknown][] = [
  ['${{ matrix.os }}-${{ matrix.node }}', 'linux-18'],
  ['${{ matrix.node }}', 18],
  ['${{ matrix.experimental }}', false],
  ['is ${{ matrix.experimental }}', 'is false'],
  ['[${{ github.absent }}]', '[]'],
  ["${{ 'a' }}${{ 'b' }}", 'ab'],
  ['$ {{ x }} and $${{ 1 }}', '$ {{ x }} and $1'],
  ["${{ '${{ not }}' }}", '${{ not }}'],
  ['${{\n  github.actor\n}}', 'alice'],
];

t.test(`${texts.length} texts with expressions`, async (t) => {
  for (const [text, value] of texts) t.strictSame(evaluateValue(text, { contexts, outcome: fine }), value, text);
});

const conditions: [condition: string | null, after: [fine: boolean, failed: boolean, cancelled: boolean]][] = [
  [null, [true, false, false]],
  ['success()', [true, false, false]],
  ['failure()', [false, true, false]],
  ['cancelled()', [false, false, true]],
  ['always()', [true, true, true]],
  ['!cancelled()', [true, true, false]],
  ['!failure()', [true, false, true]],
  ['success() || failure()', [true, true, false]],
  ['failure() || cancelled()', [false, true, true]],
  ['${{ always() }}', [true, true, true]],
  ["${{ !cancelled() && github.actor == 'alice' }}", [true, true, false]],
  ["github.event_name == 'push'", [true, false, false]],
  ["github.event_name == 'pull_request'", [false, false, false]],
  ["failure() && github.event_name == 'push'", [false, true, false]],
  ["always() && github.event_name == 'schedule'", [false, false, false]],
  ["needs.build.result == 'success'", [true, false, false]],
  ["always() && needs.build.result == 'success'", [true, true, true]],
  ["contains(github.ref, 'always()')", [false, false, false]],
  ['Always()', [true, true, true]],
  ['true', [true, false, false]],
  ['false', [false, false, false]],
  ["''", [false, false, false]],
  ['0', [false, false, false]],
  ["'false'", [true, false, false]],
  ['github.absent', [false, false, false]],
  ['inputs.dry', [false, false, false]],
  ['!inputs.dry', [true, false, false]],
  ['vars.EMPTY', [false, false, false]],
];

t.test(`${conditions.length} conditions after success, failure and cancellation`, async (t) => {
  for (const [condition, expected] of conditions) {
    const found = [fine, failed, cancelled].map((outcome) => evaluateCondition(condition, { contexts, outcome }));
    t.strictSame(found, expected, String(condition));
  }
});

/** Filters of `push`, the refs or paths that start it, and those that do not. */
const branchFilters: [filters: string, starts: string, doesNot: string][] = [
  ['branches: ["feature/*"]', 'feature/my-branch feature/your-branch', 'feature feature/a/b xfeature/a'],
  ['branches: ["feature/**"]', 'feature/beta-a/my-branch feature/your-branch feature/mona/the/octocat', 'feature'],
  ['branches: [main, releases/mona-the-octocat]', 'main releases/mona-the-octocat', 'Main releases/mona'],
  ['branches: ["*"]', 'main releases', 'all/the'],
  ['branches: ["**"]', 'main all/the/branches', 'tag:every/tag'],
  ['branches: ["*feature"]', 'mona-feature feature ver-10-feature', 'feature-1 a/feature'],
  ['branches: ["v2*"]', 'v2 v2.0 v2.9', 'v1 xv2 v2/a'],
  ['branches: ["v[12].[0-9]+.[0-9]+"]', 'v1.10.1 v2.0.0', 'v3.0.0 v1.1 v1.1.1-rc'],
  ['branches: ["[CB]at", "[1-2]00"]', 'Cat Bat 100 200', 'cat 300 at'],
  ['branches: [main, "mona/octocat", "releases/**"]', 'main mona/octocat releases/10 releases/a/b', 'mona'],
  ['branches: ["releases/**", "!releases/**-alpha"]', 'releases/10 releases/beta/mona', 'releases/10-alpha main'],
  ['branches: ["!releases/**-alpha", "releases/**"]', 'releases/10-alpha', 'main'],
  ['branches: ["!main"]', '', 'main other'],
  ['branches-ignore: ["mona/octocat", "releases/**-alpha"]', 'main releases/10', 'mona/octocat releases/beta/3-alpha'],
  ['branches-ignore: [main]', 'other', 'main tag:v1'],
  ['branches: [main]', 'main', 'tag:main tag:v1'],
  ['tags: [v2, "v1.*"]', 'tag:v2 tag:v1.9.1', 'tag:v3 main v2'],
  ['tags-ignore: [v2, "v1.*"]', 'tag:v3', 'tag:v2 tag:v1.0 main'],
  ['branches: [main], tags: ["v*"]', 'main tag:v1', 'v1 tag:main'],
  ['branches: [main], tags-ignore: ["*-rc"]', 'main tag:v1', 'tag:v1-rc other'],
  ['', 'main a/b tag:v1', ''],
  ['branches: ["a?b"]', 'ab b', 'aab xb'],
  ['branches: ["ab+"]', 'ab abbb', 'a aba'],
];

t.test(`${branchFilters.length} filters of branches and tags`, async (t) => {
  for (const [filters, starts, doesNot] of branchFilters) {
    const { push } = parsed(`on: {push: {${filters}}}\njobs: {a: {runs-on: x, steps: [{run: x}]}}`).triggers;
    const matches = (ref: string): boolean => {
      const isTag = ref.startsWith('tag:');
      return matchesPush(push!, { kind: isTag ? 'tag' : 'branch', name: ref.replace('tag:', ''), changedPaths: ['x'] });
    };
    for (const ref of starts.split(' ').filter(Boolean)) t.ok(matches(ref), `${filters} is started by ${ref}`);
    for (const ref of doesNot.split(' ').filter(Boolean)) t.notOk(matches(ref), `${filters} is not started by ${ref}`);
  }
});

/** Several changed files of one push are joined by "+". */
const filtersOfPaths: [filters: string, starts: string, doesNot: string][] = [
  ['paths: ["*"]', 'README.md server.rb', 'docs/a'],
  ['paths: ["*.jsx?"]', 'page.js page.jsx', 'a/page.js page.jsxx'],
  ['paths: ["**"]', 'all/the/files.md a', ''],
  ['paths: ["*.js"]', 'app.js index.js', 'js/app.js app.jsx'],
  ['paths: ["**.js"]', 'index.js js/index.js src/js/app.js', 'index.css'],
  ['paths: ["docs/*"]', 'docs/README.md docs/file.txt', 'docs/a/b docs'],
  ['paths: ["docs/**"]', 'docs/README.md docs/mona/octocat.txt', 'doc/a'],
  ['paths: ["docs/**/*.md"]', 'docs/README.md docs/mona/hello-world.md docs/a/markdown/file.md', 'docs/a.txt a.md'],
  ['paths: ["**/docs/**"]', 'docs/hello.md dir/docs/my-file.txt space/docs/plan/space.doc', 'mydocs/a docs'],
  ['paths: ["**/README.md"]', 'README.md js/README.md', 'README.txt xREADME.md'],
  ['paths: ["**/*src/**"]', 'a/src/app.js my-src/code/js/app.js src/x', 'srcs/x'],
  ['paths: ["**/*-post.md"]', 'my-post.md path/their-post.md', 'post.md'],
  ['paths: ["**/migrate-*.sql"]', 'migrate-10909.sql db/migrate-v1.0.sql db/sept/migrate-v1.sql', 'migrate.sql'],
  ['paths: ["*.md", "!README.md"]', 'hello.md hello.md+README.md', 'README.md docs/hello.md'],
  ['paths: ["*.md", "!README.md", "README*"]', 'hello.md README.md README.doc', 'a.doc'],
  ['paths: ["sub-project/**", "!sub-project/docs/**"]', 'sub-project/index.js sub-project/src/a', 'sub-project/docs/a'],
  ['paths-ignore: ["docs/**"]', 'src/a docs/a+src/a', 'docs/a docs/a+docs/b'],
  ['paths-ignore: ["**.md"]', 'a.txt', 'a.md b/c.md a.md+b.md'],
  ['branches: [main], paths: ["src/**"]', 'src/a', 'b'],
  ['branches: [other], paths: ["src/**"]', '', 'src/a'],
];

t.test(`${filtersOfPaths.length} filters of paths`, async (t) => {
  for (const [filters, starts, doesNot] of filtersOfPaths) {
    const { push } = parsed(`on: {push: {${filters}}}\njobs: {a: {runs-on: x, steps: [{run: x}]}}`).triggers;
    const matches = (files: string): boolean =>
      matchesPush(push!, { kind: 'branch', name: 'main', changedPaths: files.split('+') });
    for (const files of starts.split(' ').filter(Boolean)) t.ok(matches(files), `${filters} is started by ${files}`);
    for (const files of doesNot.split(' ').filter(Boolean))
      t.notOk(matches(files), `${filters} is not started by ${files}`);
  }
});

/** Shapes of `on`, and what they mean. */
const triggers: [on: string, is: (found: Workflow['triggers']) => unknown, expected: unknown][] = [
  ['push', ({ push, pull }) => [push !== null, pull !== null], [true, false]],
  ['[push, pull_request]', ({ push, pull }) => [push !== null, pull !== null], [true, true]],
  ['{push: , pull_request: }', ({ push, pull }) => [push !== null, pull !== null], [true, true]],
  ['pull_request', ({ pull }) => takesAction(pull!, 'opened'), true],
  ['pull_request', ({ pull }) => takesAction(pull!, 'synchronize'), true],
  ['pull_request', ({ pull }) => takesAction(pull!, 'reopened'), true],
  ['pull_request', ({ pull }) => takesAction(pull!, 'ready_for_review'), false],
  ['{pull_request: {types: [ready_for_review]}}', ({ pull }) => takesAction(pull!, 'ready_for_review'), true],
  ['{pull_request: {types: [ready_for_review]}}', ({ pull }) => takesAction(pull!, 'opened'), false],
  ['{pull_request: {types: opened}}', ({ pull }) => takesAction(pull!, 'opened'), true],
  ['{release: {types: [published]}}', ({ events }) => events.get('release')?.types, ['published']],
  ['release', ({ events }) => events.get('release')?.types, null],
  ['{schedule: [{cron: "30 5,17 * * *"}]}', ({ schedule }) => schedule[0]?.cron, '30 5,17 * * *'],
  [
    '{schedule: [{cron: "30 5 * * 1-5", timezone: America/New_York}]}',
    ({ schedule }) => schedule,
    [{ cron: '30 5 * * 1-5', timeZone: 'America/New_York' }],
  ],
  ['{schedule: [{cron: "1 1 * * *"}, {cron: "2 2 * * *"}]}', ({ schedule }) => schedule.length, 2],
  ['workflow_dispatch', ({ dispatch }) => dispatch?.inputs.size, 0],
  ['{workflow_dispatch: {inputs: {a: }}}', ({ dispatch }) => dispatch?.inputs.get('a')?.type, 'string'],
  [
    '{workflow_dispatch: {inputs: {a: {type: choice, options: [x, y], default: y}}}}',
    ({ dispatch }) => [dispatch?.inputs.get('a')?.options, dispatch?.inputs.get('a')?.default],
    [['x', 'y'], 'y'],
  ],
  ['{workflow_run: {workflows: [CI]}}', ({ events }) => events.get('workflow_run')?.workflows, ['CI']],
  ['{merge_group: {branches: [main]}}', ({ mergeGroup }) => mergeGroup?.branches?.patterns, ['main']],
];

t.test(`${triggers.length} triggers`, async (t) => {
  for (const [on, is, expected] of triggers)
    t.strictSame(is(parsed(`on: ${on}\njobs: {a: {runs-on: x, steps: [{run: x}]}}`).triggers), expected, on);
});

/** UTC, from Friday, 2 January 2026, 10:17. */
const schedules: [cron: string, next: string | null][] = [
  ['30 5,17 * * *', '2026-01-02T17:30'],
  ['30 5 * * 1,3', '2026-01-05T05:30'],
  ['30 5 * * 2,4', '2026-01-06T05:30'],
  ['*/15 * * * *', '2026-01-02T10:30'],
  ['15 4,5 * * *', '2026-01-03T04:15'],
  ['20/15 * * * *', '2026-01-02T10:20'],
  ['0 4-6 * * *', '2026-01-03T04:00'],
  ['0 0 1 * *', '2026-02-01T00:00'],
  ['0 0 * * SUN', '2026-01-04T00:00'],
  ['0 0 * * 0', '2026-01-04T00:00'],
  ['0 12 1 JUL *', '2026-07-01T12:00'],
  ['0 0 13 * 5', '2026-01-09T00:00'],
  ['0 0 29 2 *', '2028-02-29T00:00'],
  // Gitea's, which GitHub refuses.
  ['@daily', '2026-01-03T00:00'],
  ['60 * * * *', null],
  ['* * * *', null],
];

t.test(`${schedules.length} schedules`, async (t) => {
  const from = Date.UTC(2026, 0, 2, 10, 17);
  for (const [cron, next] of schedules) {
    const read = parseCron(cron);
    const time = read === null ? null : nextTime(read, from);
    t.equal(time === null ? null : new Date(time).toISOString().slice(0, 16), next, cron);
  }
});

const matrices: [matrix: string, names: string | RegExp][] = [
  [
    '{version: [10, 12, 14], os: [ubuntu, windows]}',
    '10, ubuntu|10, windows|12, ubuntu|12, windows|14, ubuntu|14, windows',
  ],
  ['{a: [1]}', '1'],
  ['{a: [x, y], exclude: [{a: x}]}', 'y'],
  ['{os: [a, b], v: [1, 2], exclude: [{os: a}]}', 'b, 1|b, 2'],
  ['{os: [a, b], v: [1, 2], exclude: [{os: a, v: 1}]}', 'a, 2|b, 1|b, 2'],
  ['{os: [a, b], exclude: [{os: c}]}', 'a|b'],
  ['{os: [a], v: [1], exclude: [{os: a, v: 2}], include: [{v: 1, x: y}]}', 'a, 1, y'],
  ['{os: [a, b], exclude: [{os: a}], include: [{os: a}]}', 'b|a'],
  ['{include: [{site: production, datacenter: a}, {site: staging, datacenter: b}]}', 'production, a|staging, b'],
  ['{os: [w, u], node: [14, 16], include: [{os: w, node: 16, npm: 6}]}', 'w, 14|w, 16, 6|u, 14|u, 16'],
  ['{os: [m, w], version: [12, 14], include: [{os: w, version: 17}]}', 'm, 12|m, 14|w, 12|w, 14|w, 17'],
  ['{a: [1, 2], include: [{b: x}]}', '1, x|2, x'],
  ['{a: [1, 2], include: [{b: x}, {b: y, a: 1}]}', '1, y|2, x'],
  ['{a: [1, 2], include: [{a: 3}, {a: 3, b: x}]}', '1|2|3|3, x'],
  ['{a: [{k: 1}, {k: 2}]}', '1|2'],
  ['{a: [[1, 2], [3]]}', '1, 2|3'],
  ['{a: [true, false]}', 'true|false'],
  ['{a: [null, x]}', '|x'],
  ['{v: ["3.10", 3.1]}', '3.10|3.1'],
  ['{a: []}', /has to be a list/],
  ['{a: [1], exclude: [{a: 1}]}', /no combinations/],
  ['"${{ fromJSON(\'{\\"a\\": [1, 2]}\') }}"', '1|2'],
  ['{a: "${{ fromJSON(\'[1, 2]\') }}"}', '1|2'],
  ['{a: ["${{ github.actor }}", bob]}', 'alice|bob'],
  ['{include: "${{ fromJSON(\'[{\\"a\\": 5}]\') }}"}', '5'],
];

t.test(`${matrices.length} matrices`, async (t) => {
  for (const [matrix, expected] of matrices) {
    const { jobs } = parsed(`on: push\njobs:\n  a: {runs-on: x, strategy: {matrix: ${matrix}}, steps: [{run: x}]}`);
    const names = () =>
      expandMatrix(evaluateValue(jobs.get('a')!.matrix, { contexts, outcome: fine }))
        .map(combinationName)
        .join('|');
    if (typeof expected === 'string') t.equal(names(), expected, matrix);
    else t.throws(names, expected, matrix);
  }
});

/** Keys of a job with the matrix `{os: [linux, mac], n: [1, 2]}`, and what they give for its second combination. */
const resolved: [keys: string, read: string, expected: unknown][] = [
  ['runs-on: ubuntu', 'runsOn', ['ubuntu']],
  ['runs-on: [self-hosted, "${{ matrix.os }}"]', 'runsOn', ['self-hosted', 'linux']],
  ['runs-on: "${{ matrix.os }}"', 'runsOn', ['linux']],
  ['runs-on: {group: g, labels: [a, b]}', 'runsOn', ['a', 'b']],
  ['runs-on: "${{ fromJSON(\'[\\"a\\", \\"b\\"]\') }}"', 'runsOn', ['a', 'b']],
  ['runs-on: x', 'name', 'a (linux, 2)'],
  ['runs-on: x, name: Build', 'name', 'Build (linux, 2)'],
  ['runs-on: x, name: "On ${{ matrix.os }}"', 'name', 'On linux'],
  ['runs-on: x, name: "${{ strategy.job-index }}/${{ strategy.job-total }}"', 'name', '1/4'],
  ['runs-on: x, name: "${{ strategy.max-parallel }} ${{ strategy.fail-fast }}"', 'name', '4 true'],
  ['runs-on: x', 'failFast', true],
  ['runs-on: x', 'continueOnError', false],
  ['runs-on: x, continue-on-error: true', 'continueOnError', true],
  ['runs-on: x, continue-on-error: "${{ matrix.n == 2 }}"', 'continueOnError', true],
  ['runs-on: x, continue-on-error: "${{ matrix.n == 1 }}"', 'continueOnError', false],
  ['runs-on: x, concurrency: ci', 'concurrency', { group: 'ci', cancelInProgress: false, queue: 'single' }],
  [
    'runs-on: x, concurrency: {group: "${{ github.ref }}-${{ matrix.os }}", cancel-in-progress: true}',
    'concurrency',
    { group: 'refs/heads/main-linux', cancelInProgress: true, queue: 'single' },
  ],
  [
    'runs-on: x, concurrency: {group: a, cancel-in-progress: "${{ github.event_name == \'x\' }}"}',
    'concurrency',
    { group: 'a', cancelInProgress: false, queue: 'single' },
  ],
  [
    'runs-on: x, concurrency: {group: a, queue: max}',
    'concurrency',
    { group: 'a', cancelInProgress: false, queue: 'max' },
  ],
  ['runs-on: x, environment: production', 'environment', 'production'],
  ['runs-on: x, environment: {name: "${{ matrix.os }}", url: "https://example.org"}', 'environment', 'linux'],
  ['runs-on: x, environment: {name: a, url: "https://example.org"}', 'environmentUrl', 'https://example.org'],
  ['runs-on: x, environment: "${{ github.absent }}"', 'environment', null],
  ['runs-on: x, environment: {name: a, deployment: false}', 'makesDeployment', false],
];

t.test(`${resolved.length} keys of a job in a matrix`, async (t) => {
  for (const [keys, read, expected] of resolved) {
    const { jobs } = parsed(
      `on: push\njobs:\n  a: {${keys}, strategy: {matrix: {os: [linux, mac], n: [1, 2]}}, steps: [{run: x}]}`,
    );
    const own = { github: contexts['github']!, needs: {}, vars: {}, inputs: {} };
    const budget = new EvaluationBudget();
    const found = resolveJob(jobs.get('a')!, { own, callers: [], budget }, { own: fine, calls: [] }, null);
    if (found.kind !== 'go') throw new Error(`${keys}: ${JSON.stringify(found)}`);
    t.strictSame((found.matrixJobs[1] as unknown as Record<string, unknown>)[read], expected, keys);
  }
});

const all = (level: string) => Object.fromEntries(taskPermissions.map((name) => [name, level]));
const { 'id-token': _, ...allRead } = all('read');
const { 'id-token': __, ...allWrite } = all('write');
const permissionCases: [file: string, job: string, isTrusted: boolean, expected: object][] = [
  ['', '', true, allWrite],
  ['permissions: {contents: read}', '', true, { contents: 'read' }],
  ['permissions: {contents: none, issues: write}', '', true, { issues: 'write' }],
  ['permissions: {}', '', true, {}],
  ['permissions: read-all', '', true, allRead],
  ['permissions: write-all', '', true, all('write')],
  ['permissions: write-all', 'permissions: {}', true, {}],
  ['permissions: {}', 'permissions: {contents: write}', true, { contents: 'write' }],
  ['permissions: {contents: read, issues: write}', 'permissions: {packages: read}', true, { packages: 'read' }],
  ['permissions: {id-token: write}', '', true, { 'id-token': 'write' }],
  ['permissions: {contents: write, issues: read}', '', false, { contents: 'read', issues: 'read' }],
  ['permissions: write-all', '', false, allRead],
  ['permissions: {id-token: write}', '', false, {}],
  ['', '', false, allRead],
];

t.test(`${permissionCases.length} permissions`, async (t) => {
  for (const [file, job, isTrusted, expected] of permissionCases) {
    const more = job === '' ? '' : `${job}, `;
    const workflow = parsed(`on: push\n${file}\njobs:\n  a: {${more}runs-on: x, steps: [{run: x}]}`);
    const asked = workflow.jobs.get('a')!.permissions ?? workflow.permissions;
    t.strictSame(grantedToTask(asked, { fallback: 'write', isTrusted }), expected, `${file} ${job} ${isTrusted}`);
  }
});

const called = (settings: string, job = 'runs-on: x, steps: [{run: x}]', more = ''): Record<string, string> => ({
  '.hearth/workflows/called.yml': `on:\n  workflow_call: ${settings}\n${more}\njobs:\n  b: {${job}}\n`,
});
const calling = (keys = '', file = '', others = ''): string =>
  `on: push\n${file}\njobs:\n  a: {${keys}uses: ./.hearth/workflows/called.yml}\n${others}`;

/** Inputs of a called workflow: what it declares, what it is given, and what it has. */
const callInputs: [declared: string, given: string, inputs: object | RegExp][] = [
  ['{a: {type: string}}', '', { a: '' }],
  ['{a: {type: boolean}}', '', { a: false }],
  ['{a: {type: number}}', '', { a: 0 }],
  ['{a: {type: string, default: x}}', '', { a: 'x' }],
  ['{a: {type: boolean, default: true}}', '', { a: true }],
  ['{a: {type: number, default: 3}}', '', { a: 3 }],
  ['{a: {type: string, default: x}}', 'with: {a: y}, ', { a: 'y' }],
  ['{a: {type: string, default: x}}', 'with: {a: ""}, ', { a: '' }],
  ['{a: {type: boolean}}', 'with: {a: true}, ', { a: true }],
  ['{a: {type: boolean}}', 'with: {a: "${{ github.event_name == \'push\' }}"}, ', { a: true }],
  ['{a: {type: number}}', 'with: {a: 1.5}, ', { a: 1.5 }],
  ['{a: {type: string}}', 'with: {a: "${{ github.actor }}"}, ', { a: 'alice' }],
  ['{a: {type: string, default: "${{ github.actor }}"}}', '', { a: 'alice' }],
  ['{a: {type: string, required: true}}', '', /needs the input a/],
  ['{a: {type: boolean}}', 'with: {a: maybe}, ', /input a of .* is a boolean/],
  ['{a: {type: number}}', 'with: {a: many}, ', /input a of .* is a number/],
  ['{a: {type: string}}', 'with: {a: [x]}, ', /input a of .* is a string/],
  ['{a: {type: string}}', 'with: {a: 3}, ', { a: '3' }],
  ['{}', 'with: {a: 1}, ', /has no input a/],
  ['{a: {type: list}}', '', /is one of string, boolean, number/],
];

/** Secrets: what is declared, what is passed. */
const callSecrets: [declared: string, passed: string, problem: RegExp | null][] = [
  ['{KEY: }', 'secrets: {KEY: x}, ', null],
  ['{key: {required: true}}', 'secrets: {KEY: x}, ', null],
  ['{KEY: {required: true}}', 'secrets: inherit, ', null],
  ['{KEY: {required: false}}', '', null],
  ['{}', 'secrets: inherit, ', null],
  ['{KEY: {required: true}}', '', /needs the secret KEY/],
  ['{KEY: {required: true}, B: }', 'secrets: {B: x}, ', /needs the secret KEY/],
  ['{KEY: }', 'secrets: {OTHER: x}, ', /has no secret OTHER/],
  ['{}', 'secrets: {OTHER: x}, ', /has no secret OTHER/],
];

const ceilings: [caller: string, job: string, callee: string, inner: string, expected: object | null][] = [
  ['', '', '', '', null],
  ['permissions: {contents: read}', '', '', '', { contents: 'read' }],
  ['permissions: {contents: read}', '', 'permissions: {contents: write}', '', { contents: 'read' }],
  ['permissions: {contents: write}', '', 'permissions: {contents: read}', '', { contents: 'read' }],
  ['permissions: {contents: write}', '', '', 'permissions: {contents: read}, ', { contents: 'read' }],
  ['', 'permissions: {issues: write}, ', 'permissions: {contents: write}', '', {}],
  ['permissions: {contents: write}', 'permissions: {issues: read}, ', '', '', { issues: 'read' }],
  ['permissions: {}', '', 'permissions: {contents: read}', '', {}],
];

const steps = 'runs-on: x, steps: [{run: x}]';

t.test(`${callInputs.length + callSecrets.length + ceilings.length} calls of workflows`, async (t) => {
  for (const [declared, given, expected] of callInputs) {
    const read = () => {
      const { jobs } = parsed(calling(given), called(`{inputs: ${declared}}`));
      return inputsOfCall(jobs.get('a.b')!.call!, { contexts, outcome: fine });
    };
    const name = `${declared} ${given}`;
    if (expected instanceof RegExp) t.throws(read, expected, name);
    else t.strictSame(read(), expected, name);
  }
  for (const [declared, passed, problem] of callSecrets) {
    const read = () => parsed(calling(passed), called(`{secrets: ${declared}}`));
    if (problem === null) t.doesNotThrow(read, `${declared} ${passed}`);
    else t.throws(read, problem, `${declared} ${passed}`);
  }
  for (const [caller, job, callee, inner, expected] of ceilings) {
    const workflow = parsed(calling(job, caller), called('{}', inner + steps, callee));
    const { permissions } = workflow.jobs.get('a.b')!;
    t.strictSame(permissions ?? workflow.permissions, expected, [caller, job, callee, inner].join(' / '));
  }
});

/** Inputs of a start by hand: declared, given as texts, and what `inputs` has. */
const dispatched: [declared: string, given: object, inputs: object][] = [
  ['{a: {type: boolean}}', { a: 'true' }, { a: true }],
  ['{a: {type: boolean}}', { a: 'false' }, { a: false }],
  ['{a: {type: number}}', { a: '3' }, { a: 3 }],
  ['{a: {type: string}}', { a: '3' }, { a: '3' }],
  ['{a: }', { a: 'true' }, { a: 'true' }],
  ['{a: {type: choice, options: [x]}}', { a: 'x' }, { a: 'x' }],
  ['{a: {type: environment}}', { a: 'production' }, { a: 'production' }],
];

t.test(`${dispatched.length} inputs of starts by hand`, async (t) => {
  for (const [declared, given, inputs] of dispatched) {
    const workflow = parsed(`on: {workflow_dispatch: {inputs: ${declared}}}\njobs:\n  a: {${steps}}`);
    t.strictSame(inputsOfRun(workflow, { eventPayload: { inputs: given as Json } }), inputs, declared);
  }
});

/** What a runner decides is in its file as it was written: `env` and `defaults` of three levels, ids, outputs. */
const kept: [file: string, job: string, inPayload: RegExp][] = [
  ['env: {A: file}', '', /^env:\n {2}A: file$/m],
  ['', 'env: {A: job}, ', /^ {4}env:\n {6}A: job$/m],
  ['defaults: {run: {shell: bash, working-directory: a}}', '', /^defaults:\n {2}run:\n {4}shell: bash$/m],
  ['', 'defaults: {run: {shell: sh}}, ', /^ {4}defaults:\n {6}run:\n {8}shell: sh$/m],
  ['', 'outputs: {v: "${{ steps.x.outputs.v }}"}, ', /v: "?\$\{\{ steps\.x\.outputs\.v \}\}/],
  ['', 'timeout-minutes: 5, ', /timeout-minutes: 5/],
  ['', 'container: {image: "node:20", env: {A: b}}, ', /container:\n {6}image: "node:20"/],
  ['', 'services: {db: {image: "postgres:17"}}, ', /services:\n {6}db:/],
  ['', '', /env:\n {10}A: step/],
  ['', '', /if: failure\(\)/],
  ['', '', /continue-on-error: true/],
];

t.test(`${kept.length} keys that the runner decides about`, async (t) => {
  for (const [file, job, inPayload] of kept) {
    const read = readWorkflow(
      'ci.yml',
      `on: push\n${file}\njobs:\n  a:\n    {${job}runs-on: x, steps: [{run: x, env: {A: step}, if: failure(), continue-on-error: true}]}`,
    );
    if ('ok' in read) throw read.problem;
    const payload = writePayload(read.jobs.get('a')!, {
      workflow: 'ci',
      name: 'a',
      combination: {},
      runsOn: ['x'],
      continueOnError: false,
      strategy: { 'fail-fast': true, 'job-index': 0, 'job-total': 1, 'max-parallel': 1 },
      inputs: null,
    });
    t.match(payload, inPayload, `${file} ${job}`);
  }
});
