import path from 'node:path';
import { createBackups } from '../backup/index.ts';
import { objectKinds } from '../doctor/index.ts';
import { createCopies } from '../copies/index.ts';
import { createFederation } from '../federation/index.ts';
import { createImageProxy } from '../image-proxy/index.ts';
import { createImports } from '../imports/index.ts';
import { createMirrors } from '../mirrors/index.ts';
import { createNotices } from '../notices/index.ts';
import { createNotifications } from '../notifications/index.ts';
import { createWebhooks } from '../webhooks/index.ts';
import type { People } from './open-people.ts';
import type { Code } from './open-repositories.ts';
import type { Storage } from './open-storage.ts';

/**
 * Modules that contact other servers or are contacted by them: notifications, webhooks, mirrors, federation, images,
 * backups.
 */
export function openConnections(storage: Storage, people: People, code: Code) {
  const { config, instanceKey } = storage;
  const { baseUrl, dataDir, locale } = config;
  const base = { ...storage, ...people, ...code };
  const mirrors = createMirrors(base);
  const webhooks = createWebhooks(base);
  const federation = createFederation(base);
  const notifications = createNotifications({
    ...base,
    key: instanceKey('notifications'),
    settings: { baseUrl, locale, keepDoneMs: config.notifications.keepDoneDays * 24 * 60 * 60_000 },
  });
  return {
    imageProxy: createImageProxy({ ...base, folder: path.join(dataDir, 'cache', 'images') }),
    webhooks,
    notices: createNotices({ ...base, baseUrl, locale }),
    notifications,
    mirrors,
    imports: createImports({ ...base, mirrors, webhooks, notifications }),
    backups: createBackups({ ...base, objectKinds }),
    federation,
    copies: createCopies({ ...base, federation, mirrors }),
  };
}

export type Connections = ReturnType<typeof openConnections>;
