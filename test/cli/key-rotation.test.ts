// `hearth key instance --rotate` and `hearth federation keys --rotate`: what was encrypted stays readable, whenever a
// rotation is cut short.
import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { openModules } from '../../src/app/index.ts';
import type { Modules } from '../../src/app/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { silentLogger, systemRandom } from '../../src/kernel/index.ts';
import { beginRotation, decrypt, encrypt, InstanceKey } from '../../src/sealing/index.ts';
import { takeInstanceLock } from '../../src/cli/serving/instance-lock.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { copyDatabaseTemplate } from '../fixtures/database-template.ts';
import { localAdministrator } from '../../src/access/index.ts';
import { runCli } from './run-cli.ts';

t.setTimeout(120_000);

const folder = temporaryFolder(t);
const dataDir = path.join(folder, 'data');
const env = {
  SERVICE_DATA_DIR: dataDir,
  SERVICE_FEDERATION_ENABLED: 'true',
  SERVICE_FEDERATION_BASE_URL: 'https://git.example.org',
};
const { config } = loadConfig({ argvOverrides: {}, env, cwd: folder, readFile: () => '' });
await copyDatabaseTemplate(dataDir);
const keyFile = path.join(dataDir, 'ci', 'secret.key');
const hearth = (line: string) => runCli(line.split(' '), { cwd: folder, env });
const withModules = async <Result>(work: (modules: Modules) => Promise<Result>): Promise<Result> => {
  const modules = await openModules(config, { logger: silentLogger }, 'always');
  try {
    return await work(modules);
  } finally {
    await modules.close();
  }
};

interface Stored {
  module: string;
  use: string;
  place: string;
  /** A query with one row and one column. */
  read: string;
}

/** Every kind of ciphertext in the database, with what its module encrypts it for. */
const stored: Stored[] = [];

t.before(() =>
  withModules(async (modules) => {
    const { accounts, ci, db, repositories, signing } = modules;
    const alice = await accounts.addPerson({ username: 'alice' });
    const { id } = await repositories.create(localAdministrator, {
      owner: 'alice',
      name: 'garden',
      visibility: 'PUBLIC',
    });
    const sealed = (module: string, use: string, place: string, text: string) =>
      encrypt(new InstanceKey(keyFile, systemRandom, module).for(use), systemRandom, place, text);
    await ci.secrets.set({ kind: 'instance' }, { name: 'TOKEN', value: 'a value' });
    await ci.identity.rotateKey();
    await accounts.secondFactor.beginTotp(alice.id);
    const { fingerprint } = await signing.currentInstanceKey();
    const url = 'https://git.example.org/bob/tool.git';
    await db.write(async ({ manager }) => {
      const insert = (table: string, row: Record<string, unknown>) => {
        const names = Object.keys(row);
        const marks = names.map(() => '?').join(', ');
        return manager.query(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks})`, Object.values(row));
      };
      await insert('shared_keys', {
        name: 'ssh host_ed25519',
        print: 'SHA256:print',
        sealed: sealed('nodes', 'shared keys', 'ssh host_ed25519', 'a value'),
      });
      await insert('mirrors', {
        repository_id: id,
        direction: 'pull',
        url,
        secret_ciphertext: sealed('mirrors', 'secrets', `mirror:${id}:https://git.example.org`, 'a value'),
        ssh_key_ciphertext: sealed('mirrors', 'secrets', `mirror-key:${id}`, 'a value'),
        interval_ms: 300_000,
        next_at: 1,
        created_at: 1,
        updated_at: 1,
      });
      const mail = { kind: 'test', id: 'm1', sealed: sealed('mail', 'messages', 'mail:test:m1', 'a value') };
      await insert('outbox', {
        kind: 'mail',
        key: 'm1',
        payload: JSON.stringify(mail),
        state: 'DELIVERED',
        attempts: 1,
        next_at: 1,
        lease_until: 0,
        created_at: 1,
      });
    });
    const hook = await modules.webhooks.add(
      localAdministrator,
      { kind: 'repository', id },
      { url: 'https://ci.example.org/hook', secret: 'a value', events: ['push'] },
    );
    const [identity] = await db.read.query('SELECT id FROM ci_identity_keys');
    stored.push(
      { module: 'ci', use: 'secrets', place: 'instance::TOKEN', read: 'SELECT ciphertext FROM ci_secrets' },
      { module: 'ci', use: 'identity keys', place: identity.id, read: 'SELECT private_key FROM ci_identity_keys' },
      { module: 'accounts', use: 'totp', place: alice.id, read: 'SELECT ciphertext FROM totp_secrets' },
      {
        module: 'signing',
        use: 'instance key',
        place: fingerprint,
        read: 'SELECT private_ciphertext FROM instance_signing_keys',
      },
      {
        module: 'nodes',
        use: 'shared keys',
        place: 'ssh host_ed25519',
        read: 'SELECT sealed FROM shared_keys',
      },
      {
        module: 'mirrors',
        use: 'secrets',
        place: `mirror:${id}:https://git.example.org`,
        read: 'SELECT secret_ciphertext FROM mirrors',
      },
      {
        module: 'mirrors',
        use: 'secrets',
        place: `mirror-key:${id}`,
        read: 'SELECT ssh_key_ciphertext FROM mirrors',
      },
      {
        module: 'mail',
        use: 'messages',
        place: 'mail:test:m1',
        read: "SELECT payload FROM outbox WHERE kind = 'mail'",
      },
      {
        module: 'webhooks',
        use: 'secrets',
        place: `webhook:${hook.id}`,
        read: 'SELECT secret_ciphertext FROM webhooks',
      },
    );
  }),
);

