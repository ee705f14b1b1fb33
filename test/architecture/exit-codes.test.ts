import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { exitCodeOf, exitCodeOfServe, exitCodes, Interrupted } from '../../src/cli/exit-codes.ts';
import { hintFor, hintedReasons } from '../../src/cli/hints.ts';
import { DomainError } from '../../src/kernel/index.ts';
import type { ErrorCode } from '../../src/kernel/index.ts';

const refusal = (code: ErrorCode, reason = 'x'): DomainError => new DomainError(code, reason, 'No.');

t.test('the documented list of exit codes', async (t) => {
  t.same(
    exitCodes.map(([code]) => code),
    [0, 1, 2, 3, 4, 5, 6, 7, 78, 130, 143],
  );
});

t.test('every error code has its exit code', async (t) => {
  const expected: Record<ErrorCode, number> = {
    invalid: 2,
    unauthenticated: 4,
    forbidden: 4,
    not_found: 3,
    conflict: 4,
    unavailable: 6,
    internal: 1,
  };
  for (const [code, exit] of Object.entries(expected)) t.equal(exitCodeOf(refusal(code as ErrorCode)), exit, code);
  t.equal(exitCodeOf(new Error('a fault')), 1);
  t.equal(exitCodeOf('not even an error'), 1);
  t.equal(exitCodeOf(new Interrupted('SIGINT')), 130);
  t.equal(exitCodeOf(new Interrupted('SIGTERM')), 143);
});

t.test('invalid settings exit with 5, and keep systemd from restarting serve', async (t) => {
  for (const reason of [
    'config_file',
    'config_syntax',
    'config_unknown_key',
    'config_bad_value',
    'config_combination',
    'no_data_dir',
    'git_missing',
    'git_too_old',
  ]) {
    t.equal(exitCodeOf(refusal('invalid', reason)), 5, reason);
    t.equal(exitCodeOfServe(refusal('invalid', reason)), 78, reason);
  }
  for (const reason of [
    'data_dir_unusable',
    'network_file_system',
    'schema_newer',
    'schema_behind',
    'port_forbidden',
    'host_key_unusable',
    'database_unavailable',
    'database_unfit',
    'database_url_invalid',
    'read_only',
  ]) {
    t.equal(exitCodeOfServe(refusal('unavailable', reason)), 78, reason);
  }
  t.equal(exitCodeOfServe(refusal('unavailable', 'data_dir_in_use')), 6, 'the other server may be about to end');
  t.equal(exitCodeOfServe(refusal('unavailable', 'database_locked')), 6);
  t.equal(exitCodeOfServe(refusal('unavailable', 'port_in_use')), 1);
  t.equal(exitCodeOfServe(new Error('a fault')), 1);
});

t.test('every hint belongs to an existing reason', async (t) => {
  const project = path.join(import.meta.dirname, '../..');
  const sources = globSync('src/**/*.ts', { cwd: project })
    .filter((file) => !file.endsWith('cli/hints.ts'))
    .map((file) => readFileSync(path.join(project, file), 'utf8'))
    .join('\n');
  for (const reason of hintedReasons) {
    t.ok(sources.includes(`'${reason}'`), reason);
    t.type(hintFor(reason), 'string');
  }
  t.equal(hintFor('constructor'), null);
  t.equal(hintFor('no_such_reason'), null);
});
