import { PassThrough } from 'node:stream';
import t from 'tap';
import { createLogger } from '../../src/cli/serving/logger.ts';
import type { LoggerOptions } from '../../src/cli/serving/logger.ts';
import type { Logger } from '../../src/kernel/index.ts';

/** The lines that `use` makes the logger write. */
function logged(
  use: (log: Logger) => void,
  { isTTY = false, ...options }: Partial<LoggerOptions> & { isTTY?: boolean } = {},
): string[] {
  const stream = Object.assign(new PassThrough(), { isTTY });
  use(createLogger(stream, { level: 'info', format: 'auto', ...options }));
  const text = String(stream.read() ?? '');
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

function oneJson(use: (log: Logger) => void): Record<string, unknown> {
  const lines = logged(use);
  if (lines.length !== 1) throw new Error(`expected one line, found ${lines.length}`);
  return JSON.parse(lines[0]!) as Record<string, unknown>;
}

t.test('a line is one JSON object with level, time and event', async (t) => {
  const line = oneJson((log) =>
    log.child({ requestId: 'r1' }).info('push.settled', { ms: 12, list: [1, null], no: undefined }),
  );
  t.match(line, { level: 'info', event: 'push.settled', requestId: 'r1', ms: 12, list: [1, null] });
  t.match(line['time'], /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  t.notOk('pid' in line || 'hostname' in line);
});

t.test('lines below the level are not written', async (t) => {
  const all = (log: Logger): void => {
    log.debug('a');
    log.info('b');
    log.warn('c');
    log.error('d');
  };
  t.equal(logged(all).length, 3);
  t.equal(logged(all, { level: 'error' }).length, 1);
  t.equal(logged(all, { level: 'debug' }).length, 4);
});

t.test('security K02 secrets are redacted by field name, at any depth', async (t) => {
  const canary = 'canary-canary';
  const fields = {
    authorization: canary,
    Cookie: canary,
    'set-cookie': [canary],
    token: canary,
    accessToken: canary,
    access_token: canary,
    password: canary,
    newPassword: canary,
    client_secret: canary,
    privateKey: { pem: canary },
    headers: { authorization: canary, accept: 'text/html' },
    deep: [{ deeper: { setupToken: canary } }],
  };
  const line = oneJson((log) => log.warn('x', fields));
  t.notMatch(JSON.stringify(line), canary);
  t.match(line, { token: '[redacted]', headers: { accept: 'text/html' } });
  t.match(
    oneJson((log) => log.warn('x', { tokenId: 7, tokens: 3, mustChangePassword: true, password: null })),
    { tokenId: 7, tokens: 3, mustChangePassword: true, password: null },
    'what is no secret stays',
  );
});

t.test('security K02 secrets are redacted by pattern, inside any text', async (t) => {
  const token = 'hth_kONVDX5JSc4ZYtmzIAKRqY9orfbCcPyw4C4SQr';
  const line = JSON.stringify(
    oneJson((log) => {
      log.error(`failed with ${token}`, {
        line: `GET /x?token=SETUP-CANARY&page=2 Authorization: Bearer abc.def Basic Zm9vOmJhcg== authorization: token ghi.jkl`,
        url: 'https://alice:url-canary@example.org/x',
        key: '-----BEGIN OPENSSH PRIVATE KEY-----\nkey-canary\n-----END OPENSSH PRIVATE KEY-----',
        error: Object.assign(new Error(`no ${token}`, { cause: new Error('password in cause') }), {
          token: 'field-canary',
        }),
      });
    }),
  );
  t.notMatch(line, /kONVDX5|SETUP-CANARY|abc\.def|ghi\.jkl|Zm9vOmJhcg|url-canary|key-canary|field-canary/);
  for (const kept of [/no hth_\[redacted\]/, /page=2/, /example\.org\/x/]) t.match(line, kept);
});

t.test('security security K01 control characters, line separators and broken characters are escaped', async (t) => {
  const hostile = 'a\u001b[2J\r\n{"level":"error"}\u0000\u009b\u2028\u202e\ud800%s%d';
  const lines = logged((log) => log.info(hostile, { [hostile]: hostile, error: new Error(hostile) }));
  t.equal(lines.length, 1);
  t.notMatch(lines[0], /[\u0000-\u001f\u007f-\u009f\u2028\u202e]/);
  const line = JSON.parse(lines[0]!) as Record<string, unknown>;
  t.match(line['event'], 'a\\u001b[2J');
  t.match(line['event'], /%s%d$/);
});

t.test('security security K01 a line is at most 8 KiB, whatever is logged', async (t) => {
  const cyclic: Record<string, unknown> = { name: 'x' };
  cyclic['self'] = cyclic;
  const big: [string, Record<string, unknown>][] = [
    ['long', { text: '"\\\n'.repeat(100_000) }],
    ['many', Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field${index}`, 'ü'.repeat(50)]))],
    ['wide', { list: Array.from({ length: 5_000 }, () => '\u0000'.repeat(50)) }],
    ['cyclic', cyclic],
    ['e'.repeat(50_000), {}],
    [
      'bytes',
      {
        blob: Buffer.alloc(1e6),
        big: 10n,
        when: new Date(0),
        map: new Map([['a', 1]]),
        set: new Set([1]),
        f: () => {},
      },
    ],
  ];
  for (const [event, fields] of big) {
    const line = logged((log) => log.info(event, { requestId: 'r1', ...fields }))[0]!;
    t.ok(Buffer.byteLength(line) < 8 * 1024, `${event.slice(0, 10)}: ${Buffer.byteLength(line)} bytes`);
    t.match(JSON.parse(line), { level: 'info', event: event.slice(0, 4) });
  }
});

t.test('an error keeps its name, message, code, cause and stack', async (t) => {
  const error = Object.assign(new TypeError('outer', { cause: new Error('inner') }), { code: 'E1' });
  t.match(
    oneJson((log) => log.error('x', { error })),
    {
      error: { name: 'TypeError', message: 'outer', code: 'E1', cause: { message: 'inner' }, stack: [/^at /] },
    },
  );
});

t.test('on a terminal, or when requested, lines are readable text', async (t) => {
  const use = (log: Logger): void =>
    log.warn('git.outdated', { version: '2.39.5', advice: 'update git', n: 1, o: { a: [1] } });
  const readable =
    /^\d\d:\d\d:\d\d warn {2}git\.outdated {2}version=2\.39\.5 {2}advice='update git' {2}n=1 {2}o=\{ a: \[ 1 \] \}$/;
  t.match(logged(use, { isTTY: true })[0], readable);
  t.match(logged(use, { format: 'text' })[0], readable);
  t.match(logged(use, { isTTY: true, format: 'json' })[0], /^\{/);
  t.notMatch(logged((log) => log.info('x', { a: '\u001b[2J' }), { isTTY: true })[0], /\u001b/);
});
