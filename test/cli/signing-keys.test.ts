// `hearth key …` for signing: SSH keys with a use, OpenPGP keys, and the key of the server.
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { openModules } from '../../src/app/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { KeyRing, makeSshKey } from '../signing/signed-commits.ts';
import { runCli } from './run-cli.ts';
import type { RunCliOptions } from './run-cli.ts';

t.setTimeout(120_000);

const folder = temporaryFolder(t);
const dataDir = path.join(folder, 'data');
mkdirSync(dataDir);
const { config } = loadConfig({
  argvOverrides: {},
  env: { SERVICE_DATA_DIR: dataDir },
  cwd: folder,
  readFile: () => '',
});
const modules = await openModules(config, { logger: silentLogger }, 'always');
t.teardown(() => modules.close());
await modules.accounts.addPerson({ username: 'alice' });

const hearth = (line: string, options: RunCliOptions = {}) =>
  runCli(line.split(' '), {
    cwd: folder,
    openModules: async () => ({ ...modules, close: async () => {} }),
    ...options,
    env: { SERVICE_DATA_DIR: dataDir },
  });

t.test('keys of people', async (t) => {
  const ring = new KeyRing(t);
  const fingerprint = ring.make('Alice <alice@example.org>', 'ed25519');
  const armored = ring.export(fingerprint);
  const added = await hearth('key add --user alice -', { input: armored });
  t.equal(added.stdout, `Added key ${fingerprint} for alice.\n`);
  t.match((await hearth('key add --user alice -', { input: armored })).stdout, /^Replaced the copy of key/);
  t.match((await hearth('key add --user alice -', { input: armored.slice(0, 200) })).stderr, /not a readable OpenPGP/);
  const ssh = `${makeSshKey(folder, 'desk', 'ed25519')}.pub`;
  t.equal((await hearth(`key add --user alice --use signing ${ssh}`)).code, 0);
  t.equal((await hearth(`key add --user alice --use everything ${ssh}`)).code, 2);
  const listed = JSON.parse((await hearth('key list --user alice --json')).stdout) as Record<string, string>[];
  t.match(listed, [
    { title: 'desk', type: 'ssh-ed25519', uses: 'signing' },
    { title: 'Alice <alice@example.org>', type: 'openpgp Ed25519', fingerprint, uses: 'signing' },
  ]);
  const [key] = await modules.accounts.listKeys(null);
  const blob = Buffer.from(readFileSync(ssh, 'utf8').split(' ')[1]!, 'base64');
  t.equal(await modules.accounts.viewerOfKey(blob, { address: null }), null, 'security F01 it signs nobody in');
  t.equal((await hearth(`key remove ${key!.id} --yes`)).code, 0);
  t.match((await hearth(`key remove ${fingerprint} --yes`)).stdout, /^Removed key Alice/);
  t.equal((await hearth('key list')).stdout, '');
});

t.test('the key of the server', async (t) => {
  const first = JSON.parse((await hearth('key signing --json')).stdout) as { fingerprint: string; publicKey: string };
  t.match(first.publicKey, /^ssh-ed25519 [A-Za-z0-9+/]+=*$/);
  t.match((await hearth('key signing')).stdout, first.fingerprint, 'the same again');
  t.equal((await hearth('key signing --allowed-signers')).stdout, await modules.signing.allowedSigners());
  t.equal((await hearth('key signing --rotate')).code, 2, 'only when it is confirmed');
  const rotated = await hearth('key signing --rotate --yes');
  t.equal(rotated.code, 0);
  t.notMatch(rotated.stdout, first.fingerprint);
  const shown = JSON.parse((await hearth('key signing --json')).stdout) as { replaced: { fingerprint: string }[] };
  t.same(
    shown.replaced.map(({ fingerprint }) => fingerprint),
    [first.fingerprint],
  );
  const rows = JSON.stringify(await modules.db.read.query('SELECT * FROM instance_signing_keys WHERE retired_at > 0'));
  t.match(rows, '"private_ciphertext":null', 'the private half of a replaced key is erased');
});

t.test('a key that cannot be decrypted is replaced, and what it signed stays verified', async (t) => {
  const old = await modules.signing.currentInstanceKey();
  await modules.db.write(({ manager }) =>
    manager.query("UPDATE instance_signing_keys SET private_ciphertext = 'AAAA' WHERE retired_at IS NULL"),
  );
  const [one, two] = await Promise.all([modules.signing.currentInstanceKey(), modules.signing.currentInstanceKey()]);
  t.not(one.fingerprint, old.fingerprint);
  t.equal(two.fingerprint, one.fingerprint, 'once');
  t.ok((await modules.signing.instanceKeys()).some(({ fingerprint }) => fingerprint === old.fingerprint));
});
