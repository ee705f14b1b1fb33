// Signatures on commits and tags: what a page says of them, and that it shows at once whose a key is.
import t from 'tap';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { runGit } from '../../fixtures/git-repositories.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { sendRequest, fillRepository, signedIn, startWeb } from '../../fixtures/web-fixture.ts';

t.setTimeout(120_000);

t.test('a badge for every state of a signature', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  await alice.post('/repos', { name: 'kiln', visibility: 'PUBLIC' });
  const { path: bare } = await web.modules.repositories.find({ kind: 'anonymous' }, 'alice', 'kiln');
  await fillRepository(t, bare, { 'a.txt': 'one\n' });
  const folder = temporaryFolder(t);
  const key = path.join(folder, 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'alice', '-f', key]);
  const git = (...args: string[]) =>
    runGit(['-c', 'gpg.format=ssh', '-c', `user.signingkey=${key}`, ...args], { cwd: bare });
  const tree = (await git('rev-parse', 'main^{tree}')).trim();
  const signed = (await git('commit-tree', '-S', '-p', 'main', '-m', 'Signed words', tree)).trim();
  const raw = await git('cat-file', 'commit', signed);
  /** The same signature over other words, or in another form. */
  const store = (text: string): string =>
    execFileSync('git', ['hash-object', '-t', 'commit', '-w', '--stdin'], { cwd: bare, input: text }).toString().trim();
  const changed = store(raw.replace('Signed words', 'Other words'));
  const openPgp = store(raw.replaceAll('SSH SIGNATURE', 'PGP SIGNATURE'));
  const broken = store(
    raw
      .replace(/^ U1NIU0lH/m, ' AAAAAAAA')
      .replace(/^(gpgsig -----BEGIN SSH SIGNATURE-----\n) U1NIU0lH/m, '$1 AAAAAAAA'),
  );
  await git('update-ref', 'refs/heads/main', signed);
  for (const [name, oid] of Object.entries({ changed, openPgp, broken }))
    await git('update-ref', `refs/heads/${name}`, oid);
  await git('tag', '-s', '-m', 'Release', 'v1', signed);
  const B = '/repos/alice/kiln';
  const badge = async (target: string): Promise<string> =>
    /<span class="badge seal is-(\w+)" title="([^"]*)">.*?<\/svg>([^<]*)</
      .exec((await sendRequest(web, B + target)).body)
      ?.slice(1)
      .join(' | ') ?? '';

  t.match(
    await badge(`/commit/${signed}`),
    /^plain \| .*which does not belong to an account on this server\. \| Unknown key$/,
  );
  t.match(await badge('/commits/main'), /Unknown key$/);
  t.match(await badge(`/commit/${changed}`), /^bad \| .* \| Bad signature$/);
  t.match(await badge(`/commit/${openPgp}`), /^plain \| .*OpenPGP.*cannot read.* \| Signed$/);
  t.match(await badge(`/commit/${broken}`), /^plain \| .*cannot read.* \| Signed$/);
  t.equal(await badge(`/commit/${(await git('rev-parse', 'main^')).trim()}`), '', 'nothing for what is not signed');

  t.equal((await alice.post('/settings/keys', { title: 'desk', key: readFileSync(`${key}.pub`, 'utf8') })).status, 303);
  t.match(await badge(`/commit/${signed}`), /^plain \| .*is not a verified address of alice\. \| Unverified$/);
  await web.modules.accounts.addresses.add(alice.id, { address: 'alice@example.org', isVerified: true });
  for (const target of [`/commit/${signed}`, '/commits/main', '/tags'])
    t.match(await badge(target), /^good \| .*SSH key SHA256:.*, which belongs to alice\..* \| Verified$/, target);
  t.match(await badge(`/commit/${changed}`), /Bad signature$/);

  await web.modules.accounts.setDisabled(alice.id, true);
  t.match(await badge('/commits/main'), /Unknown key$/, 'a disabled account vouches for nothing');
  await web.modules.accounts.setDisabled(alice.id, false);
  t.match(await badge('/commits/main'), /Verified$/);
  for (const { id } of await web.modules.accounts.listKeys(alice.id))
    await web.modules.accounts.removeKey(alice.id, id);
  t.match(await badge(`/commit/${signed}`), /Unknown key$/, 'also on a page that was kept');
});
