// Signed commits of both kinds: what git says with everyone's keys at hand, and what the pages say.
import t from 'tap';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runGit } from '../fixtures/git-repositories.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { fillRepository, sendRequest, signedIn, startWeb } from '../fixtures/web-fixture.ts';
import { parseCommit } from '../../src/git/objects/parse-objects.ts';
import { withSignature } from '../../src/git/index.ts';
import { commitText, KeyRing, makeSshKey, signWithSsh, storeSigned } from './signed-commits.ts';

t.setTimeout(240_000);

const alice = 'Alice <alice@example.org>';
const bob = 'Bob <bob@example.org>';
const day = 24 * 60 * 60;

interface Case {
  about: string;
  /** Of whom the commit says that they committed it. */
  committer?: string;
  sign: (payload: string) => string | Promise<string>;
  /** Changes the message after it was signed. */
  isAltered?: boolean;
  /** `%G?` of git: good, good with an unknown trust, bad, expired, revoked, no key. */
  git: string;
  page: RegExp;
}

t.test('git log --show-signature and the pages agree', async (t) => {
  const web = await startWeb(t);
  const { accounts, signing, repositories } = web.modules;
  const [her, him] = [await signedIn(web, 'alice'), await signedIn(web, 'bob')];
  await accounts.addresses.add(her.id, { address: 'alice@example.org', isVerified: true });
  await accounts.addresses.add(him.id, { address: 'bob@example.org', isVerified: true });
  await her.post('/repos', { name: 'kiln', visibility: 'PUBLIC' });
  const { path: bare } = await repositories.find({ kind: 'anonymous' }, 'alice', 'kiln');
  await fillRepository(t, bare, { 'a.txt': 'one\n' });

  const [ring, verifier, folder] = [new KeyRing(t), new KeyRing(t), temporaryFolder(t)];
  const now = Math.floor(Date.now() / 1000);
  const past = now - 400 * day;
  const keys = {
    ed25519: ring.make(`Alice Ed <alice@example.org>`, 'ed25519'),
    rsa: ring.make('Alice Rsa <alice@example.org>', 'rsa3072'),
    p256: ring.make('Alice P256 <alice@example.org>', 'nistp256'),
    withSubkey: ring.make('Alice Sub <alice@example.org>', 'ed25519', { usage: 'cert' }),
    expiredSince: ring.make('Alice Since <alice@example.org>', 'ed25519', { at: past, expires: '100d' }),
    expiredBefore: ring.make('Alice Before <alice@example.org>', 'ed25519', { at: past }),
    extended: ring.make('Alice Extended <alice@example.org>', 'ed25519', { at: past, expires: '100d' }),
    revoked: ring.make('Alice Revoked <alice@example.org>', 'ed25519'),
    bobs: ring.make(bob, 'ed25519'),
    nameless: ring.make('Carol <carol@example.org>', 'ed25519'),
    unknown: ring.make('Nobody <nobody@example.org>', 'ed25519'),
  };
  ring.run(['--quick-add-key', keys.withSubkey, 'ed25519', 'sign', 'never']);
  const [, subkey] = ring.fingerprints(keys.withSubkey);
  const ssh = {
    ed25519: makeSshKey(folder, 'ed25519', 'ed25519'),
    rsa: makeSshKey(folder, 'rsa', 'rsa', '-b', '2048'),
    p384: makeSshKey(folder, 'p384', 'ecdsa', '-b', '384'),
    signingIn: makeSshKey(folder, 'signing-in', 'ed25519'),
    bobs: makeSshKey(folder, 'bobs', 'ed25519'),
    unknown: makeSshKey(folder, 'unknown', 'ed25519'),
  };
  const signature = (key: string, at?: number, digest?: string) => (payload: string) =>
    ring.sign(key, payload, { ...(at === undefined ? {} : { at }), ...(digest === undefined ? {} : { digest }) });

  const cases: Case[] = [
    {
      about: 'Ed25519',
      sign: signature(keys.ed25519),
      git: 'G',
      page: /^good .*OpenPGP key .*belongs to alice.*Verified$/,
    },
    { about: 'RSA', sign: signature(keys.rsa), git: 'G', page: /^good .*Verified$/ },
    { about: 'ECDSA', sign: signature(keys.p256), git: 'G', page: /^good .*Verified$/ },
    { about: 'a subkey', sign: signature(subkey!), git: 'G', page: new RegExp(`^good .*${subkey}.*Verified$`) },
    {
      about: 'a no-reply address',
      committer: `Alice <${accounts.addresses.noReplyOf(await accounts.personById(her.id))}>`,
      sign: signature(keys.ed25519),
      git: 'G',
      page: /^good .*Verified$/,
    },
    {
      about: 'a key that expired later',
      sign: signature(keys.expiredSince, past + 50 * day),
      git: 'Y',
      page: /^good .*Verified$/,
    },
    {
      about: 'a key that had expired',
      sign: signature(keys.expiredBefore, past + 50 * day),
      git: 'Y',
      page: /^plain .*had already expired on .*Unverified$/,
    },
    { about: 'a key that was extended', sign: signature(keys.extended, past + 50 * day), git: 'G', page: /Verified$/ },
    { about: 'a revoked key', sign: signature(keys.revoked), git: 'R', page: /^plain .*is revoked.*Unverified$/ },
    {
      about: 'an altered commit, OpenPGP',
      sign: signature(keys.ed25519),
      isAltered: true,
      git: 'B',
      page: /^bad .*changed after.*Bad signature$/,
    },
    { about: 'a key of nobody, OpenPGP', sign: signature(keys.unknown), git: 'E', page: /^plain .*Unknown key$/ },
    {
      about: 'a key of somebody else, OpenPGP',
      sign: signature(keys.bobs),
      git: 'G',
      page: /^plain .*belongs to bob, but the committer’s address belongs to alice\..*Unverified$/,
    },
    {
      about: 'an address of nobody, OpenPGP',
      committer: 'Alice <alice@example.com>',
      sign: signature(keys.ed25519),
      git: 'G',
      page: /^plain .*not a verified address of alice.*Unverified$/,
    },
    {
      about: 'a key without an own user id',
      sign: signature(keys.nameless),
      git: 'G',
      page: /^plain .*none of its user IDs.*Unverified$/,
    },
    {
      about: 'SHA-1',
      sign: signature(keys.ed25519, undefined, 'SHA1'),
      git: 'G',
      page: /^plain .*insecure hash.*Unverified$/,
    },
    {
      about: 'SSH Ed25519',
      sign: (text) => signWithSsh(ssh.ed25519, text),
      git: 'G',
      page: /^good .*the SSH key .*belongs to alice.*Verified$/,
    },
    { about: 'SSH RSA', sign: (text) => signWithSsh(ssh.rsa, text), git: 'G', page: /^good .*Verified$/ },
    { about: 'SSH ECDSA', sign: (text) => signWithSsh(ssh.p384, text), git: 'G', page: /^good .*Verified$/ },
    {
      about: 'an SSH key for signing in',
      sign: (text) => signWithSsh(ssh.signingIn, text),
      git: 'G',
      page: /^plain .*uses only for signing in.*Unverified$/,
    },
    {
      about: 'an SSH key of somebody else',
      sign: (text) => signWithSsh(ssh.bobs, text),
      git: 'G',
      page: /^plain .*belongs to bob, but the committer’s address belongs to alice\..*Unverified$/,
    },
    {
      about: 'an altered commit, SSH',
      sign: (text) => signWithSsh(ssh.ed25519, text),
      isAltered: true,
      git: 'B',
      page: /^bad .*Bad signature$/,
    },
    { about: 'an SSH key of nobody', sign: (text) => signWithSsh(ssh.unknown, text), git: 'U', page: /Unknown key$/ },
    {
      about: 'an SSH signature for something else',
      sign: (text) => signWithSsh(ssh.ed25519, text, 'file'),
      git: 'B',
      page: /^plain .*cannot read.*Signed$/,
    },
    {
      about: 'the server',
      committer: `${signing.identity.name} <${signing.identity.address}>`,
      sign: (text) => signing.signCommit(Buffer.from(text)),
      git: 'G',
      page: /^good .*Created on this server.*Verified$/,
    },
  ];

  const tree = (await runGit(['rev-parse', 'main^{tree}'], { cwd: bare })).trim();
  let parent = (await runGit(['rev-parse', 'main'], { cwd: bare })).trim();
  const oids: string[] = [];
  for (const [index, { about, committer = alice, sign, isAltered }] of cases.entries()) {
    const text = commitText(tree, [parent], committer, now - cases.length + index, about);
    parent = storeSigned(bare, isAltered ? text.replace(about, `${about}!`) : text, await sign(text));
    oids.push(parent);
  }
  await runGit(['update-ref', 'refs/heads/main', parent], { cwd: bare });

  // What happened to the keys after they signed.
  ring.revoke(keys.revoked);
  ring.run(['--quick-set-expire', keys.extended, 'never']);
  ring.run(['--quick-set-expire', keys.expiredBefore, '20d'], { at: past + day });
  for (const [name, key] of Object.entries(keys)) {
    if (name === 'unknown') continue;
    verifier.run(['--import'], { input: ring.export(key) });
    await signing.addGpgKey(name === 'bobs' ? him.id : her.id, ring.export(key));
  }
  const signers = path.join(folder, 'allowed-signers');
  const lines = Object.entries(ssh).map(([name, key]) =>
    name === 'unknown' ? '' : `${name}@example.org namespaces="git" ${readFileSync(`${key}.pub`, 'utf8').trim()}\n`,
  );
  writeFileSync(signers, [...lines, (await sendRequest(web, '/-/signing-key')).body].join(''));
  for (const [name, key] of Object.entries(ssh)) {
    if (name === 'unknown') continue;
    await accounts.addKey(name === 'bobs' ? him.id : her.id, {
      line: readFileSync(`${key}.pub`, 'utf8'),
      uses: name === 'signingIn' ? 'authentication' : 'signing',
    });
  }

  const env = { GNUPGHOME: verifier.home };
  const said = execFileSync(
    'git',
    [
      '-c',
      `gpg.ssh.allowedSignersFile=${signers}`,
      '-c',
      'gpg.minTrustLevel=undefined',
      'log',
      '--format=%G?',
      `-${cases.length}`,
      'main',
    ],
    { cwd: bare, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'ignore'] },
  )
    .toString()
    .trim()
    .split('\n')
    .reverse();
  const badgesOf = (body: string): string[] =>
    [...body.matchAll(/<span class="badge seal is-(\w+)" title="([^"]*)">.*?<\/svg>([^<]*)</g)].map((match) =>
      match.slice(1).join(' | '),
    );
  const history = badgesOf((await sendRequest(web, '/repos/alice/kiln/commits/main')).body).reverse();
  t.equal(history.length, cases.length, 'each has a badge in the history');
  for (const [index, { about, git, page }] of cases.entries()) {
    // gpg knows nothing of the trust in a key without a setting for it.
    t.equal(said[index]!.replace('U', git === 'G' ? 'G' : 'U'), git, `git: ${about}`);
    t.match(history[index], page, `history: ${about}`);
    const commit = (await sendRequest(web, `/repos/alice/kiln/commit/${oids[index]}`)).body;
    t.same(badgesOf(commit), [history[index]], `commit: ${about}`);
    const isGood = history[index]!.startsWith('good');
    if (isGood) t.match(said[index], /^[GUY]$/, `what is verified is good for git: ${about}`);
    if (said[index] === 'B') t.notOk(isGood, `what is bad for git is not verified: ${about}`);
  }

  for (const [name, key] of [
    ['v1', keys.ed25519],
    ['v2', keys.bobs],
  ] as const) {
    await runGit(['-c', `user.signingkey=${key}`, 'tag', '-s', '-m', 'Release', name, 'main'], {
      cwd: bare,
      env: { GNUPGHOME: ring.home },
    });
  }
  const tags = badgesOf((await sendRequest(web, '/repos/alice/kiln/tags')).body);
  t.equal(tags.length, 2);
  t.match(tags[0], /the tagger’s address belongs to alice\..*Unverified$/, 'a tag whose tagger has another key');
  t.match(tags[1], /^good .*OpenPGP key .*belongs to alice.*Verified$/);

  const { status, body } = await sendRequest(web, `/api/v1/repos/alice/kiln/commits/${oids[0]}`);
  t.equal(status, 200);
  t.match(JSON.parse(body).verification, { verified: true, reason: 'valid', signer: 'alice' });
  const list = JSON.parse((await sendRequest(web, '/api/v1/repos/alice/kiln/commits?limit=50')).body) as {
    verification: { reason: string };
  }[];
  t.equal(list.at(-1)!.verification.reason, 'unsigned');
  t.same(
    new Set(list.map(({ verification }) => verification.reason)),
    new Set([
      ...['valid', 'valid_instance', 'unsigned', 'unknown_key', 'invalid', 'malformed_signature', 'bad_email'],
      ...['unverified_email', 'no_user', 'not_signing_key', 'expired_key', 'revoked_key', 'weak_signature'],
    ]),
  );

  const judged = async () => {
    const { body } = await sendRequest(web, `/api/v1/repos/alice/kiln/commits/${oids[0]}`);
    const { verified, reason } = JSON.parse(body).verification as { verified: boolean; reason: string };
    return { verified, reason };
  };
  await accounts.setDisabled(her.id, true);
  t.strictSame(await judged(), { verified: false, reason: 'unknown_key' }, 'a key of a suspended account');
  await accounts.setDisabled(her.id, false);
  t.strictSame(await judged(), { verified: true, reason: 'valid' }, 'who is back');
});

