import t from 'tap';
import {
  conflict,
  forbidden,
  internal,
  invalid,
  notFound,
  unauthenticated,
  unavailable,
} from '../../src/kernel/index.ts';
import { errorOutput } from '../../src/ssh/commands/error-output.ts';

t.test('each error code is one line and exit status 1', async (t) => {
  const cases: [unknown, string][] = [
    [notFound('repository_not_found', 'Repository not found'), 'hearth: repository not found\n'],
    [notFound('owner_not_found', 'There is no owner like that'), 'hearth: repository not found\n'],
    [forbidden('read_only_access', 'You may not push.'), 'hearth: You may not push.\n'],
    [invalid('x', 'Bad name.'), 'hearth: Bad name.\n'],
    [conflict('x', 'Taken.'), 'hearth: Taken.\n'],
    [unauthenticated('x', 'Not you.'), 'hearth: Not you.\n'],
    [unavailable('git_busy', 'Too busy.', { retryAfterSeconds: 5 }), 'hearth: Too busy. Try again in 5 seconds.\n'],
    [unavailable('x', 'Too busy.'), 'hearth: Too busy.\n'],
  ];
  for (const [error, line] of cases) t.same(errorOutput(error, 'id'), { line, exitCode: 1, isFault: false });
});

t.test('an internal error shows its id and no details', async (t) => {
  for (const error of [new Error('/secret/path'), internal('disk /dev/x broke'), 'text', null]) {
    t.same(errorOutput(error, 'f00d'), { line: 'hearth: internal error (f00d)\n', exitCode: 1, isFault: true });
  }
});

t.test('security C06: control characters never reach the terminal of a git client', async (t) => {
  const { line } = errorOutput(conflict('x', 'a\u001b[2Jb\u0007c\u009bd\r\ne\tf\u202eg\u2028h\u0000'), 'id');
  t.equal(line, 'hearth: a?[2Jb?c?d e f?g?h?\n');
  t.ok(errorOutput(conflict('x', 'x'.repeat(5_000)), 'id').line.length < 500);
});
