// Git LFS, which is not stored here: its clients get that error, and no client learns of a repository by asking.
import t from 'tap';
import { lfsNotStored } from '../../src/git/index.ts';
import { startGitServer } from './git-server.ts';

const server = await startGitServer(t);
await server.newRepository('open');
await server.newRepository('closed', 'PRIVATE');

const lfsType = 'application/vnd.git-lfs+json';
const batch = JSON.stringify({
  operation: 'upload',
  transfers: ['basic'],
  objects: [{ oid: 'a'.repeat(64), size: 1 }],
});

async function sendRequest(target: string, { method = 'POST', token = '' }: { method?: string; token?: string } = {}) {
  const response = await fetch(`${server.origin}${target}`, {
    method,
    headers: {
      Accept: lfsType,
      'Content-Type': lfsType,
      ...(token === '' ? {} : { Authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}` }),
    },
    ...(method === 'GET' || method === 'HEAD' ? {} : { body: batch }),
  });
  const { status, headers } = response;
  return {
    status,
    type: headers.get('content-type'),
    challenge: headers.get('www-authenticate'),
    text: await response.text(),
  };
}

t.test('a client of LFS reads one sentence, wherever below info/lfs it asks and in whatever way', async (t) => {
  const requests: [method: string, target: string][] = [
    ['POST', 'objects/batch'],
    ['POST', 'locks/verify'],
    ['GET', 'locks'],
    ['PUT', `objects/${'a'.repeat(64)}`],
    ['DELETE', 'locks/1'],
  ];
  for (const [method, operation] of requests) {
    for (const repository of ['/git/alice/open.git', '/git/alice/open', '/alice/open.git', '/repos/alice/open.git']) {
      const { status, type, text } = await sendRequest(`${repository}/info/lfs/${operation}`, { method });
      t.strictSame([status, type], [501, lfsType], `${method} ${repository} ${operation}`);
      t.strictSame(JSON.parse(text), { message: lfsNotStored().message });
    }
  }
});

t.test('security E03 access is that of git: private and absent respond alike', async (t) => {
  const at = (name: string) => `/git/alice/${name}.git/info/lfs/objects/batch`;
  const { alice, aliceReads, bob } = server.tokens;
  const git = await fetch(`${server.origin}/git/alice/closed.git/info/refs?service=git-upload-pack`);
  const refused = { status: 401, challenge: git.headers.get('www-authenticate'), text: await git.text() };
  for (const name of ['closed', 'absent']) {
    const { status, challenge, text } = await sendRequest(at(name));
    t.strictSame({ status, challenge, text }, refused, name);
  }
  t.strictSame(await sendRequest(at('closed'), { token: bob }), await sendRequest(at('absent'), { token: bob }));
  t.equal((await sendRequest(at('closed'), { token: bob })).status, 404);
  for (const token of [alice, aliceReads]) t.equal((await sendRequest(at('closed'), { token })).status, 501);
  t.equal((await sendRequest(at('open'), { token: 'hth_wrong' })).status, 401);
});