t.test('a commit that the server signs is verified by git itself', async (t) => {
  const web = await startWeb(t, { env: { SERVICE_BASE_URL: 'https://git.example.org' } });
  const { signing } = web.modules;
  const folder = temporaryFolder(t);
  await runGit(['init', '-q'], { cwd: folder });
  const tree = execFileSync('git', ['mktree'], { cwd: folder, input: '' }).toString().trim();
  const seconds = (): number => Math.floor(web.clock.now() / 1000);
  const commit = async (): Promise<string> => {
    const text = Buffer.from(commitText(tree, [], `Hearth <${signing.identity.address}>`, seconds(), 'Merge'));
    return execFileSync('git', ['hash-object', '-t', 'commit', '-w', '--stdin'], {
      cwd: folder,
      input: withSignature(text, await signing.signCommit(text)),
    })
      .toString()
      .trim();
  };
  /** Throws unless git is satisfied. */
  const verify = async (oid: string): Promise<void> => {
    const signers = path.join(folder, 'signers');
    writeFileSync(signers, await signing.allowedSigners());
    execFileSync('git', ['-c', `gpg.ssh.allowedSignersFile=${signers}`, 'verify-commit', oid], {
      cwd: folder,
      stdio: 'ignore',
    });
  };
  t.match(await signing.allowedSigners(), /^# This server has not made/);
  const first = await commit();
  await t.resolves(verify(first));
  const old = await signing.currentInstanceKey();
  const rotated = await signing.rotateInstanceKey();
  t.not(rotated.fingerprint, old.fingerprint);
  const second = await commit();
  await t.resolves(verify(second));
  await t.resolves(verify(first), 'what the old key signed stays verified');
  t.same(
    (await signing.instanceKeys()).map(({ fingerprint, retiredAt }) => [fingerprint, retiredAt !== null]),
    [
      [rotated.fingerprint, false],
      [old.fingerprint, true],
    ],
  );
  t.match(await signing.allowedSigners(), /valid-before="\d{8}"/);
  const object = {
    signature: parseCommit(first, execFileSync('git', ['cat-file', 'commit', first], { cwd: folder })).signature!,
    address: signing.identity.address,
  };
  const reasonAt = async (at: number) => (await signing.verify([{ ...object, at }], 'test'))[0]?.reason;
  t.equal(await reasonAt(web.clock.now()), 'valid_instance');
  t.equal(await reasonAt(web.clock.now() + 24 * 60 * 60 * 1000), 'expired_key', 'nothing that is dated later');
  const named = JSON.stringify(web.log.filter(({ event }) => event.startsWith('signing_key.')));
  t.match(named, /signing_key\.made.*signing_key\.rotated/s);
});
