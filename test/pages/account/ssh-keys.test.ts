import t from 'tap';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { extractMain, signedIn, startWeb } from '../../fixtures/web-fixture.ts';
import type { PageResponse } from '../../fixtures/web-fixture.ts';

const location = ({ headers }: PageResponse): string => headers.location ?? '';

async function publicKey(t: Parameters<typeof temporaryFolder>[0]): Promise<string> {
  const file = path.join(temporaryFolder(t), 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'laptop', '-f', file]);
  return execFileSync('cat', [`${file}.pub`]).toString();
}

t.test('keys are added, listed and removed', async (t) => {
  const web = await startWeb(t);
  const [alice, bob] = [await signedIn(web, 'alice'), await signedIn(web, 'bob')];
  const key = await publicKey(t);
  t.equal(location(await alice.post('/settings/keys', { title: 'Laptop', key })), '/settings/keys?done=key-added');
  const list = extractMain(await alice.get('/settings/keys'));
  t.match(list, /Laptop[^]*SHA256:[^]*ssh-ed25519[^]*never used/);
  const taken = await bob.post('/settings/keys', { title: 'mine', key });
  t.equal(taken.status, 422);
  t.match(extractMain(taken), /already in use/);
  t.notMatch(extractMain(taken), /alice/, 'without saying by whom');
  t.match(
    extractMain(await bob.post('/settings/keys', { key: 'garbage <b>' })),
    /id="key-error"[^]*|garbage &lt;b&gt;/,
  );
  const id = /\/settings\/keys\/([\w-]+)\/delete/.exec(list)?.[1] ?? '';
  t.equal((await bob.post(`/settings/keys/${id}/delete`)).status, 404, 'security E01');
  t.equal(location(await alice.post(`/settings/keys/${id}/delete`)), '/settings/keys?done=key-removed');
});
