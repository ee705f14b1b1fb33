// openFederation(t, {…}) → the federation module on real modules, without servers and jobs: nothing is sent unless a
// test
// says so.
// addDeliveries(stage, inboxes, {…}) → queues an activity to each inbox; deliveryRows(stage) → the queue as it stands.
import { generateKeyPairSync } from 'node:crypto';
import path from 'node:path';
import { localAdministrator } from '../../src/access/index.ts';
import { openModules } from '../../src/app/index.ts';
import type { Modules } from '../../src/app/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { createFederation } from '../../src/federation/index.ts';
import type { Federation, FederationOptions } from '../../src/federation/index.ts';
import { silentLogger, systemRandom } from '../../src/kernel/index.ts';
import type { Clock, Logger } from '../../src/kernel/index.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import type { FixedClock } from '../fixtures/fixed-clock.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { databaseSettings } from '../fixtures/test-postgres.ts';

export interface FederationFixture {
  modules: Modules;
  federation: Federation;
  clock: FixedClock;
  origin: string;
  folder: string;
}

export interface FederationTestOptions {
  origin?: string;
  allow?: string[];
  dev?: boolean;
  folder?: string;
  env?: Record<string, string>;
  outbound?: FederationOptions['outbound'];
  settings?: FederationOptions['settings'];
  clock?: FixedClock;
  logger?: Logger;
}

export async function openFederation(t: Owner, options: FederationTestOptions = {}): Promise<FederationFixture> {
  const {
    origin = 'http://127.0.0.1:9',
    allow = ['127.0.0.3'],
    dev = true,
    folder = temporaryFolder(t),
    env = {},
    clock = fixedClock(Date.now()),
  } = options;
  const database = await databaseSettings(t, path.join(folder, 'data'));
  const load = (more: Record<string, string>) =>
    loadConfig({
      env: { SERVICE_DATA_DIR: path.join(folder, 'data'), SERVICE_SSH_ENABLED: 'false', ...database, ...more },
      cwd: folder,
      readFile: () => '',
    }).config;
  const logger = options.logger ?? silentLogger;
  const modules = await openModules(load({}), { logger, clock }, 'always');
  const config = load({
    SERVICE_FEDERATION_ENABLED: 'true',
    SERVICE_FEDERATION_BASE_URL: origin,
    SERVICE_FEDERATION_PEER_ALLOWLIST: allow.join(','),
    SERVICE_FEDERATION_DEV_ALLOW_INSECURE: String(dev),
    ...env,
  });
  const federation = createFederation({
    ...modules,
    config,
    clock: clock as Clock,
    random: systemRandom,
    logger,
    ...(options.outbound === undefined ? {} : { outbound: options.outbound }),
    ...(options.settings === undefined ? {} : { settings: options.settings }),
  });
  if (federation.onPush !== null) modules.repositories.pushes.onPush(federation.onPush);
  t.teardown(async () => {
    await federation.stop();
    await modules.close();
  });
  return { modules, federation, clock, origin, folder };
}

interface DeliveryRow {
  id: number;
  target_inbox: string;
  host: string;
  state: string;
  attempts: number;
  last_error: string | null;
  next_attempt_at: number;
  locked_until: number;
}

export const deliveryRows = ({ modules }: FederationFixture): Promise<DeliveryRow[]> =>
  modules.db.read.query('SELECT * FROM federation_delivery ORDER BY id');

const keys = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

/** Gives alice a public repository whose actor exists, with a key that all tests share; returns its id and path. */
export async function addRepository(
  { modules }: FederationFixture,
  name = 'tool',
): Promise<{ id: string; apPath: string }> {
  if (!(await modules.owners.isTaken('alice'))) await modules.accounts.addPerson({ username: 'alice' });
  const { id } = await modules.repositories.create(localAdministrator, { owner: 'alice', name, visibility: 'PUBLIC' });
  const apPath = `/ap/repos/alice/${name}`;
  await modules.db.write(({ manager, now }) =>
    manager.query(`INSERT INTO federation_keys VALUES (?, 'repository', ?, ?, ?, ?)`, [
      apPath,
      id,
      keys.publicKey,
      keys.privateKey,
      now,
    ]),
  );
  return { id, apPath };
}

let activities = 0;

/** One activity of the repository to each inbox, all due now. */
export async function addDeliveries(
  { modules }: FederationFixture,
  repository: { id: string; apPath: string },
  inboxes: readonly string[],
  bytes = 200,
): Promise<string> {
  const outboxId = `00000000-0000-4000-8000-${String((activities += 1)).padStart(12, '0')}`;
  await modules.db.write(async ({ manager, now }) => {
    await manager.query(
      `INSERT INTO federation_outbox (id, actor_path, repository_id, type, is_public, activity, created_at) VALUES (?, ?, ?, 'Push', 1, ?, ?)`,
      [
        outboxId,
        repository.apPath,
        repository.id,
        JSON.stringify({ id: outboxId, type: 'Push', padding: 'x'.repeat(bytes) }),
        now,
      ],
    );
    for (const inbox of inboxes) {
      await manager.query(
        `INSERT INTO federation_delivery (outbox_id, target_inbox, host, state, next_attempt_at, created_at) VALUES (?, ?, ?, 'PENDING', ?, ?)`,
        [outboxId, inbox, new URL(inbox).host, now, now],
      );
    }
  });
  return outboxId;
}
