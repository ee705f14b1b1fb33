import t from 'tap';
import {
  conflict,
  DomainError,
  forbidden,
  internal,
  invalid,
  isDomainError,
  notFound,
  silentLogger,
  systemClock,
  systemRandom,
  unauthenticated,
  unavailable,
} from '../../src/kernel/index.ts';

t.test('each constructor sets its code and keeps reason, message and details', async (t) => {
  const cause = new Error('the disk said no');
  const made = [
    invalid('name_taken', 'That name is taken', { field: 'name', cause }),
    unauthenticated('bad_token', 'The token is not valid'),
    forbidden('read_only_token', 'The token may only read'),
    notFound('no_image', 'No image'),
    conflict('last_owner', 'The last owner stays'),
    unavailable('git_busy', 'Try again soon', { retryAfterSeconds: 5 }),
    internal('It broke', { cause }),
  ];
  t.same(
    made.map((error) => [error.code, error.reason, error.message]),
    [
      ['invalid', 'name_taken', 'That name is taken'],
      ['unauthenticated', 'bad_token', 'The token is not valid'],
      ['forbidden', 'read_only_token', 'The token may only read'],
      ['not_found', 'no_image', 'No image'],
      ['conflict', 'last_owner', 'The last owner stays'],
      ['unavailable', 'git_busy', 'Try again soon'],
      ['internal', 'internal', 'It broke'],
    ],
  );
  t.equal(made[0]!.field, 'name');
  t.equal(made[0]!.cause, cause);
  t.equal(made[5]!.retryAfterSeconds, 5);
  t.ok(made.every((error) => error instanceof Error && isDomainError(error) && error.stack !== undefined));
});

t.test('a hidden and an absent thing are refused with the same message', async (t) => {
  const { code, reason, message, field, retryAfterSeconds } = notFound();
  t.strictSame(
    [code, reason, message, field, retryAfterSeconds],
    ['not_found', 'not_found', 'Not found', undefined, undefined],
  );
});

t.test('the cause of an error is for the log: it is never part of what a transport prints', async (t) => {
  const error = internal('It broke', { cause: new Error('secret path') });
  t.notMatch(String(error), /secret path/);
  t.notMatch(JSON.stringify(error), /secret path/);
  t.notOk('cause' in new DomainError('invalid', 'x', 'y'), 'no empty cause is kept');
});

t.test('only a DomainError is one', async (t) => {
  for (const other of [new Error('x'), { code: 'invalid', reason: 'x', message: 'y' }, null, undefined, 'invalid']) {
    t.equal(isDomainError(other), false);
  }
});

t.test('the system clock and randomness are the real ones', async (t) => {
  const before = Date.now();
  const now = systemClock.now();
  t.ok(now >= before && now <= Date.now());
  t.equal(systemRandom.bytes(32).length, 32);
  t.notSame(systemRandom.bytes(32), systemRandom.bytes(32));
  t.match(systemRandom.uuid(), /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
});

t.test('the silent logger accepts everything, its children too', async (t) => {
  const child = silentLogger.child({ deps: 'db' });
  for (const level of ['debug', 'info', 'warn', 'error'] as const) child[level]('event', { count: 1 });
  t.pass('nothing thrown');
});