/** How many of the stored values the keys of a file open. */
const opened = (file: string): Promise<number> =>
  withModules(async ({ db }) => {
    let count = 0;
    for (const { module, use, place, read } of stored) {
      const [row] = await db.read.query(read);
      const [text] = Object.values(row) as [string];
      const sealed = text.startsWith('{') ? JSON.parse(text).sealed : text;
      const keys = new InstanceKey(file, systemRandom, module).decrypting(use);
      if (decrypt(keys, place, sealed) !== null) count += 1;
    }
    return count;
  });

t.test('the instance key', async (t) => {
  const before = path.join(folder, 'before.key');
  copyFileSync(keyFile, before);
  t.equal(await opened(before), stored.length, 'the list of this test is right');
  t.match(await hearth('key instance'), { code: 2 }, 'nothing without --rotate');
  t.match(await hearth('key instance --rotate --adopt --yes'), { code: 2 }, 'nor with both');
  t.match(await hearth('key instance --rotate'), { code: 2 }, 'nor without a confirmation');
  const lock = takeInstanceLock(dataDir);
  const beside = await hearth('key instance --rotate --yes');
  lock.release();
  t.match(beside, { code: 6, stderr: /is already running[^]*stop it first: it would encrypt with the former key/ });
  t.same(readFileSync(keyFile), readFileSync(before));

  const rotated = await hearth('key instance --rotate --yes --json');
  t.match(JSON.parse(rotated.stdout), { reencrypted: stored.length, resumed: false });
  t.equal(readFileSync(keyFile).length, 32);
  t.equal(await opened(keyFile), stored.length);
  t.equal(await opened(before), 0, 'the former key opens nothing');
  t.notOk(existsSync(`${keyFile}.new`));
});

t.test('a rotation that is killed leaves everything readable and goes on', async (t) => {
  const before = path.join(folder, 'second.key');
  copyFileSync(keyFile, before);
  // Killed after the rename of the file.
  t.same(beginRotation(keyFile, systemRandom), { resumed: false });
  t.equal(await opened(keyFile), stored.length);
  // Killed after one module.
  await withModules(async ({ ci }) => {
    t.equal(await ci.reencrypt(), 2);
    t.equal(await ci.reencrypt(), 0, 'once');
    await ci.secrets.set({ kind: 'instance' }, { name: 'TOKEN', value: 'a value' });
  });
  t.equal(await opened(keyFile), stored.length);
  t.equal(await opened(before), stored.length - 2, 'what is written now has the new key');

  const resumed = await hearth('key instance --rotate --yes --json');
  t.match(JSON.parse(resumed.stdout), { reencrypted: stored.length - 2, resumed: true });
  t.equal(await opened(keyFile), stored.length);
  t.equal(await opened(before), 0);
});

