// The test runner decides whether a change passes: any failure in a test file must make it fail.
import t from 'tap';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const runner = join(import.meta.dirname, '../../scripts/run-tests.ts');
// The path: a test that shares a process has a module of its own for 'tap'.
const tapModule = new URL('../../node_modules/tap/dist/esm/index.js', import.meta.url).href;
const tap = `import t from ${JSON.stringify(tapModule)};`;

const files: Record<string, { source: string; says: RegExp }> = {
  'passes.test.ts': {
    source: `${tap} t.test('a', async (t) => { t.ok(true); await t.test('b', async (t) => { t.ok(true); t.same([1], [1]); }); });`,
    says: /^ok {3}\S*passes\.test\.ts \(3, /m,
  },
  'fails.test.ts': {
    source: `${tap} t.test('sums', async (t) => { t.ok(true); t.equal(1 + 1, 3, 'one and one'); });`,
    says: /FAIL \S*fails\.test\.ts \(2, .*\n\s+not ok: sums > one and one\n[^]*?-3\n\s*\+2/,
  },
  'throws.test.ts': {
    source: `${tap} t.ok(true); throw new Error('out of the blue');`,
    says: /FAIL \S*throws\.test\.ts [^]*?out of the blue/,
  },
  'exits.test.ts': {
    source: `${tap} t.ok(true); process.exitCode = 7;`,
    says: /FAIL \S*exits\.test\.ts .*\n\s+exit code 7/,
  },
  'asserts-nothing.test.ts': { source: tap, says: /FAIL \S*asserts-nothing\.test\.ts .*\n\s+no assertion ran/ },
  'does-not-load.test.ts': { source: `import './absent.ts';`, says: /FAIL \S*does-not-load\.test\.ts [^]*?absent\.ts/ },
  'breaks-its-plan.test.ts': { source: `${tap} t.plan(2); t.ok(true);`, says: /FAIL \S*breaks-its-plan\.test\.ts/ },
  'hangs.test.ts': {
    source: `// time limit: 1 s\n${tap} t.test('waits', async (t) => { t.ok(true); setInterval(() => {}, 1000); await new Promise(() => {}); });`,
    says: /FAIL \S*hangs\.test\.ts [^]*?did not end within 1 s/,
  },
  'prepares-late.test.ts': {
    source: `${tap} t.before(async () => {}); t.before(async () => { throw new Error('no server'); }); t.test('a', async (t) => t.ok(true));`,
    says: /FAIL \S*prepares-late\.test\.ts \(2, .*\n\s+exit code 1\n\s+t\.before failed: Error: no server\n/,
  },
  'prepares-inside.test.ts': {
    source: `${tap} t.test('a', async (t) => { await t.test('b', async (t) => t.ok(true)); t.test('c', async (t) => t.ok(true)); t.before(() => { throw new Error('no clock'); }); });`,
    says: /FAIL \S*prepares-inside\.test\.ts [^]*?no clock/,
  },
  'prepares-first.test.ts': {
    source: `${tap} t.before(async () => { throw new Error('no folder'); }); t.test('a', async (t) => t.ok(true));`,
    says: /FAIL \S*prepares-first\.test\.ts \(1, .*\n\s+not ok: no folder\n/,
  },
  'throws-later.test.ts': {
    source: `${tap} t.test('a', async (t) => { setTimeout(() => { throw new Error('too late'); }, 10); await new Promise((done) => setTimeout(done, 200)); t.ok(true); });`,
    says: /FAIL \S*throws-later\.test\.ts [^]*?too late/,
  },
  'rejects-later.test.ts': {
    source: `${tap} t.test('a', async (t) => { void Promise.reject(new Error('not awaited')); await new Promise((done) => setTimeout(done, 200)); t.ok(true); });`,
    says: /FAIL \S*rejects-later\.test\.ts [^]*?not awaited/,
  },
  'leaves-a-process.test.ts': {
    source: `${tap} import { spawn } from 'node:child_process';\nspawn('sleep', ['600'], { stdio: 'inherit' }).unref(); t.ok(true);`,
    says: /^ok {3}\S*leaves-a-process\.test\.ts \(1, /m,
  },
};

function run(args: string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [runner, ...args], (error, stdout) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, output: stdout });
    });
  });
}

