/**
 * Runs test files one after another in this process: scripts/run-tests.ts starts it as `node scripts/run-test-files.ts
 * FILE...`. Modules are loaded and compiled once for all of them, which is two thirds of the CPU time of small files.
 * Each file is a subtest with its path as the name: `tap`, as the file imports it, is that subtest, so what the file
 * prepares is torn down before the next file begins.
 *
 * Two things differ from `node FILE`. An error in a `t.before` that waited for an earlier one or for a test ends the
 * process with 1: of those tap ignores the error, and what they would have prepared is missing in the tests. And tap
 * gets no async hooks, by which it finds the test that an error outside of all tests belongs to: they call a function
 * for each promise of the program, a fifteenth of the CPU time of the suite. Such an error ends the process with 1.
 */
import asyncHooks from 'node:async_hooks';
import type { AsyncHook } from 'node:async_hooks';
import { readFileSync, realpathSync } from 'node:fs';
import { registerHooks, syncBuiltinESMExports } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Before as BeforePlugin } from '@tapjs/before';
import type { Test } from 'tap';
import { defaultLimitSeconds, readTimeLimit } from './test-limits.ts';

// tap names the folders of `t.testdir` after them.
const [node = '', , ...files] = process.argv;
process.argv = [node, files[0] ?? ''];

asyncHooks.createHook = () => {
  const hook: AsyncHook = { enable: () => hook, disable: () => hook };
  return hook;
};
syncBuiltinESMExports();
const { Before } = await import('@tapjs/before');
const { t: root } = await import('tap');

const problems: unknown[] = [];
function remember(error: unknown): never {
  problems.push('t.before failed:', error);
  throw error;
}

const { before } = Before.prototype;
Before.prototype.before = function (this: BeforePlugin, work: (this: unknown) => unknown) {
  return before.call(this, function (this: unknown) {
    try {
      const result = work.call(this);
      return result instanceof Promise ? result.catch(remember) : result;
    } catch (error) {
      return remember(error);
    }
  });
} as typeof before;

process.on('exit', () => {
  if (problems.length === 0) return;
  process.exitCode = Number(process.exitCode ?? 0) || 1;
  console.error(...problems);
});

/** The tests of the files by the module that stands for `tap` in each. */
const tests = new Map<string, Test>();
const tap = import.meta.resolve('tap');
(globalThis as { testOfFile?: typeof tests }).testOfFile = tests;
const packages = '/node_modules/';
registerHooks({
  resolve(specifier, context, nextResolve) {
    const { parentURL = '' } = context;
    // For each of the server's 9,000 imports Node asks the file system: a third of the time that loading takes.
    if (/^\.\.?\/[^?#%]*\.ts$/.test(specifier) && parentURL.startsWith('file:') && !parentURL.includes(packages))
      return { url: new URL(specifier, parentURL).href, format: 'module-typescript', shortCircuit: true };
    if (specifier !== 'tap' && specifier !== tap) return nextResolve(specifier, context);
    return { url: `test-of:${parentURL}`, format: 'module', shortCircuit: true };
  },
  load(url, context, nextLoad) {
    if (!url.startsWith('test-of:')) return nextLoad(url, context);
    return {
      source: `export default globalThis.testOfFile.get(${JSON.stringify(url)});`,
      format: 'module',
      shortCircuit: true,
    };
  },
});

/**
 * Processor time of this process and of the children that it has waited for, in seconds; without them where /proc is
 * missing. A child's child counts when it was waited for: the pages of Chromium are not.
 */
function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  let ofChildren = 0;
  try {
    // proc(5): cutime and cstime, in ticks of 1/100 s. The name, in parentheses, can have spaces.
    const fields = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    ofChildren = (Number(fields[13]) + Number(fields[14])) / 100;
  } catch {
    // Not on Linux.
  }
  return (user + system) / 1e6 + ofChildren;
}

let spent = 0;
for (const file of files) {
  const path = resolve(file);
  // As Node names modules.
  const { href } = pathToFileURL(realpathSync(path));
  const limitSeconds = readTimeLimit(readFileSync(path, 'utf8')) ?? defaultLimitSeconds;
  process.argv = [node, path];
  await root.test(file, { timeout: limitSeconds * 1000 }, async (t) => {
    tests.set(`test-of:${href}`, t);
    await import(href);
  });
  const before = spent;
  spent = processorSeconds();
  root.comment(`processor seconds: ${(spent - before).toFixed(2)} ${file}`);
  // tap sets it when the process ends.
  if (process.exitCode !== undefined && files.length > 1)
    problems.push(`${file} set the exit code ${process.exitCode}`);
}
