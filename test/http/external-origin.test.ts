import t from 'tap';
import { externalOrigin } from '../../src/http/request/external-origin.ts';

t.test('security C09 the origin comes from the base URL when there is one', async (t) => {
  const from = (
    host: string | undefined,
    baseUrl: string | null = null,
    forwardedProto: 'http' | 'https' | null = null,
  ) => {
    const verdict = externalOrigin({ host, baseUrl, forwardedProto });
    return verdict.kind === 'known' ? verdict.origin : verdict.kind;
  };
  t.equal(from('192.168.1.20:3000'), 'http://192.168.1.20:3000');
  t.equal(from('Git.Example.org', null, 'https'), 'https://git.example.org');
  t.equal(from('[::1]:3000'), 'http://[::1]:3000');
  t.equal(from('git.example.org:443', null, 'https'), 'https://git.example.org', 'a default port is not written');
  for (const bad of [
    undefined,
    '',
    'a b',
    'a/b',
    'user@host',
    'host:99999',
    'host:x',
    '<script>',
    'a,b',
    '-',
    'x'.repeat(300),
  ]) {
    t.equal(from(bad), 'malformed', String(bad).slice(0, 20));
  }
  const fixed = 'https://git.example.org';
  t.equal(from('git.example.org', fixed), fixed, 'even when the proxy forgets to say https');
  t.equal(from('GIT.example.org:443', fixed), fixed);
  t.equal(from('git.example.org:8080', fixed), 'misdirected');
  t.equal(from('evil.example', fixed), 'misdirected');
  for (const local of ['localhost:3000', '127.0.0.1:3000', '127.9.9.9', '[::1]'])
    t.equal(from(local, fixed), `http://${local}`);
  t.equal(from('localhost.evil.example', fixed), 'misdirected');
});
