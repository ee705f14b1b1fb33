import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { createAudit } from '../audit/index.ts';
import type { Config } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import { embedded } from '../embedded/index.ts';
import { createImageStore, createObjectImageStore } from '../images/index.ts';
import type { ObjectImageStoreOptions } from '../images/index.ts';
import { systemClock, systemRandom, unavailable } from '../kernel/index.ts';
import { createMail } from '../mail/index.ts';
import { createKeptValues, createLeases, createNodes, createSharedKeys } from '../nodes/index.ts';
import type { OpenKeptValues } from '../nodes/index.ts';
import { createFolderStore, openStore } from '../objects/index.ts';
import { createOutbox } from '../outbox/index.ts';
import { InstanceKey } from '../sealing/index.ts';
import { createIssueIndex, createSearch } from '../search/index.ts';
import { createWorkerPool } from '../workers/index.ts';
import { imageFolder, storeOptions } from './data-folders.ts';
import type { AppOptions } from './app-options.ts';

/**
 * The base of all other modules: audit log, worker pool, objects, search index, outbox and mail.
 * @param writesAudit actor of actions without a signed-in user: the server, or a command of the machine's operator
 */
export async function openStorage(
  config: Config,
  options: AppOptions,
  { db, writesAudit }: { db: Database; writesAudit: 'server' | 'local' },
) {
  const { clock = systemClock, random = systemRandom } = options;
  const onReplaced = options.onReplaced ?? ((sentence: string) => logger.error('node.replaced', { sentence }));
  const audit = createAudit({ db, clock, logger: options.logger, otherwise: writesAudit });
  const logger = audit.auditing(options.logger);
  const key = config.instanceKeyFile;
  refuseMissingKey(config);
  const store = storeOptions(config, { clock, random, logger });
  const opened = await openStore(store);
  const { store: objects } = opened;
  // Before the first write: the index is updated at the end of every write.
  const search = createSearch({ db, logger });
  const kept = { db, clock, random, instanceKey: new InstanceKey(key, random, 'nodes') };
  const openKeptValues: OpenKeptValues = (kind) => createKeptValues(kept, kind);
  const sharedKeys = createSharedKeys(kept);
  const keyPrints = () => kept.instanceKey.digests('print', 'instance').map((each) => each.slice(0, 16));
  const outbox = createOutbox({ db, clock, logger });
  return {
    config,
    clock,
    random,
    logger,
    db,
    audit,
    /** The file of the key that encrypts the secrets of all modules. */
    keyFile: key,
    version: embedded.version,
    /** Called with a message when another process takes over from this one. */
    onReplaced,
    nodes: createNodes({
      db,
      clock,
      random,
      logger,
      keyPrints: (mayMake) => (mayMake || existsSync(key) ? keyPrints() : []),
      sharedKeys,
      version: embedded.version,
      host: hostname(),
      sharesRepositories: config.git.storage === 'store',
      reload: options.reload ?? null,
      onReplaced,
    }),
    sharedKeys,
    keyPrints,
    leases: createLeases({ db, logger }),
    workers: createWorkerPool({ embedded, logger }),
    objects,
    objectStatistics: opened.statistics,
    objectFolder: objects.place === 'folder' ? null : createFolderStore(store),
    closeObjects: () => opened.close(),
    search,
    issueIndex: createIssueIndex({ db }),
    outbox,
    mail: createMail({ config, keyFile: key, db, outbox, clock, random, logger }),
    instanceKey: (purpose: string) => new InstanceKey(key, random, purpose),
    openKeptValues,
    imagesOf: (kind: ObjectImageStoreOptions['kind']) =>
      objects.place === 'folder'
        ? createImageStore({ directory: imageFolder(config, kind), clock, random, logger })
        : createObjectImageStore({ objects, kind, clock, logger }),
  };
}

export type Storage = Awaited<ReturnType<typeof openStorage>>;

/** A key at a place of the settings is brought there by people: what is missing is a mount, not a first start. */
function refuseMissingKey({ dataDir, instanceKeyFile }: Config): void {
  if (instanceKeyFile === path.join(dataDir, 'ci', 'secret.key') || existsSync(instanceKeyFile)) return;
  throw unavailable(
    'instance_key_missing',
    `The file ${instanceKeyFile} in instance_key_file does not exist. For a new instance, create it with: head -c 32 /dev/urandom`,
  );
}
