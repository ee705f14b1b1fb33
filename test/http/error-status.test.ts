import t from 'tap';
import { httpStatusOf, retryAfter } from '../../src/http/index.ts';
import { conflict, invalid, rateLimited, unavailable } from '../../src/kernel/index.ts';

t.test('a limit of the caller is 429 and a server in trouble 503, both with the time to wait', async (t) => {
  const cases: [Parameters<typeof httpStatusOf>[0], number, object][] = [
    [rateLimited('too_many_contributions', 'x', 12.2), 429, { 'Retry-After': '13' }],
    [rateLimited('too_many_tries', 'x', 0), 429, { 'Retry-After': '1' }],
    [unavailable('git_busy', 'x', { retryAfterSeconds: 2 }), 503, { 'Retry-After': '2' }],
    [unavailable('git_busy', 'x'), 503, { 'Retry-After': '5' }],
    [conflict('handle_taken', 'x'), 409, {}],
    [invalid('invalid_text', 'x'), 400, {}],
  ];
  for (const [error, status, headers] of cases) {
    t.equal(httpStatusOf(error), status, error.reason);
    t.strictSame(retryAfter(status, error), headers, error.reason);
  }
});
