import t from 'tap';
import { clientGit, sampleRepository } from '../git/git-fixture.ts';
import { readAuthorization } from '../../src/http/request/authorization.ts';
import { startGitServer } from '../http-git/git-server.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

t.test('a header is read in one way, and what cannot be read is never taken for none', async (t) => {
  const token = (secret: string) => ({ kind: 'token', secret });
  const basic = (username: string, password: string) => ({ kind: 'basic', username, password });
  const unknown = { kind: 'unknown' };
  const cases: [header: string | undefined, read: unknown][] = [
    [undefined, { kind: 'none' }],
    ['Bearer hth_x', token('hth_x')],
    ['bearer  hth_x ', token('hth_x')],
    ['token hth_x', token('hth_x')],
    ['TOKEN hth_x', token('hth_x')],
    ['Bearer a long random text', token('a long random text')],
    [`Basic ${base64('alice:hth_x')}`, basic('alice', 'hth_x')],
    [`Basic ${base64('alice:a:b')}`, basic('alice', 'a:b')],
    [`Basic ${base64('hth_x')}`, basic('hth_x', '')],
    ['', unknown],
    ['Bearer', unknown],
    ['Bearer ', unknown],
    ['hth_x', unknown],
    [' Bearer hth_x', unknown],
    ['Digest x', unknown],
    [`Bearer ${'x'.repeat(4_097)}`, unknown],
  ];
  for (const [header, read] of cases) t.strictSame(readAuthorization(header), read, header ?? 'no header');
});

t.test('every surface that takes "Bearer" takes "token", as other forges’ clients send it', async (t) => {
  const sample = sampleRepository();
  const server = await startGitServer(t, { SERVICE_METRICS_TOKEN: 'canary' });
  await clientGit(['push', '--quiet', await server.newRepository('closed', 'PRIVATE'), 'main'], { cwd: sample });
  const surfaces: [what: string, target: string, secret: string, without: number][] = [
    ['JSON API', '/api/v1/user', server.tokens.alice, 401],
    ['raw file of the API', '/api/v1/repos/alice/closed/raw?path=docs/guide.txt', server.tokens.alice, 404],
    ['git', '/git/alice/closed.git/info/refs?service=git-upload-pack', server.tokens.alice, 401],
    ['LFS', '/git/alice/closed.git/info/lfs/locks', server.tokens.alice, 401],
    ['metrics', '/metrics', 'canary', 404],
  ];
  for (const [what, target, secret, without] of surfaces) {
    const status = async (authorization?: string) => {
      // Of another machine, since this one may read the metrics.
      const headers = { 'X-Forwarded-For': '203.0.113.9', ...(authorization === undefined ? {} : { authorization }) };
      return (await fetch(`${server.origin}${target}`, { headers })).status;
    };
    const good = await status(`Bearer ${secret}`);
    t.equal(good, 200, what);
    t.equal(await status(`token ${secret}`), good, `${what} by token`);
    t.equal(await status(`Token ${secret}`), good);
    t.equal(await status(), without, `${what} without`);
    t.equal(await status('token hth_wrong'), what === 'metrics' ? 404 : 401, `${what} by a wrong token`);
  }
});