t.test('the instance key at a place of the settings', async (t) => {
  const elsewhere = path.join(folder, 'mounted.key');
  const given = { ...env, SERVICE_INSTANCE_KEY_FILE: elsewhere };
  const withKey = (line: string) => runCli(line.split(' '), { cwd: folder, env: given });
  t.match(await withKey('user list'), {
    code: 6,
    stderr: /the file .*mounted\.key in instance_key_file does not exist[^]*head -c 32/,
  });
  t.notOk(existsSync(elsewhere), 'it is never made');
  renameSync(keyFile, elsewhere);
  t.match(await withKey('user list'), { code: 0 });
  t.match(await withKey('key instance --rotate --yes'), { code: 0 });
  t.notOk(existsSync(keyFile));
  t.equal(await opened(elsewhere), stored.length);

  const backup = path.join(folder, 'backups');
  t.match(await withKey(`backup create --with-keys --to ${backup}`), { code: 0 });
  const [made] = readdirSync(backup).filter((name) => !name.startsWith('.'));
  t.same(readFileSync(path.join(backup, made!, 'ci', 'secret.key')), readFileSync(elsewhere), 'a backup has it');
  renameSync(elsewhere, keyFile);
});

t.test('an instance key that is lost: hearth key instance --adopt', async (t) => {
  const forgets = async () => JSON.parse((await hearth('key instance --adopt --yes --json')).stdout) as object;
  t.match(await hearth('key instance --adopt'), { code: 2 }, 'only when it is confirmed');
  t.same(await forgets(), { forgotten: 1 });
  t.same(await forgets(), { forgotten: 0 });
  await withModules(({ sharedKeys }) => sharedKeys.keep('ssh host_ed25519', { print: 'p', secret: 's' }));
  t.same(await forgets(), { forgotten: 1 });
  await withModules(async ({ sharedKeys }) => t.equal(await sharedKeys.find('ssh host_ed25519'), null));
});

t.test('keys of federation', async (t) => {
  await withModules(async ({ federation }) => {
    await federation.publications.actor('/ap/instance');
    await federation.publications.actor('/ap/users/alice');
  });
  const keys = async () =>
    JSON.parse((await hearth('federation keys --json')).stdout) as {
      actor: string;
      keyId: string;
      publicKeyPem: string;
    }[];
  const first = await keys();
  t.ok(first.length > 0);
  t.match(await hearth('federation keys --actor x'), { code: 2 });
  t.match(await hearth('federation keys --rotate'), { code: 2 }, 'only when it is confirmed');
  t.match(await hearth('federation keys --rotate --actor https://git.example.org/ap/users/bob --yes'), { code: 3 });
  const all = await hearth('federation keys --rotate --yes');
  t.match(all, { code: 0, stdout: new RegExp(`^${first.length} actors? ha(s|ve) a new key`) });
  const second = await keys();
  t.same(second.map(({ keyId }) => keyId).sort(), first.map(({ keyId }) => keyId).sort());
  for (const { actor, publicKeyPem } of second)
    t.not(publicKeyPem, first.find((each) => each.actor === actor)!.publicKeyPem);

  const one = second[0]!;
  // The server signs with the key of its document, in whichever process it was rotated.
  await withModules(async ({ federation }) => {
    const shown = async () =>
      ((await federation.publications.actor(new URL(one.actor).pathname)) as { publicKey: { publicKeyPem: string } })
        .publicKey.publicKeyPem;
    t.equal(await shown(), one.publicKeyPem);
    t.match(await hearth(`federation keys --rotate --actor ${one.actor} --yes`), { code: 0, stdout: /^1 actor has/ });
    t.not(await shown(), one.publicKeyPem);
  });
});