t.test('every kind of failure is detected, counted and named', async (t) => {
  const folder = temporaryFolder(t);
  for (const [name, { source }] of Object.entries(files)) writeFileSync(join(folder, name), source);
  const { code, output } = await run([folder]);
  for (const [name, { says }] of Object.entries(files)) t.match(output, says, name);
  t.match(output, /^\d+ passed, \d+ failed\n$/m);
  t.match(output, /\n\d+ passed, (?!0 )\d+ failed\n$/, 'the last line has the sums');
  t.equal(code, 1);
});

t.test('passing files exit with 0, and their assertions are counted once', async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'passes.test.ts'), files['passes.test.ts']?.source ?? '');
  const { code, output } = await run([folder]);
  t.match(output, /\n3 passed, 0 failed\n$/);
  t.equal(code, 0);
});

t.test('a file that fails beside others and passes alone is counted as passed, and named', async (t) => {
  const folder = temporaryFolder(t);
  const passesSecond = `${tap} import { existsSync, writeFileSync } from 'node:fs';
    const mark = ${JSON.stringify(join(folder, 'mark'))};
    t.ok(existsSync(mark)); writeFileSync(mark, '');`;
  writeFileSync(join(folder, 'passes.test.ts'), files['passes.test.ts']?.source ?? '');
  writeFileSync(join(folder, 'second.test.ts'), passesSecond);
  const { code, output } = await run([folder]);
  t.match(output, /FAIL \S*second\.test\.ts[^]*ok {3}\S*second\.test\.ts/);
  t.match(output, /second\.test\.ts failed first and passed when it ran alone\n4 passed, 0 failed\n$/);
  t.equal(code, 0);

  writeFileSync(join(folder, 'third.test.ts'), files['fails.test.ts']?.source ?? '');
  t.match(await run([folder]), { code: 1, output: /\n5 passed, 1 failed\n$/ }, 'once more is enough');
});

t.test(
  'files of one folder share a process; one that ends it fails alone, one that runs alone does not share',
  async (t) => {
    const folder = temporaryFolder(t);
    const pid = `${tap} console.log('# pid', process.pid); t.teardown(() => (globalThis.torn = (globalThis.torn ?? 0) + 1));
    t.equal(globalThis.begun ?? 0, globalThis.torn ?? 0, 'the file before is torn down'); globalThis.begun = (globalThis.begun ?? 0) + 1;
    (await import('node:fs')).appendFileSync(${JSON.stringify(join(folder, 'pids'))}, process.pid + ' ');`;
    const pids = (): number => new Set(readFileSync(join(folder, 'pids'), 'utf8').trim().split(' ')).size;
    writeFileSync(join(folder, 'a.test.ts'), pid);
    writeFileSync(join(folder, 'b.test.ts'), pid);
    t.match(await run([folder]), { code: 0, output: /\n2 passed, 0 failed\n$/ });
    t.equal(pids(), 1);

    writeFileSync(join(folder, 'c.test.ts'), `// runs alone: it looks at its memory\n${pid}`);
    t.match(await run([folder]), { code: 0, output: /\n3 passed, 0 failed\n$/ });
    t.equal(pids(), 3, 'the one of before, and two');

    writeFileSync(join(folder, 'bb.test.ts'), `${tap} t.ok(true); process.exit(3);`);
    const ended = await run([folder]);
    t.match(ended, { code: 1, output: /FAIL \S*\/bb\.test\.ts [^]*?not ok: test unfinished/ });
    t.notMatch(ended.output, /FAIL \S*\/[abc]\.test/, 'the others ran again and passed');
  },
);

t.test('no test file at all is a failure, and so is a missing one', async (t) => {
  const folder = temporaryFolder(t);
  t.match(await run([folder]), { code: 1, output: /\n0 passed, 1 failed\n$/ });
  t.match(await run([join(folder, 'absent.test.ts')]), {
    code: 1,
    output: /there is no such file\n0 passed, 1 failed\n$/,
  });
});

t.test('each script prints its usage, and an unknown benchmark lists the known ones', async (t) => {
  const script = (name: string, ...args: string[]) =>
    new Promise<{ code: unknown; output: string }>((resolve) => {
      execFile(join(import.meta.dirname, '../../scripts', name), args, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, output: stdout + stderr }),
      );
    });
  for (const name of ['test', 'bench', 'chaos', 'build-executable'])
    t.match(await script(name, '--help'), { code: 0, output: new RegExp(`^[A-Z].*\nusage: scripts/${name} `) });
  for (const args of [[], ['nope'], ['processes']])
    t.match(await script('bench', ...args), { code: 2, output: /one of: all .*ci .*federation .*pages / });
});
