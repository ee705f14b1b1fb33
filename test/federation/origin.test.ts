// A base URL other than the one that other servers know: how it is detected and accepted.
import path from 'node:path';
import t from 'tap';
import { formatStartupBanner } from '../../src/cli/serving/startup-banner.ts';
import { createDoctor } from '../../src/doctor/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { runCli } from '../cli/run-cli.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { sendRequest } from '../fixtures/web-fixture.ts';
import { freePort } from '../fixtures/free-port.ts';
import { startFakePeer } from './fake-peer.ts';
import { addDeliveries, addRepository, deliveryRows, openFederation } from './federation-fixture.ts';
import { startPeer } from './two-instances.ts';

const former = 'http://git.example.org';
const present = 'http://forge.example.org';

t.test('SPEC §8 a changed base URL is detected, and accepted only by an explicit command', async (t) => {
  const folder = temporaryFolder(t);
  const peer = await startFakePeer(t);
  const tool = peer.addActor('/ap/repos/bob/tool', { type: 'Repository', preferredUsername: 'bob/tool' });
  const first = await openFederation(t, { folder, origin: former });
  await first.federation.recover();
  t.equal(await first.federation.originChange(), null);
  const repository = await addRepository(first);
  const alice = await first.modules.accounts.personByUsername('alice');
  const { id } = await first.federation.follow(alice.id, tool.id);
  await first.federation.drain();
  await first.modules.db.write(async ({ manager }) => {
    await manager.query(`UPDATE remote_follows SET state = 'ACCEPTED', accepted_at = 1`);
    await manager.query(
      `INSERT INTO repository_followers (repository_id, actor_id, inbox, host, follow_id, created_at) VALUES (?, 'a', ?, ?, 'f', 1)`,
      [repository.id, `${peer.origin}/inbox`, peer.host],
    );
  });
  await addDeliveries(first, repository, [`${peer.origin}/inbox`]);

  const warned: unknown[] = [];
  const logger = {
    ...silentLogger,
    warn: (event: string, fields?: object) => void warned.push({ event, ...fields }),
    child: () => logger,
  };
  const second = await openFederation(t, { folder, origin: present, logger });
  const { federation } = second;
  await federation.recover();
  t.match(warned, [{ event: 'federation.origin_changed', from: former, to: present }]);
  t.strictSame(await federation.originChange(), { from: former, to: present });
  await federation.recover();
  t.strictSame(await federation.originChange(), { from: former, to: present }, 'another start changes nothing');
  const env = {
    SERVICE_DATA_DIR: path.join(folder, 'data'),
    SERVICE_FEDERATION_ENABLED: 'true',
    SERVICE_FEDERATION_BASE_URL: present,
    SERVICE_FEDERATION_DEV_ALLOW_INSECURE: 'true',
    SERVICE_FEDERATION_PEER_ALLOWLIST: '127.0.0.3',
  };
  const command = (...words: string[]) => runCli(words, { cwd: folder, env });
  t.match(
    (await command('federation', 'status')).stdout,
    new RegExp(`Changed\\s+other servers know this one as ${former}`),
  );
  t.match(JSON.parse((await command('federation', 'status', '--json')).stdout), { formerOrigin: former });
  const settingsFindings = async (baseUrl: string) => {
    const { config } = second.modules;
    const doctor = createDoctor({
      ...second.modules,
      config: {
        ...config,
        baseUrl: 'https://git.example.org',
        federation: { ...config.federation, enabled: true, devAllowInsecure: true, baseUrl },
      },
      settingsFile: null,
      userId: null,
      backupState: async () => ({ kind: 'none' }) as never,
      auditBreak: async () => null,
    });
    for await (const { findings } of doctor.examine('settings')) return findings;
    return [];
  };
  t.match(await settingsFindings(present), [
    { check: 'settings.federation_origin', remedy: new RegExp(`hearth federation origin accept ${present}`) },
  ]);
  t.same(await settingsFindings(former), []);

  await t.rejects(federation.acceptOrigin('https://other.example.org'), new RegExp(`is ${present}; set it first`));
  t.match(await command('federation', 'origin', 'accept', present), {
    code: 2,
    stderr: /ends 1 follows by users on other servers|confirmation/,
  });
  t.strictSame(await federation.originChange(), { from: former, to: present }, 'not without a word');
  t.match(await command('federation', 'origin', 'accept', present, '--yes'), {
    code: 0,
    stdout: /Removed 1 remote followers, and requested 1 follows again/,
  });
  t.equal(await federation.originChange(), null);
  t.same(await federation.listFollowers('alice', 'tool'), []);
  const { repositories } = await federation.followingOf(alice.id);
  t.match(repositories, [{ id, state: 'PENDING', followId: new RegExp(`^${present}/ap/users/alice/activities/`) }]);
  t.match(
    (await deliveryRows(second)).map(({ state, last_error }) => [state, last_error]),
    [
      ['DELIVERED', null],
      ['FAILED', 'it speaks of the former address of this server'],
      ['PENDING', null],
    ],
  );
  t.match(await federation.countDeliveries(), { failed: 0, pending: 1 });
  second.clock.set(Date.now());
  await federation.drain();
  t.match(peer.activities().at(-1), { type: 'Follow', actor: `${present}/ap/users/alice`, object: tool.id });
  t.match(await federation.acceptOrigin(present), { followers: 0, follows: 0 }, 'a second time changes nothing');
  t.equal(peer.activities().length, 2);
});

t.test('before another server can know this one the base URL may be corrected freely', async (t) => {
  const folder = temporaryFolder(t);
  await (await openFederation(t, { folder, origin: former })).federation.recover();
  const { federation } = await openFederation(t, { folder, origin: present });
  await federation.recover();
  t.equal(await federation.originChange(), null);
});

t.test('an instance older than the record of origins keeps the origin that it starts with', async (t) => {
  const stage = await openFederation(t, { origin: former });
  await addRepository(stage);
  t.equal(await stage.federation.originChange(), null);
  await stage.federation.recover();
  const again = await openFederation(t, { folder: stage.folder, origin: present });
  t.strictSame(await again.federation.originChange(), { from: former, to: present });
});

t.test('the start block and the page of the administrator warn of a changed base URL', async (t) => {
  const hearth = await startPeer(t, { host: '127.0.0.1', allow: [] });
  await sendRequest({ port: Number(new URL(hearth.origin).port) }, '/ap/instance');
  await hearth.stop();
  const port = await freePort('127.0.0.1');
  const moved = await startPeer(t, { host: '127.0.0.1', allow: [], port, folder: hearth.folder });
  const { accounts } = moved.modules;
  const admin = await accounts.addPerson({ username: 'root-of-all', isAdministrator: true });
  const { secret } = await accounts.startSession(admin.id, { address: '127.0.0.1', userAgent: 'test' });
  const page = await sendRequest({ port }, '/admin/federation', { headers: { Cookie: `hearth_session=${secret}` } });
  t.match(page.body, `hearth federation origin accept ${moved.origin}`);
  t.match(page.body, hearth.origin);
  t.ok(moved.log.some(({ level, event }) => level === 'warn' && event === 'federation.origin_changed'));

  const facts = {
    version: '1.0.0',
    addresses: { web: 'http://127.0.0.1:3000', webHere: null, ssh: null },
    sshFingerprint: null,
    grpc: '127.0.0.1:3001',
    dataDir: '/srv/hearth',
    setupUrl: null,
  };
  t.notMatch(formatStartupBanner(facts), /federation/);
  t.match(
    formatStartupBanner({ ...facts, originChange: { from: former, to: present } }),
    `hearth federation origin accept ${present}`,
  );
});
