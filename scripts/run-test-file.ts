/**
 * Runs one test file: scripts/run-tests.ts starts it as `node scripts/run-test-file.ts FILE`. It differs from
 * `node FILE` in two things. An error in a `t.before` that waited for an earlier one or for a test ends the
 * process with 1: of those tap ignores the error, and what they would have prepared is missing in the tests. And tap
 * gets no async hooks, by which it finds the test that an error outside of all tests belongs to: they call a function
 * for each promise of the program, a fifteenth of the CPU time of the suite. Such an error ends the process with 1.
 */
import asyncHooks from 'node:async_hooks';
import type { AsyncHook } from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Before as BeforePlugin } from '@tapjs/before';

asyncHooks.createHook = () => {
  const hook: AsyncHook = { enable: () => hook, disable: () => hook };
  return hook;
};
syncBuiltinESMExports();
const { Before } = await import('@tapjs/before');

const errors: unknown[] = [];
function remember(error: unknown): never {
  errors.push(error);
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
  if (errors.length > 0) process.exitCode = Number(process.exitCode ?? 0) || 1;
  for (const error of errors) console.error('t.before failed:', error);
});

const [node = '', , file = '', ...rest] = process.argv;
const path = resolve(file);
process.argv = [node, path, ...rest];
await import(pathToFileURL(path).href);
