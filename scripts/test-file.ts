/**
 * Runs one test file: scripts/run-tests.ts starts it as `node scripts/test-file.ts FILE`. It differs from
 * `node FILE` in one thing: an error in a `t.before` that waited for an earlier one or for a test ends the
 * process with 1. Of those tap ignores the error, and what they would have prepared is missing in the tests.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Before } from '@tapjs/before';

const errors: unknown[] = [];
function remember(error: unknown): never {
  errors.push(error);
  throw error;
}

const { before } = Before.prototype;
Before.prototype.before = function (this: Before, work: (this: unknown) => unknown) {
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
